import CPixman
public import Foundation

extension Image {
    /// The image with another drawn over it, as alpha says (Porter and Duff's "over").
    ///
    /// - Parameters:
    ///   - overlay: What is drawn, a pixel for a pixel. Of an animation it is the first frame; this image's frames get it all.
    ///   - origin: Where its corner at the left and the top comes, in points of this image. What lies outside is left away. The
    ///     default is this image's own corner.
    public func imageComposited(with overlay: Image, at origin: CGPoint = .zero) -> Image {
        let place = (origin.x * scale, origin.y * scale)
        let reach = CGFloat(Self.maximumDimension)
        // False for what is no number, too.
        guard abs(place.0) <= reach, abs(place.1) <= reach else { return self }
        return drawn(in: pixelSize) { pixels, size in
            try PixelBuffer(width: size.width, height: size.height, isOpaque: pixels.isOpaque) { bytes in
                pixels.read { bytes.copyMemory(from: $0) }
                try PixmanImage.with(bytes, size) { target in
                    try overlay.pixels.withPixmanImage { source in
                        let corner = (x: Int(place.0.rounded()), y: Int(place.1.rounded()))
                        target.draw(source, PIXMAN_OP_OVER, at: corner, overlay.pixelSize)
                    }
                }
            }
        }
    }
}
