import AfarCore
import Foundation

/// Limits on images from untrusted sources. A file of a few kilobytes can expand to gigabytes of pixels.
///
/// If an image exceeds a limit, decoding throws an ``ImageError`` with the code ``ImageError/Code-swift.struct/limitExceeded``
/// before it allocates memory for pixels. No image can be wider or taller than ``Image/maximumDimension``.
public struct ImageLimits: Hashable, Sendable {
    /// The maximum size of the file in bytes. The default is 64 MiB.
    public var maximumBytes: Int
    /// The maximum number of pixels in the file, even if the image is decoded at a smaller size. The default is 50 million, which
    /// require 200 MB. Decoding a progressive JPEG requires up to 300 MB more.
    public var maximumPixels: Int
    /// The maximum number of frames in an animation. The default is 1,000.
    public var maximumFrames: Int
    /// The maximum number of pixels in all frames of an animation. The default is 100 million.
    public var maximumTotalPixels: Int

    /// Creates limits.
    public init(
        maximumBytes: Int = 64 << 20,
        maximumPixels: Int = 50_000_000,
        maximumFrames: Int = 1_000,
        maximumTotalPixels: Int = 100_000_000
    ) {
        self.maximumBytes = maximumBytes
        self.maximumPixels = maximumPixels
        self.maximumFrames = maximumFrames
        self.maximumTotalPixels = maximumTotalPixels
    }
}

extension ImageLimits {
    /// Checks the size in an image's header.
    ///
    /// - Throws: ``ImageError``.
    func check(width: Int, height: Int, of format: ImageFormat) throws {
        let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
        guard overflow || pixels > maximumPixels else { return }
        throw ImageError(
            .limitExceeded, format: format,
            "The \(format.name) image is \(width) × \(height) pixels, and the limit is \(maximumPixels) pixels; "
                + "if you trust its sender, increase ImageLimits.maximumPixels")
    }

    /// Checks the size and the number of frames in an animation's header.
    ///
    /// - Throws: ``ImageError``.
    func check(frames: Int, width: Int, height: Int, of format: ImageFormat) throws {
        guard frames <= maximumFrames else {
            throw ImageError(
                .limitExceeded, format: format,
                "The \(format.name) animation has \(frames) frames, and the limit is \(maximumFrames); "
                    + "if you trust its sender, increase ImageLimits.maximumFrames")
        }
        // The product can't overflow, because the pixels of one frame were checked before.
        let (pixels, overflow) = (width * height).multipliedReportingOverflow(by: frames)
        guard overflow || pixels > maximumTotalPixels else { return }
        throw ImageError(
            .limitExceeded, format: format,
            "The \(frames) frames of the \(format.name) animation have \(pixels) pixels in total, and the "
                + "limit is \(maximumTotalPixels); if you trust its sender, increase ImageLimits.maximumTotalPixels"
        )
    }
}

extension Data {
    /// Reads an image file, unless it exceeds the limit.
    ///
    /// - Throws: ``ImageError`` or an `AFError`.
    init(image file: URL, limits: ImageLimits) throws {
        let data: Data
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            let limit = Swift.max(0, limits.maximumBytes)
            // Reading one more byte than allowed detects an oversized file, even if the file grows at the same time.
            data = try handle.read(upToCount: limit == .max ? limit : limit + 1) ?? Data()
        } catch {
            throw AFError.responseSerializationFailed(reason: .inputFileReadFailed(at: file))
        }
        guard data.count <= limits.maximumBytes else { throw ImageError.tooManyBytes(limits) }
        self = data
    }
}
