import AfarCore
import AfarImage
import Foundation
import Testing

@Suite struct ImageDrawingTests {
    private static func picture(scale: CGFloat = 1) throws -> Image {
        try .of(12, 9, scale: scale) { x, y in
            let value = References.picture[y][x]
            return [value, value / 2, 255 - value, 255]
        }
    }

    /// Compares an image with a reference for its first channel, from which the other channels are computed.
    private static func expect(
        _ image: Image, is reference: [[Int]], tolerance: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            image.height == reference.count && image.width == reference.first?.count, sourceLocation: sourceLocation)
        let difference = image.difference { x, y in
            guard y < reference.count, x < reference[y].count else { return [] }
            let value = reference[y][x]
            return [value, value / 2, 255 - value, 255]
        }
        #expect(difference <= tolerance, sourceLocation: sourceLocation)
    }

    private static func size(_ width: CGFloat, _ height: CGFloat) -> CGSize { CGSize(width: width, height: height) }

    // pixman rounds weights to 16 bits, and the result of its first pass to 8 bits.
    @Test func scalingIsALanczosFilter() throws {
        let picture = try Self.picture()
        Self.expect(picture.imageScaled(to: Self.size(6, 4)), is: References.halved, tolerance: 2)
        Self.expect(picture.imageScaled(to: Self.size(5, 9)), is: References.narrowed, tolerance: 2)
        Self.expect(picture.imageScaled(to: Self.size(18, 11)), is: References.enlarged, tolerance: 2)
        Self.expect(picture.imageScaled(to: Self.size(12, 9)), is: References.picture, tolerance: 1)
    }

    @Test func fillingCropsTheMiddle() throws {
        let filled = try Self.picture().imageAspectScaled(toFill: Self.size(6, 6))
        Self.expect(filled, is: References.filled, tolerance: 2)
    }

    @Test func fittingPadsWithTransparency() throws {
        let fitted = try Self.picture().imageAspectScaled(toFit: Self.size(6, 8))
        // The scaled image has 6 × 4.5 pixels, rounded up to 6 × 5.
        #expect(fitted.width == 6 && fitted.height == 8 && !fitted.isOpaque)
        let transparentRows = (0..<8).filter { y in (0..<6).allSatisfy { fitted[$0, y] == .clear } }
        #expect(transparentRows == [0, 6, 7])
        let scaled = try Self.picture().imageScaled(to: Self.size(6, 5))
        #expect((0..<30).allSatisfy { fitted[$0 % 6, $0 / 6 + 1] == scaled[$0 % 6, $0 / 6] })
    }

    @Test func sizesAreInPoints() throws {
        let picture = try Self.picture(scale: 3)
        let scaled = picture.imageScaled(to: Self.size(2, 2))
        #expect(scaled.width == 6 && scaled.height == 6 && scaled.scale == 3)
        let single = picture.imageScaled(to: Self.size(2, 2), scale: 1)
        #expect(single.width == 2 && single.scale == 1)
    }

    @Test func transparentPixelsDoNotAffectColors() throws {
        // The transparent pixels must not contribute any green.
        let picture = try Image.of(4, 1) { x, _ in x < 2 ? [255, 0, 0, 255] : [0, 0, 0, 0] }
        let scaled = picture.imageScaled(to: Self.size(1, 1))
        let pixel = try #require(scaled[0, 0])
        #expect(pixel.red == pixel.alpha && pixel.green == 0 && (126...129).contains(pixel.alpha))
    }

    @Test func aVeryWideImageBecomesNarrow() throws {
        let wide = try Image.of(30_000, 1) { x, _ in [x < 15_000 ? 200 : 100, 0, 0, 255] }
        let scaled = wide.imageScaled(to: Self.size(2, 1))
        #expect(abs(scaled.channels(0, 0)[0] - 200) <= 10 && abs(scaled.channels(1, 0)[0] - 100) <= 10)
        let point = wide.imageScaled(to: Self.size(1, 1))
        #expect(abs(point.channels(0, 0)[0] - 150) <= 2)
    }

    // Scaling the rows first would create 900 million intermediate pixels.
    @Test(.timeLimit(.minutes(1))) func aVeryHighImageBecomesAVeryWideOne() throws {
        let high = try Image.of(2, 30_000) { x, y in [x == 0 ? 200 : 100, y < 15_000 ? 200 : 100, 0, 255] }
        let wide = high.imageScaled(to: Self.size(30_000, 2))
        #expect(wide.width == 30_000 && wide.height == 2)
        // A Lanczos filter overshoots on both sides of an edge.
        #expect(zip(wide.channels(100, 0), [200, 200]).allSatisfy { abs($0 - $1) <= 20 })
        #expect(zip(wide.channels(29_900, 1), [100, 100]).allSatisfy { abs($0 - $1) <= 20 })
    }

    @Test func onlyTheVisiblePartIsResampled() throws {
        let picture = try Image.of(3, 3_000) { _, y in [y < 1_495 || y >= 1_505 ? 0 : 20 * (y - 1_495), 0, 0, 255] }
        let filled = picture.imageAspectScaled(toFill: Self.size(3, 4))
        #expect((0..<4).map { filled.channels(1, $0)[0] } == [60, 80, 100, 120])
        let enlarged = picture.imageAspectScaled(toFill: Self.size(192, 108))
        #expect(abs(enlarged.channels(96, 54)[0] - 90) <= 4)
    }

    @Test(arguments: [0, -1, 0.4, 30_001, 1e300, CGFloat.nan, .infinity, -.infinity])
    func anInvalidSizeChangesNothing(side: CGFloat) throws {
        let picture = try Self.picture()
        for size in [Self.size(side, 5), Self.size(5, side), Self.size(side, side)] {
            #expect(picture.imageScaled(to: size) == picture)
            #expect(picture.imageAspectScaled(toFit: size) == picture)
            #expect(picture.imageAspectScaled(toFill: size) == picture)
        }
        #expect(picture.imageScaled(to: Self.size(5, 5), scale: side).width <= 12)
        #expect(picture.imageScaled(to: Self.size(32_000, 32_000)) == picture)
    }

    // Coverage is measured along 16 lines per pixel and rounded twice.
    @Test func cornersAreRoundAndSmooth() throws {
        let white = try Image.of(12, 9) { _, _ in [255, 255, 255, 255] }
        let rounded = white.imageRounded(withCornerRadius: 3.5)
        #expect(rounded.difference { x, y in Array(repeating: References.rounded[y][x], count: 4) } <= 3)
        let scaled = try Image.of(12, 9, scale: 2) { _, _ in [255, 255, 255, 255] }
        #expect(scaled.imageRounded(withCornerRadius: 1.75).difference { rounded.channels($0, $1) } == 0)
        let divided = scaled.imageRounded(withCornerRadius: 3.5, divideRadiusByImageScale: true)
        #expect(divided.difference { rounded.channels($0, $1) } == 0)
    }

    @Test func aCircleIsCutOutOfTheMiddle() throws {
        let white = try Image.of(9, 9) { _, _ in [255, 255, 255, 255] }
        #expect(
            white.imageRoundedIntoCircle().difference { x, y in Array(repeating: References.circle[y][x], count: 4) }
                <= 3)
        let picture = try Self.picture()
        let circle = picture.imageRoundedIntoCircle()
        #expect(circle.width == 9 && circle.height == 9)
        // The square in the middle begins at the second column.
        #expect(circle[4, 4] == picture[5, 4] && circle[0, 4] != .clear && circle[0, 0] == .clear)
    }

    @Test(arguments: [0, -3, CGFloat.nan])
    func anInvalidRadiusChangesNothing(radius: CGFloat) throws {
        let picture = try Self.picture()
        #expect(picture.imageRounded(withCornerRadius: radius) == picture)
        #expect(picture.imageBlurred(radius: radius) == picture)
    }

    @Test func aLargeRadiusIsLimitedToHalfTheSide() throws {
        let white = try Image.of(9, 9) { _, _ in [255, 255, 255, 255] }
        for radius in [5, 1e300, CGFloat.infinity] {
            #expect(white.imageRounded(withCornerRadius: radius) == white.imageRoundedIntoCircle())
            #expect(white.imageBlurred(radius: radius) == white)
        }
    }

    @Test(.timeLimit(.minutes(1))) func aBlurRadiusIsLimitedToTheRow() throws {
        let high = try Image.of(1, 30_000) { _, y in [y < 15_000 ? 200 : 100, 0, 0, 255] }
        let blurred = high.imageBlurred(radius: .infinity)
        #expect((140...160).contains(blurred.channels(0, 15_000)[0]))
    }

    // Three box blurs differ from a Gaussian by a few percent.
    @Test func blurringApproximatesAGaussian() throws {
        Self.expect(try Self.picture().imageBlurred(radius: 2), is: References.blurred, tolerance: 4)
    }

    @Test func anImageIsDrawnOverAnother() throws {
        let picture = try Self.picture()
        let overlay = try Image.of(2, 1, scale: 1) { x, _ in x == 0 ? [0, 100, 0, 100] : [9, 9, 9, 255] }
        let composite = picture.imageComposited(with: overlay, at: CGPoint(x: 3, y: 2))
        #expect(composite[4, 2] == Image.Pixel(red: 9, green: 9, blue: 9))
        let under = picture.channels(3, 2)
        let expected = zip([0, 100, 0, 100], under).map { $0 + ($1 * 155 + 127) / 255 }
        #expect(zip(composite.channels(3, 2), expected).allSatisfy { abs($0 - $1) <= 1 })
        #expect(composite[5, 2] == picture[5, 2] && composite.isOpaque)
        let cut = picture.imageComposited(with: overlay, at: CGPoint(x: -1, y: 8))
        #expect(cut[0, 8] == Image.Pixel(red: 9, green: 9, blue: 9) && cut[1, 8] == picture[1, 8])
        for hostile in [CGFloat.nan, .infinity, 1e300, 32_000] {
            #expect(picture.imageComposited(with: overlay, at: CGPoint(x: hostile, y: 0)) == picture)
        }
    }

    @Test func everyFrameIsDrawn() throws {
        let animation = try Image(data: Fixtures.webPAnimated)
        let scaled = animation.imageScaled(to: Self.size(4, 3))
        #expect(scaled.frames.count == 3 && scaled.loopCount == 2)
        #expect(scaled.frames.map { $0.image.channels(1, 1).firstIndex(of: 255) } == [0, 1, 2])
        #expect(scaled.frames.map(\.duration) == animation.frames.map(\.duration))
        #expect(scaled == scaled.imageScaled(to: Self.size(4, 3)))
    }

    @Test func membersOfAfAreEquivalent() throws {
        let picture = try Self.picture()
        #expect(picture.af.imageScaled(to: Self.size(6, 4)) == picture.imageScaled(to: Self.size(6, 4)))
        #expect(
            picture.af.imageAspectScaled(toFit: Self.size(6, 6)) == picture.imageAspectScaled(toFit: Self.size(6, 6)))
        #expect(
            picture.af.imageAspectScaled(toFill: Self.size(6, 6)) == picture.imageAspectScaled(toFill: Self.size(6, 6)))
        #expect(picture.af.imageRounded(withCornerRadius: 2) == picture.imageRounded(withCornerRadius: 2))
        #expect(picture.af.imageRoundedIntoCircle() == picture.imageRoundedIntoCircle())
        #expect(picture.af.isOpaque && !picture.af.containsAlphaComponent)
    }
}
