public import AfarCore
public import Foundation
import HTTPTypes

/// Rules for decoding text: how the encoding is determined, and how malformed bytes are handled.
///
/// The first available source determines the encoding:
///
/// 1. The ``encoding`` of these rules.
/// 2. A byte-order mark.
/// 3. The `charset` of the `Content-Type`.
/// 4. The rules of the media type: JSON is UTF-8, and XML and HTML declare their encoding.
/// 5. UTF-8 or, if the bytes aren't valid UTF-8, windows-1252.
public struct TextDecoding: Sendable, Hashable {
    /// The handling of bytes that are invalid in the encoding.
    public enum MalformedBytes: Sendable, Hashable {
        /// Throws an error.
        case reject
        /// Replaces the bytes with U+FFFD.
        case replace
        /// Decodes the text again in the associated encoding, if the first encoding was only the
        /// ``TextDecoding/assumedEncoding``. Throws an error if the encoding was specified, for example by the
        /// response.
        case fallBack(to: TextEncoding)
    }

    /// The handling of an unknown charset in the response.
    public enum UnknownCharsets: Sendable, Hashable {
        /// Throws an error unless the bytes are valid UTF-8, which includes ASCII. Valid bytes are decoded as UTF-8,
        /// and ``DecodedText/unknownCharset`` contains the charset.
        case reject
        /// Ignores the charset when choosing the encoding. ``DecodedText/unknownCharset`` contains the charset.
        case ignore
    }

    /// The encoding to use regardless of the response. If it is `nil` (the default), the response determines the encoding.
    public var encoding: TextEncoding?
    /// The handling of bytes that are invalid in the encoding. The default is to fall back to windows-1252.
    public var malformedBytes: MalformedBytes
    /// The handling of an unknown charset in the response. The default is ``UnknownCharsets/reject``.
    public var unknownCharsets: UnknownCharsets
    /// The encoding to assume if none is declared. The default is UTF-8.
    public var assumedEncoding: TextEncoding
    /// A Boolean value that indicates whether byte-order marks, declarations and rules of media types are considered.
    /// The default is `true`.
    public var looksAtContent: Bool

    /// Creates decoding rules.
    public init(
        encoding: TextEncoding? = nil,
        malformedBytes: MalformedBytes = .fallBack(to: .windows1252),
        unknownCharsets: UnknownCharsets = .reject,
        assumedEncoding: TextEncoding = .utf8,
        looksAtContent: Bool = true
    ) {
        self.encoding = encoding
        self.malformedBytes = malformedBytes
        self.unknownCharsets = unknownCharsets
        self.assumedEncoding = assumedEncoding
        self.looksAtContent = looksAtContent
    }

    /// The default rules: a declared encoding must be correct, and undeclared text is UTF-8 or windows-1252.
    public static let automatic = TextDecoding()
    /// Rules that require undeclared text to be UTF-8.
    public static let strict = TextDecoding(malformedBytes: .reject)
    /// The rules of browsers. Decoding always succeeds: malformed bytes become U+FFFD, and unknown charsets are
    /// ignored.
    public static let replacing = TextDecoding(malformedBytes: .replace, unknownCharsets: .ignore)
    /// The rules of Alamofire: the charset or, if it is missing, ISO-8859-1, without inspecting the bytes.
    public static let charsetOrLatin1 = TextDecoding(
        malformedBytes: .reject, unknownCharsets: .ignore, assumedEncoding: .isoLatin1, looksAtContent: false)

    /// Decodes bytes.
    ///
    /// - Parameters:
    ///   - bytes: The complete text.
    ///   - contentType: The value of the response's `Content-Type`.
    /// - Throws: ``TextDecodingError``.
    public func decode(_ bytes: Data, contentType: String? = nil) throws(TextDecodingError) -> DecodedText {
        try decode(bytes, as: MediaType(contentType))
    }

    /// Decodes bytes of a media type.
    ///
    /// - Throws: ``TextDecodingError``.
    public func decode(_ bytes: Data, as type: MediaType) throws(TextDecodingError) -> DecodedText {
        let choice = try choice(for: bytes, type)
        var decoder = TextDecoder(choice.encoding)
        var text = decoder.decode(bytes)
        let rest = decoder.finish()
        // Appending an empty string would copy the text.
        if !rest.isEmpty { text += rest }
        guard let offset = decoder.malformedOffset else { return choice.decodedText(text) }
        if let label = choice.unknownCharset, unknownCharsets == .reject, malformedBytes != .replace {
            throw TextDecodingError(.unknownCharset(label: label))
        }
        switch malformedBytes {
        case .replace:
            return choice.decodedText(text, malformedOffset: offset)
        case .fallBack(let encoding) where choice.reason == .assumption && encoding != choice.encoding:
            let other = TextDecoding(encoding: encoding, malformedBytes: .reject)
            return Choice(encoding, .fallback, choice.unknownCharset).decodedText(try other.decode(bytes).text)
        case .reject, .fallBack:
            throw TextDecodingError(.malformedBytes(encoding: choice.encoding, offset: offset))
        }
    }

