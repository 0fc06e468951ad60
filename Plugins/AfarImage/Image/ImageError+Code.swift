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
