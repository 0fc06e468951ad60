import AfarImage
import Foundation
import Testing

@Suite struct JPEGDecoderTests {
    // The maximum error from quality 100 and the conversion to YCbCr and back.
    private static let tolerance = 4

    @Test func colorsAreDecoded() throws {
        let image = try Image(data: Fixtures.jpegBaseline)
        expect(image, Gradient.rgb, tolerance: Self.tolerance)
        #expect(image.isOpaque)
        expect(try Image(data: Fixtures.jpegProgressive), Gradient.rgb, tolerance: Self.tolerance)
        expect(try Image(data: Fixtures.jpegGray), Gradient.gray, tolerance: Self.tolerance)
    }

    @Test func cmykIsConverted() throws {
        expect(try Image(data: Fixtures.jpegCMYK), Gradient.rgb, tolerance: Self.tolerance)
        expect(try Image(data: Fixtures.jpegYCCK), Gradient.rgb, tolerance: Self.tolerance)
    }

    @Test(arguments: Orientations.all, [true, false])
    func exifRotatesThePicture(orientation: Int, isLittleEndian: Bool) throws {
        let exif = Data("Exif\0\0".utf8) + Orientations.exif(orientation, isLittleEndian: isLittleEndian)
        let image = try Image(data: Fixtures.jpegBaseline.insertingJPEGSegment(0xE1, exif))
        Orientations.expect(image, orientation, Gradient.rgb, tolerance: Self.tolerance)
    }

    @Test(arguments: [0, 9, 65_535])
    func anInvalidOrientationIsIgnored(orientation: Int) throws {
        let exif = Data("Exif\0\0".utf8) + Orientations.exif(orientation)
        let image = try Image(data: Fixtures.jpegBaseline.insertingJPEGSegment(0xE1, exif))
        expect(image, Gradient.rgb, tolerance: Self.tolerance)
    }

    @Test func truncatedExifIsIgnored() throws {
        let exif = Data("Exif\0\0".utf8) + Orientations.exif(6)
        for count in 0..<exif.count - 8 {
            let image = try Image(data: Fixtures.jpegBaseline.insertingJPEGSegment(0xE1, exif.prefix(count)))
            #expect(image.width == Gradient.width)
        }
    }

    @Test(arguments: [
        (CGSize(width: 64, height: 48), 64, 48), (CGSize(width: 33, height: 24), 64, 48),
        (CGSize(width: 32, height: 24), 32, 24), (CGSize(width: 17, height: 0), 32, 24),
        (CGSize(width: 16, height: 13), 32, 24), (CGSize(width: 0, height: 12), 16, 12),
        (CGSize(width: 8, height: 6), 8, 6), (CGSize(width: 1, height: 1), 8, 6), (CGSize.zero, 64, 48),
        (CGSize(width: -8, height: 0), 64, 48), (CGSize(width: -8, height: 6), 8, 6),
        (CGSize(width: 100, height: 1), 64, 48), (CGSize(width: CGFloat.nan, height: 1), 64, 48),
    ])
    func aTargetSizeReducesTheImageButNotBelowIt(target: CGSize, width: Int, height: Int) throws {
        let image = try Image(data: Fixtures.jpegLarge, options: ImageDecodingOptions(targetSize: target))
        #expect(image.width == width && image.height == height)
        // Half a pixel of the smallest image changes a channel by 16.
        let middle = zip(image.channels(width / 2, height / 2), [128, 120, 90, 255]).map { abs($0 - $1) }
        #expect(middle.max() ?? .max <= 24)
    }

    @Test func aTargetSizeAppliesToTheRotatedPicture() throws {
        let turned = Fixtures.jpegLarge.insertingJPEGSegment(0xE1, Data("Exif\0\0".utf8) + Orientations.exif(6))
        let options = ImageDecodingOptions(targetSize: CGSize(width: 24, height: 32))
        let image = try Image(data: turned, options: options)
        #expect(image.width == 24 && image.height == 32)
    }

    @Test func truncatedFilesAreErrors() {
        for whole in [Fixtures.jpegBaseline, Fixtures.jpegProgressive] {
            for count in 3..<whole.count {
                let code = code { _ = try Image(data: whole.prefix(count)) }
                #expect(
                    code == .truncated || code == .corrupt,
                    "\(count) of \(whole.count) bytes: \(code.map { "\($0)" } ?? "none")")
            }
        }
    }

    @Test func aBombIsRejectedFromItsHeader() throws {
        var bomb = Fixtures.jpegBaseline
        let place = try #require(bomb.range(of: Data([0xFF, 0xC0]))).upperBound + 3
        bomb.replaceSubrange(place..<place + 4, with: [0xFF, 0xDC, 0xFF, 0xDC])
        #expect(code { _ = try Image(data: bomb) } == .limitExceeded)
    }

    @Test func tooManyScansAreRejected() throws {
        // A refinement scan takes only a few bytes.
        let whole = Fixtures.jpegProgressive
        let scan = try #require(whole.range(of: Data([0xFF, 0xDA]), options: .backwards)).lowerBound
        let end = whole.count - 2
        let repeated = whole[..<end] + (0..<100).flatMap { _ in whole[scan..<end] } + whole[end...]
        let limits = ImageLimits(maximumPixels: 400)
        #expect(code { _ = try Image(data: repeated, options: ImageDecodingOptions(limits: limits)) } == .limitExceeded)
    }

    @Test func surplusBytesBeforeTheEndAreIgnored() throws {
        for whole in [Fixtures.jpegBaseline, Fixtures.jpegProgressive] {
            let padded = whole.dropLast(2) + [0x12, 0x34] + whole.suffix(2)
            expect(try Image(data: padded), Gradient.rgb, tolerance: Self.tolerance)
        }
    }

    @Test func theEndInsteadOfARestartIsAnError() throws {
        // A restart marker is required after the first of four blocks, but other bytes and the end follow.
        var cut = Fixtures.jpegBaseline
        let scan = try #require(cut.range(of: Data([0xFF, 0xDA]))).lowerBound
        cut.insert(contentsOf: [0xFF, 0xDD, 0x00, 0x04, 0x00, 0x01], at: scan)
        #expect(code { _ = try Image(data: cut) } == .corrupt)
    }

    @Test func anUnknownSubsamplingIsUnsupported() throws {
        var odd = Fixtures.jpegBaseline
        odd[try #require(odd.range(of: Data([0xFF, 0xC0]))).lowerBound + 11] = 0x33
        let error = #expect(throws: ImageError.self) { _ = try Image(data: odd) }
        #expect(error?.code == .unsupported, "\(error?.message ?? "")")
    }

    @Test func unsupportedProcessesAreNamed() throws {
        var lossless = Fixtures.jpegBaseline
        let place = try #require(lossless.range(of: Data([0xFF, 0xC0]))).lowerBound + 1
        lossless[place] = 0xC3
        let error = #expect(throws: ImageError.self) { _ = try Image(data: lossless) }
        #expect(error?.code == .unsupported && error?.format == .jpeg)
    }
}
