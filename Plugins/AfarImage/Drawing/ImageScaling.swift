import CPixman
public import Foundation

extension Image {
    /// Returns the image scaled to a size, without preserving its proportions.
    ///
    /// - Parameters:
    ///   - size: The size in points. If it's invalid, the image is returned unchanged. A size is invalid if a side is less than half a
    ///     pixel or more than ``maximumDimension``, or if it has more than 50 million pixels.
    ///   - scale: The pixels per point. The default is nil, which uses the image's scale.
    public func imageScaled(to size: CGSize, scale: CGFloat? = nil) -> Image {
        drawn(in: PixelSize(size, scale: scale ?? self.scale), scale: scale) { try $0.scaled(to: $1) }
    }

    /// Returns the image scaled to fit within a size. The image keeps its proportions and is centered on a transparent
    /// background.
    ///
    /// - Parameters:
    ///   - size: The size in points. If it's invalid, the image is returned unchanged.
    ///   - scale: The pixels per point. The default is nil, which uses the image's scale.
    public func imageAspectScaled(toFit size: CGSize, scale: CGFloat? = nil) -> Image {
        drawn(in: PixelSize(size, scale: scale ?? self.scale), scale: scale) { pixels, size in
            let ratio = min(CGFloat(size.width) / CGFloat(width), CGFloat(size.height) / CGFloat(height))
            let fitting = PixelSize(
                width: min(size.width, max(1, Int((CGFloat(width) * ratio).rounded()))),
                height: min(size.height, max(1, Int((CGFloat(height) * ratio).rounded()))))
            return try pixels.scaled(to: fitting)
                .padded(x: (size.width - fitting.width) / 2, y: (size.height - fitting.height) / 2, to: size)
        }
    }

    /// Returns the image scaled to fill a size. The image keeps its proportions and is cropped around its center.
    ///
    /// - Parameters:
    ///   - size: The size in points. If it's invalid, the image is returned unchanged.
    ///   - scale: The pixels per point. The default is nil, which uses the image's scale.
    public func imageAspectScaled(toFill size: CGSize, scale: CGFloat? = nil) -> Image {
        drawn(in: PixelSize(size, scale: scale ?? self.scale), scale: scale) { pixels, size in
            let ratio = min(CGFloat(width) / CGFloat(size.width), CGFloat(height) / CGFloat(size.height))
            let (partWidth, partHeight) = (CGFloat(size.width) * ratio, CGFloat(size.height) * ratio)
            let part = CGRect(
                x: (CGFloat(width) - partWidth) / 2, y: (CGFloat(height) - partHeight) / 2, width: partWidth,
                height: partHeight)
            return try pixels.scaled(from: part, to: size)
        }
    }
}

extension PixelBuffer {
    /// The maximum ratio of a scaling step. pixman can't draw if a filter extends beyond coordinate 32,767.
    private static let maximumRatio = 512.0

    /// Returns the pixels scaled to a size.
    ///
    /// - Throws: ``ImageError`` if there isn't enough memory.
    func scaled(to size: PixelSize) throws -> PixelBuffer {
        try scaled(from: CGRect(x: 0, y: 0, width: CGFloat(width), height: CGFloat(height)), to: size)
    }

    /// Returns a part of the pixels scaled to a size.
    ///
    /// Rows and columns are resampled separately, so the time grows linearly with the filter's width, not with its square. The
    /// direction that produces fewer intermediate pixels comes first. Therefore, the intermediate image never has more pixels than
    /// the larger of the source and the result.
    ///
    /// - Parameters:
    ///   - part: The part, which must be within the image.
    ///   - size: The size in pixels.
    /// - Throws: ``ImageError`` if there isn't enough memory.
    func scaled(from part: CGRect, to size: PixelSize) throws -> PixelBuffer {
        let columns = Self.needed(Double(part.minX), Double(part.width), of: width, for: size.width)
        let rows = Self.needed(Double(part.minY), Double(part.height), of: height, for: size.height)
        var (source, between) = (part, part)
        if size.width * rows.count <= columns.count * size.height {
            (source.origin.y, source.size.height) = (CGFloat(rows.lowerBound), CGFloat(rows.count))
            let narrowed = try resampled(from: source, to: PixelSize(width: size.width, height: rows.count))
            (between.origin.x, between.size.width) = (0, CGFloat(size.width))
            between.origin.y -= source.origin.y
            return try narrowed.resampled(from: between, to: size)
        }
        (source.origin.x, source.size.width) = (CGFloat(columns.lowerBound), CGFloat(columns.count))
        let lowered = try resampled(from: source, to: PixelSize(width: columns.count, height: size.height))
        (between.origin.y, between.size.height) = (0, CGFloat(size.height))
        between.origin.x -= source.origin.x
        return try lowered.resampled(from: between, to: size)
    }

    /// Returns the rows or columns that the filter needs for a part: those of the part and some adjacent ones.
    private static func needed(_ start: Double, _ length: Double, of all: Int, for count: Int) -> Range<Int> {
        let reach = 3 * min(max(length / Double(count), 1), maximumRatio) + 1
        let lower = max(0, Int(start - reach))
        return lower..<max(lower + 1, min(all, Int(start + length + reach) + 1))
    }

