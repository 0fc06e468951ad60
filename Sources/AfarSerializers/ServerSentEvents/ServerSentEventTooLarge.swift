public import Foundation

/// An event in a stream has more bytes than allowed. It was passed over and not kept; the events after it can be read.
///
/// It is the `underlyingError` of an ``AFError/responseSerializationFailed(reason:)``.
public struct ServerSentEventTooLarge: Error, LocalizedError, CustomStringConvertible, Sendable {
    /// The bytes that an event may have.
    public let limit: Int

    /// What was wrong, and what can be done.
    public var description: String {
        "An event of the stream has more than \(limit) bytes. Ask for a larger maximum event size if that is no mistake."
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
