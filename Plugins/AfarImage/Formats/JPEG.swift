import CTurboJPEG
public import Foundation

// MARK: - Decoding

/// Decodes JPEG (ITU-T T.81) with TurboJPEG: baseline and progressive, in gray, YCbCr, RGB, CMYK and YCCK.
public struct JPEGDecoder: ImageDecoder {
    /// Passes over an image that costs as much as its limits allow.
    private static let scansOfLargest = 32

    /// Makes the decoder.
    public init() {}

    /// JPEG.
    public var format: ImageFormat { .jpeg }

    /// Whether data begins with a JPEG file's first markers.
    public func canDecode(_ data: Data) -> Bool { data.starts(with: [0xFF, 0xD8, 0xFF]) }

    /// Decodes an image. It is upright: Exif's orientation is applied. With a target size it is decoded at a half, a quarter
    /// or an eighth of its size, which saves most of the time and memory.
    ///
    /// Data about which TurboJPEG warns gives no image: what is missing would be gray.
    ///
    /// - Throws: ``ImageError``.
    public func decode(_ data: Data, options: ImageDecodingOptions) throws -> Image {
        guard let decompressor = tjInitDecompress() else {
            throw ImageError(.outOfMemory, format: .jpeg, "There is no memory to decode a JPEG image")
        }
        defer { tjDestroy(decompressor) }
        return try data.withUnsafeBytes { bytes in
            let source = JPEGSource(decompressor, bytes.assumingMemoryBound(to: UInt8.self))
            let frame = try source.frame()
            let header = JPEGHeader(bytes)
            try check(frame, scans: header.scans, options.limits)
            let (width, height) = reduced(frame, for: options.target, isTurned: header.orientation.isTurned)
            let isCMYK = frame.isCMYK
            let pixels = try PixelBuffer(width: width, height: height, isOpaque: true) { pixels in
                let format = Int32((isCMYK ? TJPF_CMYK : TJPF_RGBA).rawValue)
                try source.decompress(
                    into: pixels, width: width, height: height, format: format, hasRestarts: header.hasRestarts)
                if isCMYK { pixels.convertCMYK(isInverted: header.isAdobe) }
            }
            return Image(try header.orientation.upright(pixels), scale: options.scale)
        }
    }

    private func check(_ frame: JPEGSource.Frame, scans: Int, _ limits: ImageLimits) throws {
        try limits.check(width: frame.width, height: frame.height, of: .jpeg)
        // A scan of a few bytes is a pass over the whole picture.
        let (most, overflow) = limits.maximumPixels.multipliedReportingOverflow(by: Self.scansOfLargest)
        guard !overflow, scans > 1, frame.width * frame.height > most / scans else { return }
        throw ImageError(
            .limitExceeded, format: .jpeg,
            "The JPEG image stores \(frame.width) × \(frame.height) pixels in \(scans) scans, which take too long; raise "
                + "ImageLimits.maximumPixels if its sender can be trusted")
    }

    /// The smallest size at which the image can be decoded and is not smaller than what is wanted.
    private func reduced(_ frame: JPEGSource.Frame, for target: CGSize?, isTurned: Bool) -> (width: Int, height: Int) {
        guard let target else { return (frame.width, frame.height) }
        let (width, height) = isTurned ? (target.height, target.width) : (target.width, target.height)
        for divisor in [8, 4, 2] {
            let size = ((frame.width + divisor - 1) / divisor, (frame.height + divisor - 1) / divisor)
            if CGFloat(size.0) >= width, CGFloat(size.1) >= height { return size }
        }
        return (frame.width, frame.height)
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Turns CMYK into opaque RGBA.
    ///
    /// - Parameter isInverted: Whether 255 is no ink.
    fileprivate func convertCMYK(isInverted: Bool) {
        let mask: UInt8 = isInverted ? 0 : 255
        for place in stride(from: 0, to: count, by: 4) {
            let key = UInt32(self[place + 3] ^ mask)
            for channel in place..<(place + 3) {
                self[channel] = UInt8((UInt32(self[channel] ^ mask) * key + 127) / 255)
            }
            self[place + 3] = 255
        }
    }
}

// MARK: - TurboJPEG

/// A JPEG file, and TurboJPEG to read it, whose errors come as errors of Swift.
struct JPEGSource {
    /// What the file's header says.
    struct Frame {
        let width: Int
        let height: Int
        let isCMYK: Bool
    }

