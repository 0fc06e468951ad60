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

// MARK: - Codes

extension ImageError {
    /// What went wrong. More codes may come; compare with those you handle.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Name: String, Sendable {
            case unknownFormat, unsupported, truncated, corrupt, limitExceeded, outOfMemory, invalidPixels
            case encodingFailed
        }

        private let name: Name

        private init(_ name: Name) { self.name = name }

        /// The code's name.
        public var description: String { name.rawValue }

        /// The data begins like no format that there is a decoder for.
        public static let unknownFormat = Code(.unknownFormat)
        /// The image uses a part of its format that the decoder does not know.
        public static let unsupported = Code(.unsupported)
        /// The data ends too early.
        public static let truncated = Code(.truncated)
        /// The data contradicts its format.
        public static let corrupt = Code(.corrupt)
        /// The image is beyond one of its ``ImageLimits``, or larger than an image can be. Nothing was made of it.
        public static let limitExceeded = Code(.limitExceeded)
        /// There is not as much memory as the image needs.
        public static let outOfMemory = Code(.outOfMemory)
        /// The pixels or frames for a new image do not fit together.
        public static let invalidPixels = Code(.invalidPixels)
        /// The image cannot be written in a format.
        public static let encodingFailed = Code(.encodingFailed)
    }
}
