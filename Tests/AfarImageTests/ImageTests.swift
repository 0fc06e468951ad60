import AfarImage
import Foundation
import Testing

@Suite struct ImageTests {
    @Test func anImageCanBeCreatedFromPixels() throws {
        let image = try Image.of(16, 12, scale: 2, Gradient.rgba)
        expect(image, Gradient.rgba)
        #expect(image.size == CGSize(width: 8, height: 6))
        #expect(image.byteCount == 768)
        #expect(image.withUnsafePixels { $0.count } == 768)
        #expect(image[16, 0] == nil && image[0, -1] == nil)
        #expect("\(image)" == "Image(16 × 12 @2.0x)")
    }

    @Test(arguments: [(0, 1), (1, 0), (-1, -1), (30_001, 1), (Int.max, Int.max), (2, 2)])
    func invalidPixelsAreAnError(width: Int, height: Int) {
        let code = code { _ = try Image(width: width, height: height, premultipliedRGBA: [0, 0, 0, 0]) }
        #expect(code == .invalidPixels)
    }

    @Test(arguments: [0, -1, CGFloat.nan, .infinity])
    func anInvalidScaleIsOne(scale: CGFloat) throws {
        #expect(try Image(data: Fixtures.pngRGB, options: ImageDecodingOptions(scale: scale)).scale == 1)
    }

    @Test func imagesWithEqualPixelsAreEqual() throws {
        let image = try Image.of(3, 2) { x, y in [x, y, 0, 255] }
        #expect(try Image.of(3, 2) { x, y in [x, y, 0, 255] } == image)
        #expect(try Image.of(3, 2) { x, y in [x, y, 1, 255] } != image)
        #expect(try Image.of(2, 3) { x, y in [x, y, 0, 255] } != image)
        #expect(try Image.of(3, 2, scale: 2) { x, y in [x, y, 0, 255] } != image)
    }

    @Test func framesOfAnAnimationHaveTheSameSize() throws {
        let small = Image.Frame(image: try .of(1, 1) { _, _ in [0, 0, 0, 0] }, duration: .seconds(1))
        let large = Image.Frame(image: try .of(2, 1) { _, _ in [0, 0, 0, 0] }, duration: .seconds(1))
        #expect(code { _ = try Image(frames: [small, large]) } == .invalidPixels)
        #expect(code { _ = try Image(frames: []) } == .invalidPixels)
        #expect(try Image(frames: [small, small], loopCount: -1).loopCount == 0)
    }

    @Test func unknownFormatsAreReported() {
        #expect(code { _ = try Image(data: Data()) } == .unknownFormat)
        #expect(code { _ = try Image(data: Data("GIF89a".utf8)) } == .unknownFormat)
        #expect(code { _ = try Image(data: Fixtures.pngRGB, decoders: [JPEGDecoder()]) } == .unknownFormat)
        #expect(code { _ = try Image(data: Data("RIFF\0\0\0\0WAVE".utf8)) } == .unknownFormat)
    }

    @Test func bytesAreLimited() {
        let limits = ImageLimits(maximumBytes: Fixtures.pngRGB.count - 1)
        #expect(
            code { _ = try Image(data: Fixtures.pngRGB, options: ImageDecodingOptions(limits: limits)) }
                == .limitExceeded)
    }

    @Test func dataCanBeASlice() throws {
        let padded = Data([1, 2, 3]) + Fixtures.pngRGB
        expect(try Image(data: padded[3...]), Gradient.rgb)
    }
}
