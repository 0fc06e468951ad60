import AfarCore
import Foundation

/// What an image from a stranger may cost. A file of a few kilobytes can stand for gigabytes of pixels.
///
/// An image beyond a limit fails with an ``ImageError`` with the code ``ImageError/Code-swift.struct/limitExceeded``, before
/// memory for its pixels is taken. No image is wider or higher than ``Image/maximumDimension``.
public struct ImageLimits: Hashable, Sendable {
    /// The bytes of the file. The default is 64 MiB.
    public var maximumBytes: Int
    /// The pixels of the image as it stands in the file, also where it is decoded smaller. The default is 50 million, which
    /// take 200 MB, and in a progressive JPEG up to 300 MB more while it is decoded.
    public var maximumPixels: Int
    /// The frames of an animation. The default is 1,000.
    public var maximumFrames: Int
    /// The pixels of all frames of an animation together. The default is 100 million.
    public var maximumTotalPixels: Int

    /// Makes limits.
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
    /// Checks what an image's header says.
    ///
    /// - Throws: ``ImageError``.
    func check(width: Int, height: Int, of format: ImageFormat) throws {
        let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
        guard overflow || pixels > maximumPixels else { return }
        throw ImageError(
            .limitExceeded, format: format,
            "The \(format.name) image is \(width) × \(height) pixels, and \(maximumPixels) pixels are allowed; raise "
                + "ImageLimits.maximumPixels if its sender can be trusted")
    }

    /// Checks what the header of an animation says.
    ///
    /// - Throws: ``ImageError``.
    func check(frames: Int, width: Int, height: Int, of format: ImageFormat) throws {
        guard frames <= maximumFrames else {
            throw ImageError(
                .limitExceeded, format: format,
                "The \(format.name) animation has \(frames) frames, and \(maximumFrames) are allowed; raise "
                    + "ImageLimits.maximumFrames if its sender can be trusted")
        }
        // Neither factor can be so large that the product overflows: the pixels of one frame were checked before.
        let (pixels, overflow) = (width * height).multipliedReportingOverflow(by: frames)
        guard overflow || pixels > maximumTotalPixels else { return }
        throw ImageError(
            .limitExceeded, format: format,
            "The \(frames) frames of the \(format.name) animation have \(pixels) pixels together, and "
                + "\(maximumTotalPixels) are allowed; raise ImageLimits.maximumTotalPixels if its sender can be trusted"
        )
    }
}

// MARK: - Files

extension Data {
    /// Reads a file unless it is larger than an image may be.
    ///
    /// - Throws: ``ImageError`` or an `AFError`.
    init(image file: URL, limits: ImageLimits) throws {
        let data: Data
        do {
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            let limit = Swift.max(0, limits.maximumBytes)
            // One more than allowed tells that there is more, whatever the size of the file was before.
            data = try handle.read(upToCount: limit == .max ? limit : limit + 1) ?? Data()
        } catch {
            throw AFError.responseSerializationFailed(reason: .inputFileReadFailed(at: file))
        }
        guard data.count <= limits.maximumBytes else { throw ImageError.tooManyBytes(limits) }
        self = data
    }
}