    /// Returns the encoding of a text. `bytes` must contain the whole text or at least its first 1,024 bytes.
    ///
    /// - Throws: ``TextDecodingError`` if the charset is unknown.
    public func encoding(of bytes: Data, as type: MediaType) throws(TextDecodingError) -> TextEncoding {
        let choice = try choice(for: bytes, type)
        if let label = choice.unknownCharset, unknownCharsets == .reject {
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

        func decodedText(_ text: String, malformedOffset: Int? = nil) -> DecodedText {
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
            if unknownCharsets == .reject { return try choice(for: bytes, ofUnknown: label) }
            unknown = label
        }
        guard looksAtContent else { return Choice(assumedEncoding, .assumption, unknown) }
        if type.isJSON { return Choice(JSONText.encoding(of: bytes), .mediaType, unknown) }
        if let label = type.isHTML ? HTMLPrescan.label(in: bytes) : type.isXML ? XMLDeclaration.label(in: bytes) : nil {
            if let encoding = TextEncoding(label: label) { return Choice(encoding, .declaration, unknown) }
            if unknownCharsets == .reject { return try choice(for: bytes, ofUnknown: label) }
            unknown = label
        }
        return Choice(assumedEncoding, .assumption, unknown)
    }

    /// Returns UTF-8 if the bytes are valid. The last character can be incomplete.
    private func choice(for bytes: Data, ofUnknown label: String) throws(TextDecodingError) -> Choice {
        var decoder = TextDecoder(.utf8)
        _ = decoder.decode(bytes)
        guard decoder.malformedOffset == nil else { throw TextDecodingError(.unknownCharset(label: label)) }
        return Choice(.utf8, .assumption, label)
    }
}

extension TextDecoding {
    /// Decodes the body of a response.
    func decode(_ bytes: Data, of head: ResponseHead?) throws -> DecodedText {
        do {
            return try decode(bytes, as: head?.mediaType ?? MediaType(nil))
        } catch {
            throw AFError.responseSerializationFailed(reason: .customSerializationFailed(error: error))
        }
    }
}

extension TextDecodingError: BodyFormatError {
    package static var problem: String { "Its body could not be decoded as text" }
    package var stringEncoding: String.Encoding? {
        if case .malformedBytes(let encoding, _) = reason { encoding.stringEncoding } else { nil }
    }
}

/// Decoded text and information about its encoding.
public struct DecodedText: Sendable, Hashable, CustomStringConvertible {
    /// The reason for choosing an encoding.
    public enum Reason: String, Sendable, Hashable {
        /// The caller specified the encoding.
        case override
        /// A byte-order mark at the beginning specifies the encoding.
        case byteOrderMark
        /// The `charset` of the `Content-Type` specifies the encoding.
        case charset
        /// An XML declaration or an HTML `meta` element in the text declares the encoding.
        case declaration
        /// The media type determines the encoding. JSON is UTF-8 or recognizable as UTF-16 or UTF-32.
        case mediaType
        /// The encoding is assumed, because none is declared.
        case assumption
        /// No encoding is declared, and the bytes are invalid in the assumed encoding.
        case fallback
    }

    /// The text, without a byte-order mark.
    public let text: String
    /// The encoding of the bytes.
    public let encoding: TextEncoding
    /// The reason for choosing the encoding.
    public let reason: Reason
    /// The unknown charset that was ignored, if any.
    public let unknownCharset: String?
    /// The zero-based offset of the first malformed bytes, which became U+FFFD, or `nil` if no bytes are malformed.
    public let malformedOffset: Int?

    /// The decoded text.
    public var description: String { text }
}

/// An error that occurs when text can't be decoded.
public struct TextDecodingError: LocalizedError, CustomStringConvertible, Sendable, Hashable {
    /// The reason that text can't be decoded.
    public enum Reason: Sendable, Hashable {
        /// The bytes at the given zero-based offset are invalid in the encoding.
        case malformedBytes(encoding: TextEncoding, offset: Int)
        /// The response specifies an unknown charset, and the bytes aren't valid UTF-8.
        case unknownCharset(label: String)
    }

    /// The reason that the text can't be decoded.
    public let reason: Reason

    /// Creates an error.
    public init(_ reason: Reason) {
        self.reason = reason
    }

    /// A description of the problem and a solution.
    public var description: String {
        switch reason {
        case .malformedBytes(let encoding, let offset):
            "The bytes at offset \(offset) aren't valid \(encoding). "
                + "Specify the correct encoding, or replace invalid bytes with U+FFFD (TextDecoding.replacing)."
        case .unknownCharset(let label):
            "The charset \(TerminalText.line(String(label.prefix(60)).debugDescription)) is unknown, and the bytes aren't valid UTF-8. "
                + "Specify the encoding, or ignore unknown charsets (TextDecoding.unknownCharsets)."
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}
