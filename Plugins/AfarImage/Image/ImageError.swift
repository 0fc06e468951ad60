public import Foundation

/// An error that occurs when an image is created, decoded or encoded.
public struct ImageError: Error, Hashable, Sendable {
    /// The kind of error.
    public let code: Code
    /// The format of the image, if known.
    public let format: ImageFormat?
    /// A one-line description of the error and a possible solution.
    public let message: String

    /// Creates an error.
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
            "The \(format.name) image ends before its data is complete\(detail); download it again")
    }

    static func corrupt(_ format: ImageFormat, _ reason: String) -> ImageError {
        ImageError(
            .corrupt, format: format, "The \(format.name) image is damaged: \(reason); download it again or repair it")
    }

    static func tooManyBytes(_ limits: ImageLimits) -> ImageError {
        ImageError(
            .limitExceeded,
            "The image has more than \(limits.maximumBytes) bytes; if you trust its sender, increase ImageLimits.maximumBytes"
        )
    }

    static func tooLarge(_ format: ImageFormat?, _ width: Int, _ height: Int) -> ImageError {
        let name = format.map { "\($0.name) image" } ?? "image"
        return ImageError(
            .limitExceeded, format: format,
            "The \(name) is \(width) × \(height) pixels, and the limit is \(Image.maximumDimension) in each direction; "
                + "request a smaller one")
    }
}

extension ImageError {
    /// A kind of error. Later versions can add codes.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Name: String, Sendable {
            case unknownFormat, unsupported, truncated, corrupt, limitExceeded, outOfMemory, invalidPixels
            case encodingFailed
        }

        private let name: Name

        private init(_ name: Name) { self.name = name }

        /// The code's name.
        public var description: String { name.rawValue }

        /// No decoder supports the format of the data.
        public static let unknownFormat = Code(.unknownFormat)
        /// The image uses a feature of its format that the decoder doesn't support.
        public static let unsupported = Code(.unsupported)
        /// The data ends too early.
        public static let truncated = Code(.truncated)
        /// The data violates its format.
        public static let corrupt = Code(.corrupt)
        /// The image exceeds one of its ``ImageLimits`` or the maximum size of an image. It wasn't decoded.
        public static let limitExceeded = Code(.limitExceeded)
        /// There isn't enough memory for the image.
        public static let outOfMemory = Code(.outOfMemory)
        /// The pixels or frames of a new image are inconsistent.
        public static let invalidPixels = Code(.invalidPixels)
        /// The image can't be encoded in the format.
        public static let encodingFailed = Code(.encodingFailed)
    }
}
