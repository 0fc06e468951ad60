import Foundation

extension Image {
    // Beyond what an image may have that is decoded, nothing is drawn either.
    private static let limits = ImageLimits()

    /// The image with each of its frames drawn anew; the same one where there is not enough memory.
    ///
    /// - Parameters:
    ///   - size: That of the new image; nil for one that none can have, which leaves the image as it is.
    ///   - scale: The pixels of a point; nil for the image's own.
    ///   - draw: Draws a frame.
    func drawn(
        in size: PixelSize?, scale: CGFloat? = nil, _ draw: (PixelBuffer, PixelSize) throws -> PixelBuffer
    ) -> Image {
        guard let size, size.width * size.height <= Self.limits.maximumPixels,
            !isAnimated || size.width * size.height <= Self.limits.maximumTotalPixels / frames.count
        else { return self }
        let scale = scale ?? self.scale
        do {
            let drawn = try frames.map {
                Frame(image: Image(try draw($0.image.pixels, size), scale: scale), duration: $0.duration)
            }
            let pixels = try drawn.first?.image.pixels ?? draw(pixels, size)
            return Image(pixels, scale: scale, frames: drawn, loopCount: loopCount)
        } catch {
            return self
        }
    }

    var pixelSize: PixelSize { PixelSize(width: width, height: height) }
}
