import CPixman
import Foundation

/// Pixels that pixman reads or draws on. It is valid in the closure that it is given to.
struct PixmanImage {
    // Pixels are red, green, blue, alpha in memory, and pixman is told that they are ARGB in a number: on machines that store
    // the last byte of a number first, alpha is where it belongs, and red and blue, which change places, are treated alike.
    // For that format pixman has fast code.
    private static let format = PIXMAN_a8r8g8b8

    let image: OpaquePointer

    /// Calls a closure with pixels as pixman sees them.
    static func with<Result>(
        _ bytes: UnsafeMutableRawBufferPointer, _ size: PixelSize, _ body: (PixmanImage) throws -> Result
    ) throws -> Result {
        let image = pixman_image_create_bits(
            format, Int32(size.width), Int32(size.height), bytes.assumingMemoryBound(to: UInt32.self).baseAddress,
            Int32(size.width * 4))
        guard let image else { throw Self.noMemory }
        defer { pixman_image_unref(image) }
        return try body(PixmanImage(image: image))
    }

    /// Draws an image on this one; what lies outside is left away.
    ///
    /// - Parameters:
    ///   - source: What is drawn.
    ///   - operation: Whether it comes over what is there, or in its place.
    ///   - place: Where its corner comes, in pixels.
    ///   - size: How much of it is drawn, in pixels.
    func draw(_ source: PixmanImage, _ operation: pixman_op_t, at place: (x: Int, y: Int), _ size: PixelSize) {
        pixman_image_composite32(
            operation, source.image, nil, image, 0, 0, 0, 0, Int32(clamping: place.x), Int32(clamping: place.y),
            Int32(size.width), Int32(size.height))
    }

    /// Has a part of the image drawn in another size from now on.
    ///
    /// Where it becomes smaller, each pixel is a sum of all that it covers, weighted by a Lanczos kernel of three lobes that is
    /// as much wider; where it becomes larger, of those around.
    ///
    /// - Parameters:
    ///   - ratioX: How many pixels across become one.
    ///   - ratioY: How many pixels down become one.
    ///   - origin: Where the part begins, in pixels.
    func setScaling(_ ratioX: Double, _ ratioY: Double, from origin: CGPoint) throws {
        let (x, y) = (Self.fixed(ratioX), Self.fixed(ratioY))
        var transform = pixman_transform()
        pixman_transform_init_scale(&transform, x, y)
        transform.matrix.0.2 = Self.fixed(origin.x)
        transform.matrix.1.2 = Self.fixed(origin.y)
        let (kernelsX, kernelsY) = (Self.kernels(ratioX), Self.kernels(ratioY))
        var count: Int32 = 0
        let values = pixman_filter_create_separable_convolution(
            &count, x, y, kernelsX.reconstruct, kernelsY.reconstruct, kernelsX.sample, kernelsY.sample,
            Self.subsampleBits(ratioX), Self.subsampleBits(ratioY))
        guard let values else { throw Self.noMemory }
        defer { free(values) }
        pixman_image_set_repeat(image, PIXMAN_REPEAT_PAD)
        guard pixman_image_set_transform(image, &transform) != 0,
            pixman_image_set_filter(image, PIXMAN_FILTER_SEPARABLE_CONVOLUTION, values, count) != 0
        else { throw Self.noMemory }
    }

    private static func kernels(_ ratio: Double) -> (reconstruct: pixman_kernel_t, sample: pixman_kernel_t) {
        if ratio == 1 { return (PIXMAN_KERNEL_IMPULSE, PIXMAN_KERNEL_BOX) }
        return ratio > 1
            ? (PIXMAN_KERNEL_IMPULSE, PIXMAN_KERNEL_LANCZOS3) : (PIXMAN_KERNEL_LANCZOS3, PIXMAN_KERNEL_IMPULSE)
    }

    /// How finely the places between two pixels are told apart: the logarithm of their number. A wide filter needs fewer.
    private static func subsampleBits(_ ratio: Double) -> Int32 { ratio < 4 ? 8 : ratio < 16 ? 6 : ratio < 64 ? 4 : 2 }

    /// pixman's numbers of 16 bits before and 16 after the point.
    private static func fixed(_ value: Double) -> pixman_fixed_t { pixman_fixed_t((value * 65_536).rounded()) }

    private static let noMemory = ImageError(.outOfMemory, "There is no memory to draw the image")
}

extension PixelBuffer {
    /// Calls a closure with the pixels as pixman reads them.
    func withPixmanImage<Result>(_ body: (PixmanImage) throws -> Result) throws -> Result {
        try read { bytes in
            // pixman knows no memory that is only read from.
            try PixmanImage.with(
                UnsafeMutableRawBufferPointer(mutating: bytes), PixelSize(width: width, height: height), body)
        }
    }
}
