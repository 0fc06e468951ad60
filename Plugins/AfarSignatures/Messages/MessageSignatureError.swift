#if StructuredFields
    public import Foundation

    /// A message that can't be signed, or whose signature isn't accepted. The description contains no values of fields.
    public struct MessageSignatureError: Error, LocalizedError, CustomStringConvertible {
        private let reason: String
        /// The error from the closure that returns keys, or from reading the body, if any.
        public let underlyingError: (any Error)?

        init(_ reason: String, because underlyingError: (any Error)? = nil) {
            (self.reason, self.underlyingError) = (reason, underlyingError)
        }

        /// A human-readable description of the error.
        public var description: String { "HTTP message signature: \(reason)." }

        /// The same text as ``description``.
        public var errorDescription: String? { description }

        static func component(_ component: SignatureComponent, _ reason: String) -> MessageSignatureError {
            MessageSignatureError("the component \(component) can't be covered: \(reason)")
        }

        static func malformed(_ reason: String) -> MessageSignatureError {
            MessageSignatureError("the field Signature-Input is malformed: \(reason)")
        }
    }
#endif