    private let decompressor: tjhandle
    private let bytes: UnsafeBufferPointer<UInt8>

    init(_ decompressor: tjhandle, _ bytes: UnsafeBufferPointer<UInt8>) {
        self.decompressor = decompressor
        self.bytes = bytes
    }

    func frame() throws -> Frame {
        var (width, height, subsampling, colors) = (Int32(0), Int32(0), Int32(0), Int32(0))
        let status = tjDecompressHeader3(
            decompressor, bytes.baseAddress, UInt(bytes.count), &width, &height, &subsampling, &colors)
        guard status == 0 else { throw error }
        // A stream of nothing but tables is none that TurboJPEG complains about.
        guard width > 0, height > 0 else { throw ImageError.truncated(.jpeg, "there is no picture in it") }
        return Frame(
            width: Int(width), height: Int(height),
            isCMYK: colors == TJCS_CMYK.rawValue || colors == TJCS_YCCK.rawValue)
    }

    /// Decodes the picture.
    ///
    /// - Parameters:
    ///   - pixels: Where it comes.
    ///   - width: One that TurboJPEG can scale to.
    ///   - height: The one that belongs to it.
    ///   - format: TurboJPEG's number of the pixels' format.
    ///   - hasRestarts: Whether the file has restart markers.
    func decompress(
        into pixels: UnsafeMutableRawBufferPointer, width: Int, height: Int, format: Int32, hasRestarts: Bool
    ) throws {
        let decompress = { (flags: Int32) in
            tjDecompress2(
                decompressor, bytes.baseAddress, UInt(bytes.count),
                pixels.assumingMemoryBound(to: UInt8.self).baseAddress,
                Int32(width), Int32(width * 4), Int32(height), format, flags | TJFLAG_LIMITSCANS)
        }
        if decompress(TJFLAG_STOPONWARNING) == 0 { return }
        // Bytes too many before the end of the image, which some cameras write, harm nothing: all that was wanted has come.
        // Only where a restart was to come, the end may be in its place.
        guard !hasRestarts, reason.hasSuffix("extraneous bytes before marker 0xd9"),
            decompress(0) == 0 || tjGetErrorCode(decompressor) == TJERR_WARNING.rawValue
        else { throw error }
    }

    private var reason: String { String(cString: tjGetErrorStr2(decompressor)) }

    private var error: ImageError {
        let reason = reason
        if reason.contains("Premature end") || reason.contains("Input file read error") {
            return .truncated(.jpeg, reason)
        }
        let unsupported = ["subsampling", "nsupported", "not implemented", "Not implemented"]
        if unsupported.contains(where: reason.contains) {
            return ImageError(
                .unsupported, format: .jpeg,
                "The JPEG image cannot be decoded here: \(reason); convert it to baseline JPEG")
        }
        return .corrupt(.jpeg, reason)
    }
}

// MARK: - Header

/// Properties of a JPEG image that TurboJPEG doesn't provide (ITU-T T.81, annex B).
struct JPEGHeader {
    private(set) var orientation = Orientation.up
    /// Whether the image has an Adobe marker. If so, CMYK values are stored inverted.
    private(set) var isAdobe = false
    /// In how many passes the picture is stored.
    private(set) var scans = 0
    /// Whether the data of scans is divided by restart markers.
    private(set) var hasRestarts = false

