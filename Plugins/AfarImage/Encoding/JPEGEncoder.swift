import CTurboJPEG
public import Foundation

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
