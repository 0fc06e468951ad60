import AfarImage
import Foundation
import Testing

@Suite struct PNGDecoderTests {
    @Test func colorsAreDecoded() throws {
        let opaque = try Image(data: Fixtures.pngRGB)
        expect(opaque, Gradient.rgb)
        #expect(opaque.isOpaque)
        let transparent = try Image(data: Fixtures.pngRGBA)
        expect(transparent, Gradient.rgba)
        #expect(!transparent.isOpaque)
        #expect(opaque.scale == 1 && opaque.size == CGSize(width: 16, height: 12) && opaque.frames.isEmpty)
    }

    @Test func grayIsDecoded() throws {
        expect(try Image(data: Fixtures.pngGray), Gradient.gray)
        expect(try Image(data: Fixtures.pngGrayAlpha)) {
            Gradient.premultiplied(Gradient.gray($0, $1), Gradient.alpha($0, $1))
        }
        expect(try Image(data: Fixtures.pngBits)) { ($0 + $1) % 2 == 0 ? [0, 0, 0, 255] : [255, 255, 255, 255] }
    }

    @Test func aPaletteWithTransparencyIsDecoded() throws {
        expect(try Image(data: Fixtures.pngPalette)) { x, _ in Gradient.premultiplied(Gradient.rgb(x, 0), 255 - x * 10)
        }
    }

    @Test func aColorKeyIsTransparent() throws {
        expect(try Image(data: Fixtures.pngColorKey)) { $0 == 5 && $1 == 3 ? [0, 0, 0, 0] : Gradient.rgb($0, $1) }
    }

    @Test func sixteenBitsAreRoundedToEight() throws {
        expect(try Image(data: Fixtures.pngRGB16), Gradient.rgb)
        expect(try Image(data: Fixtures.pngGray16), Gradient.gray)
    }

    @Test func interlacedRowsAreOrdered() throws {
        expect(try Image(data: Fixtures.pngInterlaced), Gradient.rgba)
    }

    @Test(arguments: Orientations.all)
    func exifRotatesThePicture(orientation: Int) throws {
        let image = try Image(data: Fixtures.pngRGBA.insertingPNGChunk("eXIf", Orientations.exif(orientation)))
        Orientations.expect(image, orientation, Gradient.rgba)
    }

    @Test func truncatedFilesAreErrors() {
        let whole = Fixtures.pngInterlaced
        // libspng ignores the CRC of the empty IEND chunk.
        for count in 8..<whole.count - 4 {
            let code = code { _ = try Image(data: whole.prefix(count)) }
            #expect(
                code == .truncated || code == .corrupt,
                "\(count) of \(whole.count) bytes: \(code.map { "\($0)" } ?? "none")")
        }
    }

    @Test func aDamagedChunkIsAnError() throws {
        var damaged = Fixtures.pngRGB
        let place = try #require(damaged.range(of: Data("IDAT".utf8))).upperBound + 6
        damaged[place] ^= 0x40
        #expect(code { _ = try Image(data: damaged) } == .corrupt)
    }

    @Test func aBombIsRejectedBeforeItIsInflated() throws {
        let bomb = try Fixtures.pngRGB.changingPNGHeader(width: 20_000, height: 20_000)
        #expect(code { _ = try Image(data: bomb) } == .limitExceeded)
        let error = #expect(throws: ImageError.self) { _ = try Image(data: bomb) }
        #expect(error?.message.contains("20000 × 20000") == true)
        let wide = try Fixtures.pngRGB.changingPNGHeader(width: 40_000, height: 1)
        #expect(code { _ = try Image(data: wide) } == .limitExceeded)
        let overflowing = try Fixtures.pngRGB.changingPNGHeader(width: 0x7FFF_FFFF, height: 0x7FFF_FFFF)
        #expect(code { _ = try Image(data: overflowing) } == .limitExceeded)
    }

    @Test func aWrongHeaderIsAnError() throws {
        let higher = try Fixtures.pngRGB.changingPNGHeader(width: 16, height: 13)
        #expect(code { _ = try Image(data: higher) } != nil)
        let empty = try Fixtures.pngRGB.changingPNGHeader(width: 0, height: 12)
        #expect(code { _ = try Image(data: empty) } == .corrupt)
    }

    @Test func ancillaryChunksAreLimited() throws {
        let text = Fixtures.pngRGB.insertingPNGChunk("tEXt", Data("Comment\0a".utf8))
        expect(try Image(data: text), Gradient.rgb)
        let many = (0..<1_100).reduce(Fixtures.pngRGB) { data, _ in
            data.insertingPNGChunk("tEXt", Data("Comment\0a".utf8))
        }
        #expect(code { _ = try Image(data: many) } == .limitExceeded)
    }
}
