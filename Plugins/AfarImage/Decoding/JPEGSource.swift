import CTurboJPEG

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
