import CTurboJPEG
public import Foundation

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
