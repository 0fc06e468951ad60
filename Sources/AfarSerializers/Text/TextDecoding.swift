public import AfarCore
public import Foundation

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
