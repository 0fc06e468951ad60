import AfarImage
import Foundation
import Testing

@Suite struct WebPDecoderTests {
    // Lossy WebP has half the resolution for color.
    private static let tolerance = 14

    @Test func colorsAreDecoded() throws {
        expect(try Image(data: Fixtures.webPLossless), Gradient.rgb)
        let lossy = try Image(data: Fixtures.webPLossy)
        expect(lossy, Gradient.rgb, tolerance: Self.tolerance)
        #expect(lossy.isOpaque)
    }

    @Test func alphaIsDecoded() throws {
        let image = try Image(data: Fixtures.webPAlpha)
        // libwebp rounds differently when it premultiplies.
        expect(image, Gradient.rgba, tolerance: 1)
        #expect(!image.isOpaque)
        expect(try Image(data: Fixtures.webPLossyAlpha), Gradient.rgba, tolerance: Self.tolerance)
    }

    @Test func anAnimationHasFramesAndTheirDurations() throws {
        let image = try Image(data: Fixtures.webPAnimated)
        #expect(image.frames.map(\.duration) == [.milliseconds(100), .milliseconds(200), .milliseconds(300)])
        #expect(image.loopCount == 2 && image.isAnimated)
        #expect(image.byteCount == 3 * 16 * 12 * 4)
        let colors = [[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255]]
        #expect(image.frames.map { $0.image.channels(3, 4) } == colors)
        #expect(image.channels(3, 4) == colors[0])
    }

    @Test func anAnimationCanBeDownscaled() throws {
        let options = ImageDecodingOptions(scale: 2, targetSize: CGSize(width: 8, height: 0))
        let image = try Image(data: Fixtures.webPAnimated, options: options)
        #expect(image.frames.allSatisfy { $0.image.width == 8 && $0.image.height == 6 })
        #expect(image.size == CGSize(width: 4, height: 3))
        #expect(image.frames[1].image.channels(3, 4) == [0, 255, 0, 255])
    }

    @Test(arguments: Orientations.all, ["", "Exif\0\0"])
    func exifRotatesThePicture(orientation: Int, prefix: String) throws {
        let exif = Data(prefix.utf8) + Orientations.exif(orientation)
        let image = try Image(data: Fixtures.webPLossless.appendingWebPChunk("EXIF", exif, flags: 0x08))
        Orientations.expect(image, orientation, Gradient.rgb)
    }

    @Test func aTargetIsCovered() throws {
        let options = ImageDecodingOptions(targetSize: CGSize(width: 8, height: 3))
        let image = try Image(data: Fixtures.webPLossy, options: options)
        #expect(image.width == 8 && image.height == 6)
        #expect(image.difference { [$0 * 32 + 8, $1 * 40 + 10, ($0 + $1) * 16 + 8, 255] } <= Self.tolerance)
        let larger = ImageDecodingOptions(targetSize: CGSize(width: 100, height: 100))
        #expect(try Image(data: Fixtures.webPLossy, options: larger).width == 16)
        for target in [CGSize.zero, CGSize(width: -8, height: 0)] {
            let any = ImageDecodingOptions(targetSize: target)
            #expect(try Image(data: Fixtures.webPLossy, options: any).width == 16)
        }
    }

    @Test func truncatedFilesAreErrors() {
        for whole in [Fixtures.webPLossy, Fixtures.webPLossless, Fixtures.webPAlpha, Fixtures.webPAnimated] {
            for count in 12..<whole.count {
                let code = code { _ = try Image(data: whole.prefix(count)) }
                #expect(code == .truncated || code == .corrupt, "\(count) of \(whole.count) bytes")
            }
        }
    }

    @Test func aContainerWithAWrongLengthIsCorrupt() {
        // Not the animation, which remains valid if cut after a frame.
        for whole in [Fixtures.webPLossy, Fixtures.webPLossless] {
            for count in stride(from: 20, to: whole.count, by: 3) {
                var shortened = whole.prefix(count)
                let length = UInt32(count - 8)
                shortened.replaceSubrange(4..<8, with: (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) })
                #expect(code { _ = try Image(data: shortened) } != nil, "\(count) of \(whole.count) bytes")
            }
        }
    }

    @Test func framesAreLimited() {
        func code(_ limits: ImageLimits) -> ImageError.Code? {
            AfarImageTests.code {
                _ = try Image(data: Fixtures.webPAnimated, options: ImageDecodingOptions(limits: limits))
            }
        }
        #expect(code(ImageLimits(maximumFrames: 2)) == .limitExceeded)
        #expect(code(ImageLimits(maximumTotalPixels: 16 * 12 * 3 - 1)) == .limitExceeded)
        #expect(code(ImageLimits(maximumFrames: 3, maximumTotalPixels: 16 * 12 * 3)) == nil)
        #expect(code(ImageLimits(maximumPixels: 16 * 12 - 1)) == .limitExceeded)
    }

    @Test func aBombIsRejectedFromItsHeader() {
        // An animation with a canvas of 16,384 × 16,384 pixels in its header.
        var bomb = Fixtures.webPAnimated
        bomb.replaceSubrange(24..<30, with: [0xFF, 0x3F, 0, 0xFF, 0x3F, 0])
        #expect(code { _ = try Image(data: bomb) } == .limitExceeded)
    }
}
