import CPixman
import Foundation

extension PixelBuffer {
    /// How many pixels become one at most in a step. pixman cannot draw where a filter reaches farther than to 32,767.
    private static let maximumRatio = 512.0

    /// The same picture in another size.
    ///
    /// - Throws: ``ImageError`` when the memory does not suffice.
    func scaled(to size: PixelSize) throws -> PixelBuffer {
        try scaled(from: CGRect(x: 0, y: 0, width: CGFloat(width), height: CGFloat(height)), to: size)
    }

    /// A part of the picture in another size.
    ///
    /// Rows and columns are resampled one after the other, which takes time that grows with the filter's width and not with
    /// its square. What comes first is what leaves fewer pixels in between: not more than the larger picture has.
    ///
    /// - Parameters:
    ///   - part: Lies in the picture.
    ///   - size: In pixels.
    /// - Throws: ``ImageError`` when the memory does not suffice.
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

    /// The rows or columns that a part is made of, with those around it that the filter reaches.
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

    /// A part of the picture.
    ///
    /// - Throws: ``ImageError`` when the memory does not suffice.
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

    /// A transparent picture with this one in it.
    ///
    /// - Throws: ``ImageError`` when the memory does not suffice.
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
