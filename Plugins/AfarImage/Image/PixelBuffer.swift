import Foundation

/// The pixels of an image in memory.
final class PixelBuffer: @unchecked Sendable {
    // Sendable because the memory changes only in the initializer.

    let width: Int
    let height: Int
    let isOpaque: Bool
    private let memory: UnsafeMutableRawBufferPointer

    /// Creates pixels.
    ///
    /// - Parameters:
    ///   - width: The width, from 1 to ``Image/maximumDimension``.
    ///   - height: The height, from 1 to ``Image/maximumDimension``.
    ///   - isOpaque: Whether every pixel is known to be opaque after `fill`.
    ///   - fill: A closure that writes the pixels, which are initially transparent black.
    /// - Throws: An error of the closure, or an ``ImageError`` if there isn't enough memory.
    convenience init(
        width: Int, height: Int, isOpaque: Bool, fill: (UnsafeMutableRawBufferPointer) throws -> Void
    ) throws {
        try self.init(width: width, height: height) { bytes in
            try fill(bytes)
            return isOpaque
        }
    }

    /// Creates pixels.
    ///
    /// - Parameters:
    ///   - width: The width, from 1 to ``Image/maximumDimension``.
    ///   - height: The height, from 1 to ``Image/maximumDimension``.
    ///   - fill: A closure that writes the pixels and returns whether all are opaque.
    /// - Throws: An error of the closure, or an ``ImageError`` if there isn't enough memory.
    init(width: Int, height: Int, fill: (UnsafeMutableRawBufferPointer) throws -> Bool) throws {
        let dimensions = 1...Image.maximumDimension
        guard dimensions.contains(width), dimensions.contains(height) else {
            throw ImageError.tooLarge(nil, width, height)
        }
        let count = width * height * 4
        guard let base = calloc(count, 1) else {
            throw ImageError(.outOfMemory, "There is not enough memory for an image of \(width) × \(height) pixels")
        }
        let memory = UnsafeMutableRawBufferPointer(start: base, count: count)
        do {
            isOpaque = try fill(memory)
        } catch {
            free(base)
            throw error
        }
        self.width = width
        self.height = height
        self.memory = memory
    }

    deinit { free(memory.baseAddress) }

    var bytesPerRow: Int { width * 4 }
    var byteCount: Int { memory.count }

    func read<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) { try body(UnsafeRawBufferPointer(memory)) }
    }

    /// Calls a closure with a buffer of all pixels. Each pixel is an integer in the machine's byte order.
    func readPixels<Result>(_ body: (UnsafeBufferPointer<UInt32>) throws -> Result) rethrows -> Result {
        try read { try body($0.assumingMemoryBound(to: UInt32.self)) }
    }
}

extension PixelBuffer {
    /// Returns a modified copy.
    ///
    /// - Throws: An error of the closure, or an ``ImageError`` if there isn't enough memory.
    func copy(_ change: (UnsafeMutableRawBufferPointer) throws -> Void) throws -> PixelBuffer {
        try PixelBuffer(width: width, height: height, isOpaque: false) { bytes in
            read { bytes.copyMemory(from: $0) }
            try change(bytes)
        }
    }
}

extension PixelBuffer: Equatable {
    static func == (lhs: PixelBuffer, rhs: PixelBuffer) -> Bool {
        guard lhs !== rhs else { return true }
        guard lhs.width == rhs.width, lhs.height == rhs.height else { return false }
        return lhs.read { left in
            rhs.read { right in
                guard let left = left.baseAddress, let right = right.baseAddress else { return false }
                return memcmp(left, right, lhs.byteCount) == 0
            }
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Whether every RGBA pixel is opaque.
    var isOpaque: Bool { stride(from: 3, to: count, by: 4).allSatisfy { self[$0] == 255 } }

    /// Multiplies the colors of RGBA pixels by their alpha.
    ///
    /// - Returns: Whether every pixel is opaque.
    func premultiply() -> Bool {
        var isOpaque = true
        for place in stride(from: 0, to: count, by: 4) where self[place + 3] != 255 {
            isOpaque = false
            let alpha = UInt32(self[place + 3])
            for channel in place..<(place + 3) { self[channel] = UInt8((UInt32(self[channel]) * alpha + 127) / 255) }
        }
        return isOpaque
    }

    /// Limits the colors of premultiplied RGBA pixels to their alpha. Filters with negative weights can produce greater
    /// values.
    func limitColorsToAlpha() {
        for place in stride(from: 0, to: count, by: 4) where self[place + 3] != 255 {
            for channel in place..<(place + 3) { self[channel] = Swift.min(self[channel], self[place + 3]) }
        }
    }

    /// Divides the colors of premultiplied RGBA pixels by their alpha.
    func unpremultiply() {
        for place in stride(from: 0, to: count, by: 4) where self[place + 3] != 255 && self[place + 3] != 0 {
            let alpha = UInt32(self[place + 3])
            for channel in place..<(place + 3) {
                self[channel] = UInt8(Swift.min(255, (UInt32(self[channel]) * 255 + alpha / 2) / alpha))
            }
        }
    }

    /// Draws premultiplied RGBA pixels over a background color. The pixels become opaque.
    func flatten(over background: Image.Pixel) {
        let colors = [background.red, background.green, background.blue]
        for place in stride(from: 0, to: count, by: 4) where self[place + 3] != 255 {
            let rest = UInt32(255 - self[place + 3])
            for channel in 0..<3 {
                let behind = (UInt32(colors[channel]) * rest + 127) / 255
                self[place + channel] = UInt8(Swift.min(255, UInt32(self[place + channel]) + behind))
            }
            self[place + 3] = 255
        }
    }
}

/// A width and a height in whole pixels.
struct PixelSize: Hashable {
    var width: Int
    var height: Int

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Creates a size by rounding a size in points, or returns nil if it's invalid for an image.
    ///
    /// - Parameters:
    ///   - size: Any size in points.
    ///   - scale: The pixels per point.
    init?(_ size: CGSize, scale: CGFloat) {
        guard let width = Self.pixels(size.width * scale), let height = Self.pixels(size.height * scale) else {
            return nil
        }
        self.init(width: width, height: height)
    }

    private static func pixels(_ length: CGFloat) -> Int? {
        let length = length.rounded()
        // The condition is also false for NaN.
        guard length >= 1, length <= CGFloat(Image.maximumDimension) else { return nil }
        return Int(length)
    }

    /// Returns the smallest size with this size's proportions that is at least as wide and as tall as a target. The result
    /// never exceeds this size.
    ///
    /// - Parameters:
    ///   - target: The target in pixels; nil for this size.
    ///   - swapsSides: Whether the target applies to the image rotated by 90 degrees.
    func covering(_ target: CGSize?, swapsSides: Bool) -> PixelSize {
        guard let target else { return self }
        let (targetWidth, targetHeight) = swapsSides ? (target.height, target.width) : (target.width, target.height)
        let ratio = max(targetWidth / CGFloat(width), targetHeight / CGFloat(height))
        guard ratio > 0, ratio < 1 else { return self }
        return PixelSize(
            width: min(width, Int((CGFloat(width) * ratio).rounded(.up))),
            height: min(height, Int((CGFloat(height) * ratio).rounded(.up))))
    }
}
