public import AfarCore
public import Foundation
import HTTPTypes

/// How bytes become text: which encoding they are taken for, and what happens to bytes that are none.
///
/// The encoding is the one that is given here, else what a byte-order mark says, else the `charset` of the Content-Type,
/// else what the type's own rules say (JSON is UTF-8, XML and HTML declare their encoding), else UTF-8, and for bytes that
/// are not even that, windows-1252.
public struct TextDecoding: Sendable, Hashable {
    /// What happens to bytes that mean nothing in the encoding.
    public enum MalformedBytes: Sendable, Hashable {
        /// They are an error.
        case refuse
        /// U+FFFD takes their place.
        case replace
        /// Where the encoding was only assumed, another one is taken instead. Where it was told, they are an error.
        case fallBack(to: TextEncoding)
    }

    /// What happens when the response names a charset that is unknown.
    public enum UnknownCharsets: Sendable, Hashable {
        /// It is an error, unless the bytes are valid UTF-8, as ASCII is. Then they are decoded as such, and
        /// ``DecodedText/unknownCharset`` has the charset.
        case refuse
        /// The encoding is chosen as if there were none; ``DecodedText/unknownCharset`` has it.
        case passOver
    }

    /// The encoding to use whatever the response says. The default is nil: go by the response.
    public var encoding: TextEncoding?
    /// What happens to bytes that mean nothing in the encoding. The default is to fall back to windows-1252.
    public var malformedBytes: MalformedBytes
    /// What happens when the response names a charset that is unknown. The default is ``UnknownCharsets/refuse``.
    public var unknownCharsets: UnknownCharsets
    /// The encoding that is assumed when nothing tells of it. The default is UTF-8.
    public var assumedEncoding: TextEncoding
    /// Whether byte-order marks, declarations and the types' rules count. The default is true.
    public var looksAtContent: Bool

    /// Makes rules.
    public init(
        encoding: TextEncoding? = nil,
        malformedBytes: MalformedBytes = .fallBack(to: .windows1252),
        unknownCharsets: UnknownCharsets = .refuse,
        assumedEncoding: TextEncoding = .utf8,
        looksAtContent: Bool = true
    ) {
        self.encoding = encoding
        self.malformedBytes = malformedBytes
        self.unknownCharsets = unknownCharsets
        self.assumedEncoding = assumedEncoding
        self.looksAtContent = looksAtContent
    }

    /// The default: what is told must be true, what is not told is UTF-8 or else windows-1252.
    public static let automatic = TextDecoding()
    /// What is not told must be UTF-8.
    public static let strict = TextDecoding(malformedBytes: .refuse)
    /// As browsers do: there is always a text. U+FFFD takes the place of malformed bytes, unknown charsets are passed over.
    public static let replacing = TextDecoding(malformedBytes: .replace, unknownCharsets: .passOver)
    /// As Alamofire does: the charset, else ISO-8859-1, without a look at the bytes.
    public static let charsetOrLatin1 = TextDecoding(
        malformedBytes: .refuse, unknownCharsets: .passOver, assumedEncoding: .isoLatin1, looksAtContent: false)

    /// Makes text of bytes.
    ///
    /// - Parameters:
    ///   - bytes: All the bytes.
    ///   - contentType: The value of the response's Content-Type.
    /// - Throws: A ``TextDecodingError``.
    public func decode(_ bytes: Data, contentType: String? = nil) throws(TextDecodingError) -> DecodedText {
        try decode(bytes, as: MediaType(contentType))
    }