    init(_ bytes: UnsafeRawBufferPointer) {
        let reader = ByteReader(bytes: bytes)
        var place = 2
        while let marker = Self.marker(in: bytes, from: place) {
            place = marker.end
            switch marker.code {
            case 0x01, 0xD0...0xD8: continue
            case 0xD9: return
            default: break
            }
            guard let length = reader.uint16(at: place).map(Int.init), length >= 2, length <= bytes.count - place else {
                return
            }
            read(marker.code, UnsafeRawBufferPointer(rebasing: bytes[(place + 2)..<(place + length)]))
            place += length
        }
    }

    private mutating func read(_ code: UInt8, _ segment: UnsafeRawBufferPointer) {
        switch code {
        case 0xDA: scans += 1
        case 0xDD: hasRestarts = true
        case 0xE1 where segment.starts(with: "Exif\0\0".utf8):
            orientation = Orientation(exif: UnsafeRawBufferPointer(rebasing: segment.dropFirst(6)))
        case 0xEE where segment.starts(with: "Adobe".utf8): isAdobe = true
        default: break
        }
    }

    /// The next marker. Bytes before it, such as the data of a scan, are skipped.
    private static func marker(in bytes: UnsafeRawBufferPointer, from start: Int) -> (code: UInt8, end: Int)? {
        guard let base = bytes.baseAddress else { return nil }
        var place = start
        while place < bytes.count - 1, let found = memchr(base + place, 0xFF, bytes.count - place) {
            place = UnsafeRawPointer(found) - base + 1
            guard place < bytes.count else { return nil }
            let code = bytes[place]
            // FF 00 is a byte FF of a scan's data, and FF FF fills.
            if code != 0x00, code != 0xFF { return (code, place + 1) }
        }
        return nil
    }
}

// MARK: - Encoding

/// Writes JPEG with TurboJPEG; of an animation the first frame.
public struct JPEGEncoder: ImageEncoder {
    /// From 0 to 100.
    public let quality: Int
    /// What is seen through transparent pixels.
    public let background: Image.Pixel
    /// Whether the image appears in passes while it is loaded. Such a file is mostly smaller.
    public let isProgressive: Bool

    /// Makes the encoder.
    ///
    /// - Parameters:
    ///   - quality: From 0 to 100. The default is 85. From 90 on, colours have as many pixels as brightness.
    ///   - background: What is seen through transparent pixels, as JPEG has none. The default is white.
    ///   - isProgressive: Whether the image appears in passes while it is loaded. The default is false.
    public init(quality: Int = 85, background: Image.Pixel = .white, isProgressive: Bool = false) {
        self.quality = min(max(quality, 0), 100)
        self.background = background
        self.isProgressive = isProgressive
    }

    /// JPEG.
    public var format: ImageFormat { .jpeg }

    /// Writes an image.
    ///
    /// - Throws: ``ImageError``.
    public func encode(_ image: Image) throws -> Data {
        guard let compressor = tjInitCompress() else {
            throw ImageError(.outOfMemory, format: .jpeg, "There is no memory to write a JPEG image")
        }
        defer { tjDestroy(compressor) }
        let pixels = image.pixels.isOpaque ? image.pixels : try image.pixels.copy { $0.flatten(over: background) }
        let subsampling = quality < 90 ? TJSAMP_420 : TJSAMP_444
        var (file, count): (UnsafeMutablePointer<UInt8>?, UInt) = (nil, 0)
        defer { tjFree(file) }
        let status = pixels.read { bytes in
            tjCompress2(
                compressor, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(pixels.width),
                Int32(pixels.bytesPerRow), Int32(pixels.height), Int32(TJPF_RGBA.rawValue), &file, &count,
                Int32(subsampling.rawValue), Int32(max(1, quality)), isProgressive ? TJFLAG_PROGRESSIVE : 0)
        }
        guard status == 0, let file else {
            let reason = String(cString: tjGetErrorStr2(compressor))
            throw ImageError(.encodingFailed, format: .jpeg, "The image cannot be written as JPEG: \(reason)")
        }
        return Data(bytes: file, count: Int(count))
    }
}
