import Foundation

/// The memory of pixels.
final class PixelBuffer: @unchecked Sendable {
    // Sendable because the memory changes only in the initializer.

    let width: Int
    let height: Int
    let isOpaque: Bool
    private let memory: UnsafeMutableRawBufferPointer

    /// Makes pixels.
    ///
    /// - Parameters:
    ///   - width: From 1 to ``Image/maximumDimension``.
    ///   - height: From 1 to ``Image/maximumDimension``.
    ///   - isOpaque: Whether it is known that every pixel will be opaque.
    ///   - fill: Writes them; transparent black is there before.
    /// - Throws: What the closure throws, and an ``ImageError`` when there is not so much memory.
    convenience init(
        width: Int, height: Int, isOpaque: Bool, fill: (UnsafeMutableRawBufferPointer) throws -> Void
    ) throws {
        try self.init(width: width, height: height) { bytes in
            try fill(bytes)
            return isOpaque
        }
    }

    /// Makes pixels.
    ///
    /// - Parameters:
    ///   - width: From 1 to ``Image/maximumDimension``.
    ///   - height: From 1 to ``Image/maximumDimension``.
    ///   - fill: Writes them and returns whether every one is opaque.
    /// - Throws: What the closure throws, and an ``ImageError`` when there is not so much memory.
    init(width: Int, height: Int, fill: (UnsafeMutableRawBufferPointer) throws -> Bool) throws {
        let dimensions = 1...Image.maximumDimension
        guard dimensions.contains(width), dimensions.contains(height) else {
            throw ImageError.tooLarge(nil, width, height)
        }
        let count = width * height * 4
        guard let base = calloc(count, 1) else {
            throw ImageError(.outOfMemory, "There is no memory for an image of \(width) × \(height) pixels")
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

    /// Each pixel as a number, of which only the place of alpha depends on the machine.
    func readPixels<Result>(_ body: (UnsafeBufferPointer<UInt32>) throws -> Result) rethrows -> Result {
        try read { try body($0.assumingMemoryBound(to: UInt32.self)) }
    }
}

extension PixelBuffer {
    /// A copy that was changed.
    ///
    /// - Throws: What the closure throws, and an ``ImageError`` when there is not so much memory.
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

// MARK: - Alpha

extension UnsafeMutableRawBufferPointer {
    /// Whether every RGBA pixel is opaque.
    var isOpaque: Bool { stride(from: 3, to: count, by: 4).allSatisfy { self[$0] == 255 } }

    /// Multiplies the colours of RGBA pixels with their alpha.
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

    /// Makes no colour of premultiplied RGBA pixels greater than alpha. A filter with negative weights may have made it so.
    func limitColorsToAlpha() {
        for place in stride(from: 0, to: count, by: 4) where self[place + 3] != 255 {
            for channel in place..<(place + 3) { self[channel] = Swift.min(self[channel], self[place + 3]) }
        }
    }

    /// Divides the colours of premultiplied RGBA pixels by their alpha.
    func unpremultiply() {
        for place in stride(from: 0, to: count, by: 4) where self[place + 3] != 255 && self[place + 3] != 0 {
            let alpha = UInt32(self[place + 3])
            for channel in place..<(place + 3) {
                self[channel] = UInt8(Swift.min(255, (UInt32(self[channel]) * 255 + alpha / 2) / alpha))
            }
        }
    }

    /// Lays premultiplied RGBA pixels over a colour, so that they are opaque.
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

// MARK: - Sizes

/// A width and a height in whole pixels.
struct PixelSize: Hashable {
    var width: Int
    var height: Int

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// Rounds a size in points; nil for one that no image can have.
    ///
    /// - Parameters:
    ///   - size: In points; anything.
    ///   - scale: The pixels of a point.
    init?(_ size: CGSize, scale: CGFloat) {
        guard let width = Self.pixels(size.width * scale), let height = Self.pixels(size.height * scale) else {
            return nil
        }
        self.init(width: width, height: height)
    }

    private static func pixels(_ length: CGFloat) -> Int? {
        let length = length.rounded()
        // False for what is no number, too.
        guard length >= 1, length <= CGFloat(Image.maximumDimension) else { return nil }
        return Int(length)
    }

    /// The smallest size of the same shape that is at least as wide and as high as a target, and not larger than this.
    ///
    /// - Parameters:
    ///   - target: In pixels; nil gives this size.
    ///   - isTurned: Whether the target is that of the picture turned by a quarter.
    func covering(_ target: CGSize?, isTurned: Bool) -> PixelSize {
        guard let target else { return self }
        let (targetWidth, targetHeight) = isTurned ? (target.height, target.width) : (target.width, target.height)
        let ratio = max(targetWidth / CGFloat(width), targetHeight / CGFloat(height))
        guard ratio > 0, ratio < 1 else { return self }
        return PixelSize(
            width: min(width, Int((CGFloat(width) * ratio).rounded(.up))),
            height: min(height, Int((CGFloat(height) * ratio).rounded(.up))))
    }
}
