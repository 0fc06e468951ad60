import CTurboJPEG
public import Foundation

// MARK: - Decoding

/// A decoder for JPEG (ITU-T T.81) that uses TurboJPEG. It supports baseline and progressive JPEG in gray, YCbCr, RGB, CMYK and YCCK.
public struct JPEGDecoder: ImageDecoder {
    /// The maximum number of scans (passes over the image) for an image with the maximum number of pixels.
    private static let scansOfLargest = 32

    /// Creates a decoder.
    public init() {}

    /// The JPEG format.
    public var format: ImageFormat { .jpeg }

    /// Returns whether data begins with the first markers of a JPEG file.
    public func canDecode(_ data: Data) -> Bool { data.starts(with: [0xFF, 0xD8, 0xFF]) }

    /// Decodes an image and applies its Exif orientation. With a target size, the image is decoded at a half, a quarter or an eighth
    /// of its size if possible. This saves most of the decoding time and memory.
    ///
    /// Decoding fails if TurboJPEG reports a warning. Without this rule, missing parts of an image would be gray.
    ///
    /// - Throws: ``ImageError``.
    public func decode(_ data: Data, options: ImageDecodingOptions) throws -> Image {
        guard let decompressor = tjInitDecompress() else {
            throw ImageError(.outOfMemory, format: .jpeg, "There is not enough memory to decode a JPEG image")
        }
        defer { tjDestroy(decompressor) }
        return try data.withUnsafeBytes { bytes in
            let source = JPEGSource(decompressor, bytes.assumingMemoryBound(to: UInt8.self))
            let frame = try source.frame()
            let header = JPEGHeader(bytes)
            try check(frame, scans: header.scans, options.limits)
            let (width, height) = reduced(frame, for: options.target, swapsSides: header.orientation.swapsSides)
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
        // Even a scan of a few bytes requires a pass over the entire image.
        let (most, overflow) = limits.maximumPixels.multipliedReportingOverflow(by: Self.scansOfLargest)
        guard !overflow, scans > 1, frame.width * frame.height > most / scans else { return }
        throw ImageError(
            .limitExceeded, format: .jpeg,
            "The JPEG image stores \(frame.width) × \(frame.height) pixels in \(scans) scans, which take too long; if "
                + "you trust its sender, increase ImageLimits.maximumPixels")
    }

    /// Returns the smallest supported decoding size that isn't smaller than the target.
    private func reduced(_ frame: JPEGSource.Frame, for target: CGSize?, swapsSides: Bool) -> (width: Int, height: Int)
    {
        guard let target else { return (frame.width, frame.height) }
        let (width, height) = swapsSides ? (target.height, target.width) : (target.width, target.height)
        for divisor in [8, 4, 2] {
            let size = ((frame.width + divisor - 1) / divisor, (frame.height + divisor - 1) / divisor)
            if CGFloat(size.0) >= width, CGFloat(size.1) >= height { return size }
        }
        return (frame.width, frame.height)
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Converts CMYK to opaque RGBA.
    ///
    /// - Parameter isInverted: Whether 255 means no ink.
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

/// A JPEG file that TurboJPEG reads. Converts TurboJPEG's errors to Swift errors.
struct JPEGSource {
    /// The properties in the file's header.
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
        // TurboJPEG accepts files that contain only tables.
        guard width > 0, height > 0 else { throw ImageError.truncated(.jpeg, "it contains no picture") }
        return Frame(
            width: Int(width), height: Int(height),
            isCMYK: colors == TJCS_CMYK.rawValue || colors == TJCS_YCCK.rawValue)
    }

    /// Decodes the image.
    ///
    /// - Parameters:
    ///   - pixels: The memory for the pixels.
    ///   - width: A width to which TurboJPEG can scale.
    ///   - height: The corresponding height.
    ///   - format: TurboJPEG's number of the pixel format.
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
        // Extraneous bytes before the end, which some cameras write, are harmless. In a file with restart markers, the bytes
        // can mean that a marker is missing.
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
                "The JPEG image is not supported: \(reason); convert it to baseline JPEG")
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
    /// The number of scans, which are the passes in which the image is stored.
    private(set) var scans = 0
    /// Whether restart markers divide the data of scans.
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

    /// Returns the next marker. Skips bytes before it, such as the data of a scan.
    private static func marker(in bytes: UnsafeRawBufferPointer, from start: Int) -> (code: UInt8, end: Int)? {
        guard let base = bytes.baseAddress else { return nil }
        var place = start
        while place < bytes.count - 1, let found = memchr(base + place, 0xFF, bytes.count - place) {
            place = UnsafeRawPointer(found) - base + 1
            guard place < bytes.count else { return nil }
            let code = bytes[place]
            // FF 00 represents the byte FF in a scan's data, and FF FF is padding.
            if code != 0x00, code != 0xFF { return (code, place + 1) }
        }
        return nil
    }
}

// MARK: - Encoding

/// An encoder for JPEG that uses TurboJPEG. For an animation, it writes only the first frame.
public struct JPEGEncoder: ImageEncoder {
    /// The quality, from 0 to 100.
    public let quality: Int
    /// The background color behind transparent pixels.
    public let background: Image.Pixel
    /// A Boolean value that indicates whether the image appears in passes while it's loaded. Progressive files are usually smaller.
    public let isProgressive: Bool

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - quality: The quality, from 0 to 100. The default is 85. At 90 and above, colors are stored at full resolution.
    ///   - background: The background color behind transparent pixels, which JPEG doesn't support. The default is white.
    ///   - isProgressive: Whether the image appears in passes while it's loaded. The default is false.
    public init(quality: Int = 85, background: Image.Pixel = .white, isProgressive: Bool = false) {
        self.quality = min(max(quality, 0), 100)
        self.background = background
        self.isProgressive = isProgressive
    }

    /// The JPEG format.
    public var format: ImageFormat { .jpeg }

    /// Encodes an image.
    ///
    /// - Throws: ``ImageError``.
    public func encode(_ image: Image) throws -> Data {
        guard let compressor = tjInitCompress() else {
            throw ImageError(.outOfMemory, format: .jpeg, "There is not enough memory to write a JPEG image")
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
