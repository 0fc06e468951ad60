import AfarCore
public import Foundation

/// Why bytes could not be made text.
public struct TextDecodingError: LocalizedError, CustomStringConvertible, Sendable, Hashable {
    /// What was wrong.
    public enum Reason: Sendable, Hashable {
        /// There are bytes that mean nothing in the encoding, from this offset on, counted from 0.
        case malformedBytes(encoding: TextEncoding, offset: Int)
        /// The response names a charset that no encoding is known under, and the bytes aren't valid UTF-8.
        case unknownCharset(label: String)
    }

    /// What was wrong.
    public let reason: Reason

    /// Makes an error.
    public init(_ reason: Reason) {
        self.reason = reason
    }

    /// What was wrong and what can be done, for a person.
    public var description: String {
        switch reason {
        case .malformedBytes(let encoding, let offset):
            "The bytes from offset \(offset) on are no \(encoding) text. "
                + "Name the right encoding, or let U+FFFD take the place of such bytes (TextDecoding.replacing)."
        case .unknownCharset(let label):
            "The charset \(TerminalText.line(String(label.prefix(60)).debugDescription)) is unknown, and the bytes aren't valid UTF-8. "
                + "Name the encoding yourself, or have unknown charsets passed over (TextDecoding.unknownCharsets)."
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
