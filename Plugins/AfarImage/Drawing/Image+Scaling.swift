public import Foundation

extension Image {
    /// The image in another size, whatever its shape becomes.
    ///
    /// - Parameters:
    ///   - size: In points. One that no image can have leaves the image as it is: of less than half a pixel, more than
    ///     ``maximumDimension``, or more than 50 million pixels.
    ///   - scale: The pixels of a point. The default is nil: the image's own.
    public func imageScaled(to size: CGSize, scale: CGFloat? = nil) -> Image {
        drawn(in: PixelSize(size, scale: scale ?? self.scale), scale: scale) { try $0.scaled(to: $1) }
    }

    /// The image as large as it fits into a size, in the middle; the rest is transparent.
    ///
    /// - Parameters:
    ///   - size: In points. One that no image can have leaves the image as it is.
    ///   - scale: The pixels of a point. The default is nil: the image's own.
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

    /// The middle of the image, as much as fills a size.
    ///
    /// - Parameters:
    ///   - size: In points. One that no image can have leaves the image as it is.
    ///   - scale: The pixels of a point. The default is nil: the image's own.
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
