public import AfarCore
import CPixman
public import Foundation

extension Image {
    // The limits for decoding also apply to drawing.
    private static let limits = ImageLimits()

    /// Returns the image with each of its frames redrawn, or the unchanged image if there isn't enough memory.
    ///
    /// - Parameters:
    ///   - size: The size of the new image. Nil means an invalid size, for which the image is returned unchanged.
    ///   - scale: The pixels per point; nil for the image's scale.
    ///   - draw: A closure that draws a frame.
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

// MARK: - Rounding

extension Image {
    /// Returns the image with rounded corners.
    ///
    /// - Parameters:
    ///   - radius: The radius in points, limited to half of the shorter side. If it's NaN or not greater than 0, the image is returned
    ///     unchanged.
    ///   - divideRadiusByImageScale: Whether to divide the radius by ``scale``. The default is false.
    public func imageRounded(withCornerRadius radius: CGFloat, divideRadiusByImageScale: Bool = false) -> Image {
        let radius = divideRadiusByImageScale ? radius : radius * scale
        guard radius > 0 else { return self }
        return drawn(in: pixelSize) { pixels, _ in try pixels.rounded(radius: radius) }
    }

    /// Returns the largest circle at the center of the image, on a transparent background.
    public func imageRoundedIntoCircle() -> Image {
        let side = min(width, height)
        return drawn(in: PixelSize(width: side, height: side)) { pixels, size in
            try pixels.cropped(x: (width - side) / 2, y: (height - side) / 2, to: size)
                .rounded(radius: CGFloat(side) / 2)
        }
    }
}

extension PixelBuffer {
    /// Returns the pixels with antialiased round corners.
    fileprivate func rounded(radius: CGFloat) throws -> PixelBuffer {
        let corner = RoundCorner(radius: min(radius, CGFloat(min(width, height)) / 2))
        return try copy { bytes in
            for y in 0..<height where y < corner.extent || y >= height - corner.extent {
                for x in 0..<width where x < corner.extent || x >= width - corner.extent {
                    // Corner areas can overlap: a pixel near the center can belong to two or all four of them.
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

/// The rounded top left corner of an image.
private struct RoundCorner {
    private static let columns = 16

    private let radius: CGFloat
    /// The width and height of the corner in pixels.
    let extent: Int

    init(radius: CGFloat) {
        self.radius = radius
        extent = Int(radius.rounded(.up))
    }

    /// Returns the fraction of a pixel that is outside the circle, from 0 to 1. The fraction is the average over narrow columns
    /// of the pixel.
    func outside(_ x: Int, _ y: Int) -> CGFloat {
        guard x < extent, y < extent else { return 0 }
        let (left, top) = (CGFloat(x), CGFloat(y))
        // Tests the pixel corner that is farthest from the center, then the nearest one.
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

// MARK: - Blurring

extension Image {
    /// Returns the image with a Gaussian blur, approximated by three running means. Outside the image, the pixels at the edges are
    /// repeated.
    ///
    /// - Parameter radius: The standard deviation in pixels. If it's NaN or not greater than 0, the image is returned unchanged.
    public func imageBlurred(radius: CGFloat) -> Image {
        guard radius > 0 else { return self }
        // A larger radius would average only the repeated edges.
        let across = RunningMeans(deviation: min(radius, CGFloat(width)))
        let down = RunningMeans(deviation: min(radius, CGFloat(height)))
        return drawn(in: pixelSize) { pixels, _ in try pixels.averagedAndTurned(across).averagedAndTurned(down) }
    }
}

extension PixelBuffer {
    /// Blurs the rows and then transposes the pixels. Two calls blur in both directions.
    fileprivate func averagedAndTurned(_ means: RunningMeans) throws -> PixelBuffer {
        try PixelBuffer(width: height, height: width, isOpaque: isOpaque) { bytes in
            let target = bytes.assumingMemoryBound(to: SIMD4<UInt8>.self)
            read { bytes in
                let source = bytes.assumingMemoryBound(to: SIMD4<UInt8>.self)
                var line: [SIMD4<Float>] = []
                for y in 0..<height {
                    means.apply(UnsafeBufferPointer(rebasing: source[y * width..<(y + 1) * width]), &line)
                    for x in 0..<width { target[x * height + y] = SIMD4(truncatingIfNeeded: SIMD4<UInt32>(line[x])) }
                }
            }
        }
    }
}

/// A sequence of three running means, which together have the variance of a Gaussian.
private struct RunningMeans {
    /// The radii of the three means. A radius is the number of pixels on each side of the center pixel.
    private let radii: [Int]

    init(deviation: CGFloat) {
        // A mean of n pixels has the variance (n² − 1) / 12.
        let variance = deviation * deviation
        let smaller = Int(((4 * variance + 1).squareRoot() - 1) / 2)
        let count = CGFloat(2 * smaller + 1)
        // The number of smaller means. The other means extend one pixel farther.
        let share = (12 * variance - 3 * (count * count + 4 * count + 3)) / (-4 * count - 4)
        radii = (0..<3).map { CGFloat($0) < share.rounded() ? smaller : smaller + 1 }
    }

    /// Blurs a row. The results include an offset of one half, so truncation rounds them.
    func apply(_ row: UnsafeBufferPointer<SIMD4<UInt8>>, _ line: inout [SIMD4<Float>]) {
        let reach = radii.reduce(0, +)
        line.removeAll(keepingCapacity: true)
        for x in -reach..<row.count + reach {
            line.append(SIMD4<Float>(SIMD4<UInt32>(truncatingIfNeeded: row[min(max(x, 0), row.count - 1)])))
        }
        var count = line.count
        for radius in radii where radius > 0 {
            count -= 2 * radius
            let share = 1 / Float(2 * radius + 1)
            var sum = line[..<(2 * radius)].reduce(.zero, +)
            for x in 0..<count {
                sum += line[x + 2 * radius]
                let mean = sum * share
                sum -= line[x]
                line[x] = mean
            }
        }
        for x in 0..<row.count {
            line[x] = (line[x] + 0.5).clamped(lowerBound: .zero, upperBound: .init(repeating: 255))
        }
    }
}

// MARK: - Compositing

extension Image {
    /// Returns the image with another image drawn over it (Porter and Duff's "over" operator).
    ///
    /// - Parameters:
    ///   - overlay: The image to draw, pixel for pixel, on all frames. If it's an animation, its first frame is used.
    ///   - origin: The position of the overlay's top left corner, in points of this image. Parts outside the image are clipped. The
    ///     default is the top left corner.
    public func imageComposited(with overlay: Image, at origin: CGPoint = .zero) -> Image {
        let place = (origin.x * scale, origin.y * scale)
        let reach = CGFloat(Self.maximumDimension)
        // The condition is also false for NaN.
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

// MARK: - The namespace af

extension Image: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == Image {
    /// The same as ``Image/imageScaled(to:scale:)``.
    public func imageScaled(to size: CGSize, scale: CGFloat? = nil) -> Image {
        type.imageScaled(to: size, scale: scale)
    }

    /// The same as ``Image/imageAspectScaled(toFit:scale:)``.
    public func imageAspectScaled(toFit size: CGSize, scale: CGFloat? = nil) -> Image {
        type.imageAspectScaled(toFit: size, scale: scale)
    }

    /// The same as ``Image/imageAspectScaled(toFill:scale:)``.
    public func imageAspectScaled(toFill size: CGSize, scale: CGFloat? = nil) -> Image {
        type.imageAspectScaled(toFill: size, scale: scale)
    }

    /// The same as ``Image/imageRounded(withCornerRadius:divideRadiusByImageScale:)``.
    public func imageRounded(withCornerRadius radius: CGFloat, divideRadiusByImageScale: Bool = false) -> Image {
        type.imageRounded(withCornerRadius: radius, divideRadiusByImageScale: divideRadiusByImageScale)
    }

    /// The same as ``Image/imageRoundedIntoCircle()``.
    public func imageRoundedIntoCircle() -> Image { type.imageRoundedIntoCircle() }

    /// A Boolean value that indicates whether every pixel is known to be opaque.
    public var isOpaque: Bool { type.isOpaque }

    /// A Boolean value that indicates whether pixels can be transparent.
    public var containsAlphaComponent: Bool { !type.isOpaque }
}
