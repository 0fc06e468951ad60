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
