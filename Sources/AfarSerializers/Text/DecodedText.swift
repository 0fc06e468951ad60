/// Text that was made of bytes, and how.
public struct DecodedText: Sendable, Hashable, CustomStringConvertible {
    /// What an encoding was chosen for.
    public enum Reason: String, Sendable, Hashable {
        /// The caller named it.
        case override
        /// A byte-order mark at the beginning of the bytes.
        case byteOrderMark
        /// The `charset` of the Content-Type.
        case charset
        /// The text says it itself: in XML's declaration, or an HTML page's `meta` element.
        case declaration
        /// The rule of the Content-Type: JSON is UTF-8, or recognisably UTF-16 or UTF-32.
        case mediaType
        /// It was not declared.
        case assumption
        /// It was not declared, and the bytes are not in the encoding that is assumed then.
        case fallback
    }

    /// The text, without a byte-order mark.
    public let text: String
    /// The encoding that was used.
    public let encoding: TextEncoding
    /// Why that one.
    public let reason: Reason
    /// The charset that was passed over because nobody knows it.
    public let unknownCharset: String?
    /// Where the first malformed bytes are, which U+FFFD stands for; counted from 0. Nil when there are none.
    public let malformedOffset: Int?

    /// The text.
    public var description: String { text }
}