    private func resampled(from part: CGRect, to size: PixelSize) throws -> PixelBuffer {
        let whole = CGRect(x: 0, y: 0, width: CGFloat(width), height: CGFloat(height))
        guard part != whole || size != PixelSize(width: width, height: height) else { return self }
        let (ratioX, ratioY) = (Double(part.width) / Double(size.width), Double(part.height) / Double(size.height))
        guard max(ratioX, ratioY) <= Self.maximumRatio else {
            let between = PixelSize(
                width: max(size.width, Int(part.width / Self.maximumRatio) + 1),
                height: max(size.height, Int(part.height / Self.maximumRatio) + 1))
            return try resampled(from: part, to: between).scaled(to: size)
        }
        return try PixelBuffer(width: size.width, height: size.height, isOpaque: isOpaque) { bytes in
            try withPixmanImage { source in
                try source.setScaling(ratioX, ratioY, from: part.origin)
                try PixmanImage.with(bytes, size) { $0.draw(source, PIXMAN_OP_SRC, at: (0, 0), size) }
            }
            if !isOpaque { bytes.limitColorsToAlpha() }
        }
    }

    /// Returns a part of the pixels.
    ///
    /// - Throws: ``ImageError`` if there isn't enough memory.
    func cropped(x: Int, y: Int, to size: PixelSize) throws -> PixelBuffer {
        guard size != PixelSize(width: width, height: height) else { return self }
        return try PixelBuffer(width: size.width, height: size.height, isOpaque: isOpaque) { bytes in
            try withPixmanImage { source in
                try PixmanImage.with(bytes, size) {
                    $0.draw(source, PIXMAN_OP_SRC, at: (-x, -y), PixelSize(width: width, height: height))
                }
            }
        }
    }

    /// Returns the pixels on a transparent background.
    ///
    /// - Throws: ``ImageError`` if there isn't enough memory.
    func padded(x: Int, y: Int, to size: PixelSize) throws -> PixelBuffer {
        guard size != PixelSize(width: width, height: height) else { return self }
        return try PixelBuffer(width: size.width, height: size.height, isOpaque: false) { bytes in
            try withPixmanImage { source in
                try PixmanImage.with(bytes, size) {
                    $0.draw(source, PIXMAN_OP_SRC, at: (x, y), PixelSize(width: width, height: height))
                }
            }
        }
    }
}

/// Pixels that pixman reads or draws on. Valid only within the closure that receives them.
struct PixmanImage {
    // pixman has fast code for ARGB numbers. On little-endian machines, these numbers differ from the bytes in memory (red,
    // green, blue, alpha) only in the order of red and blue, which doesn't affect drawing.
    private static let format = PIXMAN_a8r8g8b8

    let image: OpaquePointer

    /// Calls a closure with a pixman image of the bytes.
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

    /// Draws an image on this image. Parts outside this image are clipped.
    ///
    /// - Parameters:
    ///   - source: The image to draw.
    ///   - operation: Whether the source is drawn over the existing pixels or replaces them.
    ///   - place: The position of the source's top left corner, in pixels.
    ///   - size: The size of the drawn part, in pixels.
    func draw(_ source: PixmanImage, _ operation: pixman_op_t, at place: (x: Int, y: Int), _ size: PixelSize) {
        pixman_image_composite32(
            operation, source.image, nil, image, 0, 0, 0, 0, Int32(clamping: place.x), Int32(clamping: place.y),
            Int32(size.width), Int32(size.height))
    }

    /// Sets how a part of the image is scaled when it's drawn.
    ///
    /// Each resulting pixel is a weighted sum of source pixels. The weights are a Lanczos kernel with three lobes. When scaling
    /// down, the kernel is widened by the ratio and covers all source pixels. When scaling up, it covers the adjacent pixels.
    ///
    /// - Parameters:
    ///   - ratioX: The number of source columns per resulting column.
    ///   - ratioY: The number of source rows per resulting row.
    ///   - origin: The top left corner of the part, in pixels.
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

    /// The binary logarithm of the number of filter positions between two pixels. A wider filter needs fewer positions.
    private static func subsampleBits(_ ratio: Double) -> Int32 { ratio < 4 ? 8 : ratio < 16 ? 6 : ratio < 64 ? 4 : 2 }

    /// Returns a number in pixman's fixed-point format, with 16 integer and 16 fraction bits.
    private static func fixed(_ value: Double) -> pixman_fixed_t { pixman_fixed_t((value * 65_536).rounded()) }

    private static let noMemory = ImageError(.outOfMemory, "There is not enough memory to draw the image")
}

extension PixelBuffer {
    /// Calls a closure with a pixman image of the pixels.
    func withPixmanImage<Result>(_ body: (PixmanImage) throws -> Result) throws -> Result {
        try read { bytes in
            // pixman requires mutable memory even for a source.
            try PixmanImage.with(
                UnsafeMutableRawBufferPointer(mutating: bytes), PixelSize(width: width, height: height), body)
        }
    }
}
