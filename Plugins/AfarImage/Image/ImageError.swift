public import Foundation

/// Why an image could not be decoded, made or encoded.
public struct ImageError: Error, Hashable, Sendable {
    /// What went wrong.
    public let code: Code
    /// The format, where it is known.
    public let format: ImageFormat?
    /// What went wrong, where, and what can be done, in one line.
    public let message: String

    /// Makes an error.
    public init(_ code: Code, format: ImageFormat? = nil, _ message: String) {
        self.code = code
        self.format = format
        self.message = message
    }
}

extension ImageError: LocalizedError, CustomStringConvertible {
    /// The message.
    public var description: String { message }
    /// The message.
    public var errorDescription: String? { message }
}

extension ImageError {
    static func truncated(_ format: ImageFormat, _ reason: String = "") -> ImageError {
        let detail = reason.isEmpty ? "" : " (\(reason))"
        return ImageError(
            .truncated, format: format,
            "The \(format.name) image ends before its data is complete\(detail); fetch it again")
    }

    static func corrupt(_ format: ImageFormat, _ reason: String) -> ImageError {
        ImageError(
            .corrupt, format: format, "The \(format.name) image is damaged: \(reason); fetch it again or repair it")
    }

    static func tooManyBytes(_ limits: ImageLimits) -> ImageError {
        ImageError(
            .limitExceeded,
            "The image has more than \(limits.maximumBytes) bytes; raise ImageLimits.maximumBytes if its sender can be trusted"
        )
    }

    static func tooLarge(_ format: ImageFormat?, _ width: Int, _ height: Int) -> ImageError {
        let name = format.map { "\($0.name) image" } ?? "image"
        return ImageError(
            .limitExceeded, format: format,
            "The \(name) is \(width) × \(height) pixels, and \(Image.maximumDimension) in each direction can be held; "
                + "ask for a smaller one")
    }
}
