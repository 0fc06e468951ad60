import AfarImage
import Foundation
import Testing

@Suite struct ImageEncoderTests {
    @Test func pngKeepsEveryPixel() throws {
        let opaque = try Image(data: Fixtures.pngRGB)
        let file = try opaque.data(using: .png)
        #expect(try Image(data: file) == opaque)
        // The color type of an image without alpha.
        #expect(file[25] == 2)
        let transparent = try Image(data: Fixtures.pngRGBA)
        let other = try transparent.pngData()
        #expect(other[25] == 6)
        expect(try Image(data: other), Gradient.rgba, tolerance: 1)
        #expect(try Image(data: PNGEncoder(compressionLevel: 0).encode(opaque)) == opaque)
    }

    @Test(arguments: [-5, 0, 50, 89, 90, 100, 1_000])
    func jpegHasAQuality(quality: Int) throws {
        let image = try Image(data: Fixtures.pngRGB)
        let file = try image.data(using: .jpeg(quality: quality))
        let decoded = try Image(data: file)
        #expect(decoded.width == 16 && decoded.height == 12)
        if quality >= 100 { expect(decoded, Gradient.rgb, tolerance: 4) }
        let progressive = try JPEGEncoder(quality: quality, isProgressive: true).encode(image)
        #expect(progressive.range(of: Data([0xFF, 0xC2])) != nil)
        #expect(try Image(data: progressive) == decoded)
    }

    @Test func jpegUsesABackgroundColor() throws {
        let clear = try Image.of(16, 16) { _, _ in [0, 0, 0, 0] }
        #expect(try Image(data: clear.jpegData(compressionQuality: 1)).channels(3, 3) == [255, 255, 255, 255])
        let red = JPEGEncoder(quality: 100, background: Image.Pixel(red: 255, green: 0, blue: 0))
        #expect(try zip(Image(data: red.encode(clear)).channels(3, 3), [255, 0, 0]).allSatisfy { abs($0 - $1) <= 2 })
        for quality in [CGFloat.nan, -1, 2] { #expect(try !clear.jpegData(compressionQuality: quality).isEmpty) }
    }

    @Test func webPIsLossyOrLossless() throws {
        let image = try Image(data: Fixtures.pngRGB)
        #expect(try Image(data: image.data(using: .webP(isLossless: true))) == image)
        expect(try Image(data: image.data(using: .webP(quality: 100))), Gradient.rgb, tolerance: 14)
        let transparent = try Image(data: Fixtures.pngRGBA)
        expect(try Image(data: transparent.data(using: .webP(isLossless: true))), Gradient.rgba, tolerance: 2)
    }

    @Test func webPKeepsAnimations() throws {
        let animation = try Image(data: Fixtures.webPAnimated)
        let again = try Image(data: animation.data(using: .webP(isLossless: true)))
        #expect(again.frames.map(\.duration) == animation.frames.map(\.duration))
        #expect(again.loopCount == 2)
        #expect(again == animation)
    }

    @Test(
        arguments: [
            .seconds(Int64.max), .seconds(Int64.max / 1_000) + .milliseconds(999), .seconds(Int64.min),
            .milliseconds(Int32.max),
        ] as [Duration])
    func anUnrepresentableWebPDurationDoesNotTrap(duration: Duration) throws {
        let frame = Image.Frame(image: try Image(data: Fixtures.webPAnimated).frames[0].image, duration: duration)
        for count in 1...3 {
            let code = code { _ = try Image(frames: Array(repeating: frame, count: count)).data(using: .webP()) }
            #expect(code == .encodingFailed || code == nil)
        }
    }

    @Test func unrepresentableImagesAreErrors() throws {
        let wide = try Image.of(16_384, 1) { _, _ in [0, 0, 0, 255] }
        #expect(code { _ = try wide.data(using: .webP()) } == .encodingFailed)
    }
}