    /// Makes text of bytes of a type.
    ///
    /// - Throws: A ``TextDecodingError``.
    public func decode(_ bytes: Data, as type: MediaType) throws(TextDecodingError) -> DecodedText {
        let choice = try choice(for: bytes, type)
        var decoder = TextDecoder(choice.encoding)
        var text = decoder.decode(bytes)
        let rest = decoder.finish()
        // Appending nothing would copy the text.
        if !rest.isEmpty { text += rest }
        guard let offset = decoder.malformedOffset else { return choice.made(text) }
        if let label = choice.unknownCharset, unknownCharsets == .refuse, malformedBytes != .replace {
            throw TextDecodingError(.unknownCharset(label: label))
        }
        switch malformedBytes {
        case .replace:
            return choice.made(text, malformedOffset: offset)
        case .fallBack(let encoding) where choice.reason == .assumption && encoding != choice.encoding:
            let other = TextDecoding(encoding: encoding, malformedBytes: .refuse)
            return Choice(encoding, .fallback, choice.unknownCharset).made(try other.decode(bytes).text)
        case .refuse, .fallBack:
            throw TextDecodingError(.malformedBytes(encoding: choice.encoding, offset: offset))
        }
    }

    /// The encoding of bytes that may be only the first of all, at least 1,024 if there are so many.
    ///
    /// - Throws: A ``TextDecodingError`` for a charset that is unknown.
    public func encoding(of bytes: Data, as type: MediaType) throws(TextDecodingError) -> TextEncoding {
        let choice = try choice(for: bytes, type)
        if let label = choice.unknownCharset, unknownCharsets == .refuse {
            throw TextDecodingError(.unknownCharset(label: label))
        }
        return choice.encoding
    }

    private struct Choice {
        let encoding: TextEncoding
        let reason: DecodedText.Reason
        let unknownCharset: String?

        init(_ encoding: TextEncoding, _ reason: DecodedText.Reason, _ unknownCharset: String? = nil) {
            self.encoding = encoding
            self.reason = reason
            self.unknownCharset = unknownCharset
        }

        func made(_ text: String, malformedOffset: Int? = nil) -> DecodedText {
            DecodedText(
                text: text, encoding: encoding, reason: reason, unknownCharset: unknownCharset,
                malformedOffset: malformedOffset)
        }
    }

    private func choice(for bytes: Data, _ type: MediaType) throws(TextDecodingError) -> Choice {
        if let encoding { return Choice(encoding, .override) }
        if looksAtContent, let mark = TextEncoding.ofByteOrderMark(in: bytes) { return Choice(mark, .byteOrderMark) }
        var unknown: String?
        if let label = type.charset {
            if let encoding = TextEncoding(label: label) { return Choice(encoding, .charset) }
            if unknownCharsets == .refuse { return try choice(for: bytes, ofUnknown: label) }
            unknown = label
        }
        guard looksAtContent else { return Choice(assumedEncoding, .assumption, unknown) }
        if type.isJSON { return Choice(JSONText.encoding(of: bytes), .mediaType, unknown) }
        if let label = type.isHTML ? HTMLPrescan.label(in: bytes) : type.isXML ? XMLDeclaration.label(in: bytes) : nil {
            if let encoding = TextEncoding(label: label) { return Choice(encoding, .declaration, unknown) }
            if unknownCharsets == .refuse { return try choice(for: bytes, ofUnknown: label) }
            unknown = label
        }
        return Choice(assumedEncoding, .assumption, unknown)
    }

    /// UTF-8, if the bytes are valid as far as they go. The last character may be incomplete.
    private func choice(for bytes: Data, ofUnknown label: String) throws(TextDecodingError) -> Choice {
        var decoder = TextDecoder(.utf8)
        _ = decoder.decode(bytes)
        guard decoder.malformedOffset == nil else { throw TextDecodingError(.unknownCharset(label: label)) }
        return Choice(.utf8, .assumption, label)
    }
}

extension TextDecoding {
    /// Makes text of a response's body.
    func decode(_ bytes: Data, of head: ResponseHead?) throws -> DecodedText {
        do {
            return try decode(bytes, as: head?.mediaType ?? MediaType(nil))
        } catch {
            throw AFError.responseSerializationFailed(
                reason: .textDecodingFailed(encoding: error.encoding?.stringEncoding, error: error))
        }
    }
}

extension TextDecodingError {
    fileprivate var encoding: TextEncoding? {
        if case .malformedBytes(let encoding, _) = reason { encoding } else { nil }
    }
}

// MARK: - Text and errors

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
