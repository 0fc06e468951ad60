public import Foundation

extension Image {
    /// The image with rounded corners.
    ///
    /// - Parameters:
    ///   - radius: In points; at most half of the shorter side counts. One that is no number, or not greater than 0, leaves the
    ///     image as it is.
    ///   - divideRadiusByImageScale: Whether the radius is divided by ``scale`` before. The default is false.
    public func imageRounded(withCornerRadius radius: CGFloat, divideRadiusByImageScale: Bool = false) -> Image {
        let radius = divideRadiusByImageScale ? radius : radius * scale
        guard radius > 0 else { return self }
        return drawn(in: pixelSize) { pixels, _ in try pixels.rounded(radius: radius) }
    }

    /// The greatest circle around the middle of the image; what is outside of it is transparent.
    public func imageRoundedIntoCircle() -> Image {
        let side = min(width, height)
        return drawn(in: PixelSize(width: side, height: side)) { pixels, size in
            try pixels.cropped(x: (width - side) / 2, y: (height - side) / 2, to: size)
                .rounded(radius: CGFloat(side) / 2)
        }
    }
}

extension PixelBuffer {
    /// The picture with round corners, whose edges are smooth.
    fileprivate func rounded(radius: CGFloat) throws -> PixelBuffer {
        let corner = RoundCorner(radius: min(radius, CGFloat(min(width, height)) / 2))
        return try copy { bytes in
            for y in 0..<height where y < corner.extent || y >= height - corner.extent {
                for x in 0..<width where x < corner.extent || x >= width - corner.extent {
                    // A pixel in the middle may lie in two corners, or in all.
                    let lost =
                        corner.outside(x, y) + corner.outside(width - 1 - x, y) + corner.outside(x, height - 1 - y)
                        + corner.outside(width - 1 - x, height - 1 - y)
                    guard lost > 0 else { continue }
                    let share = UInt32((max(0, 1 - lost) * 255).rounded())
                    let place = (y * width + x) * 4
                    for channel in place..<place + 4 {
                        bytes[channel] = UInt8((UInt32(bytes[channel]) * share + 127) / 255)
                    }
                }
            }
        }
    }
}

/// The corner of a picture at its left and its top, rounded.
private struct RoundCorner {
    private static let columns = 16

    private let radius: CGFloat
    /// How many pixels the corner is wide and high.
    let extent: Int

    init(radius: CGFloat) {
        self.radius = radius
        extent = Int(radius.rounded(.up))
    }

    /// How much of a pixel lies outside of the circle, from 0 to 1. The pixel is cut into narrow columns, of each of which the
    /// part above the circle counts.
    func outside(_ x: Int, _ y: Int) -> CGFloat {
        guard x < extent, y < extent else { return 0 }
        let (left, top) = (CGFloat(x), CGFloat(y))
        // The corner of the pixel that is farthest from the middle, and the nearest.
        if hypot(radius - left, radius - top) <= radius { return 0 }
        if left + 1 <= radius, top + 1 <= radius, hypot(radius - left - 1, radius - top - 1) >= radius { return 1 }
        let parts = (0..<Self.columns).map { column in
            let distance = radius - left - (CGFloat(column) + 0.5) / CGFloat(Self.columns)
            guard distance > 0 else { return CGFloat(0) }
            let edge = radius - (radius * radius - distance * distance).squareRoot()
            return min(max(edge - top, 0), 1)
        }
        return parts.reduce(0, +) / CGFloat(Self.columns)
    }
}
