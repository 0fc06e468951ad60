import AfarCore
public import Foundation

/// Why a value in a stream of JSON could not be read, and which one it was. The values after it can be read all the same.
///
/// It is the `underlyingError` of ``AFError/responseSerializationFailed(reason:)``, whose reason is
/// ``AFError/ResponseSerializationFailureReason/decodingFailed(error:)`` for ``Reason/undecodable(_:)``, else
/// ``AFError/ResponseSerializationFailureReason/customSerializationFailed(error:)``.
public struct JSONStreamError: Error, Sendable {
    /// What was wrong.
    public enum Reason: Sendable {
        /// The value has more bytes than this, which was the limit. It was passed over and not kept.
        case tooLong(limit: Int)
        /// The value is no JSON, or has not the shape of the type asked for. The error is the decoder's.
        case undecodable(any Error)
        /// A number, `true`, `false` or `null` has no white space after it, so that its end may be missing (RFC 7464,
        /// section 2.4).
        case mayBeTruncated
        /// There are bytes before the first record separator, or after the end of a value (RFC 7464, section 2.1).
        case outsideOfRecord
    }

    /// What sets values apart.
    public enum Framing: String, Sendable {
        /// Each line is a value.
        case line
        /// A record separator (RS, U+001E) begins a value.
        case record
    }

    /// What was wrong.
    public let reason: Reason
    /// What sets values apart in this stream.
    public let framing: Framing
    /// Which line or record it was; the first is 1. Empty lines count.
    public let number: Int

    /// Makes an error.
    public init(reason: Reason, framing: Framing, number: Int) {
        self.reason = reason
        self.framing = framing
        self.number = number
    }
}

extension JSONStreamError: LocalizedError, CustomStringConvertible {
    /// What was wrong where, and what can be done.
    public var description: String {
        let place = "\(framing.rawValue.capitalized) \(number) of the stream"
        return switch reason {
        case .tooLong(let limit):
            "\(place) has more than \(limit) bytes. Ask for a larger maximum length if that is no mistake."
        case .undecodable(let error): "\(place) could not be decoded: \(TerminalText.line("\(error)"))"
        case .mayBeTruncated: "\(place) has no white space at its end, so that a part may be missing."
        case .outsideOfRecord: "\(place) has bytes outside of any value; is this a JSON text sequence (RFC 7464)?"
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
