import AfarCore
import AfarSerializers
import Foundation

/// Determines the encoding of a document's bytes. Afar converts every document to UTF-8 before libxml2 receives it. XML
/// therefore supports the same encodings as other text in Afar, and Afar's own checks process the same text as libxml2.
struct SourceEncoding: Sendable {
    private let decoding: TextDecoding
    private let charset: String?

    init(_ options: XML.ParsingOptions, _ contentType: String?) {
        decoding = TextDecoding(encoding: options.encoding)
        charset = MediaType(contentType).charset
    }

    /// Returns the encoding of a document with the given beginning.
    func encoding(of beginning: Data) throws(XML.Error) -> TextEncoding {
        let encoding: TextEncoding
        do throws(TextDecodingError) {
            encoding = try decoding.encoding(of: beginning, as: MediaType(essence: "application/xml", charset: charset))
        } catch {
            throw XML.Error(error)
        }
        // A declared encoding that contradicts the byte-order mark is an error (XML 1.0, section 4.3.3). External
        // information overrides the declaration.
        if decoding.encoding == nil, charset == nil, let text = Self.markedText(in: beginning),
            let label = Self.declaredLabel(in: text), !encoding.isNamed(label)
        {
            throw XML.Error(
                .unsupportedEncoding,
                "the document declares the encoding “\(label.prefix(60))”, but has the byte-order mark of \(encoding.name)"
            )
        }
        return encoding
    }

    /// Returns whether the first bytes of a document include its complete byte-order mark and encoding declaration, if
    /// any.
    static func isDeclaration(completeIn beginning: Data) -> Bool {
        let declaration = "<?xml"
        guard beginning.count >= declaration.utf8.count else { return false }
        if let text = markedText(in: beginning) {
            guard text.utf8.count >= declaration.utf8.count else { return beginning.count >= greatestDeclaration }
            return !text.hasPrefix(declaration) || text.contains(">") || beginning.count >= greatestDeclaration
        }
        return !beginning.starts(with: declaration.utf8) || beginning.contains(UInt8(ascii: ">"))
            || beginning.count >= 1024
    }

    /// Returns the text at the beginning of a document that has a byte-order mark, or `nil` without a byte-order mark.
    private static func markedText(in beginning: Data) -> String? {
        guard let mark = TextEncoding.ofByteOrderMark(in: beginning) else { return nil }
        var decoder = TextDecoder(mark)
        return decoder.decode(beginning.prefix(greatestDeclaration))
    }

    /// The maximum length of a declaration: 1,024 characters of four bytes each.
    private static let greatestDeclaration = 4096

    /// Returns the label of the encoding that a document declares, or `nil` if it declares none (XML 1.0, section
    /// 4.3.3).
    private static func declaredLabel(in text: String) -> String? {
        guard text.hasPrefix("<?xml"), let end = text.firstIndex(of: ">"),
            let match = text[..<end].firstMatch(of: /\sencoding\s*=\s*(?:"([^"]*)"|'([^']*)')/)
        else { return nil }
        return String(match.1 ?? match.2 ?? "")
    }

    /// Returns the text of an HTML page. Invalid bytes become U+FFFD.
    func textOfHTML(_ page: Data) throws(XML.Error) -> String {
        var decoding = decoding
        decoding.malformedBytes = .replace
        decoding.unknownCharsets = .ignore
        do throws(TextDecodingError) {
            return try decoding.decode(page, as: MediaType(essence: "text/html", charset: charset)).text
        } catch {
            throw XML.Error(error)
        }
    }

    /// Decodes bytes, which must be valid in the encoding.
    static func text(of bytes: Data, _ encoding: TextEncoding) throws(XML.Error) -> String {
        do throws(TextDecodingError) {
            return try TextDecoding(encoding: encoding, malformedBytes: .reject).decode(bytes).text
        } catch {
            throw XML.Error(error)
        }
    }
}

extension TextEncoding {
    /// Returns whether a label refers to this encoding. “UTF-16” refers to both byte orders.
    fileprivate func isNamed(_ label: String) -> Bool {
        guard let named = TextEncoding(label: label) else { return false }
        let namesByteOrder = ["be", "le"].contains { label.lowercased().hasSuffix($0) }
        let hasByteOrder = name.hasPrefix("UTF-16") || name.hasPrefix("UTF-32")
        guard hasByteOrder, !namesByteOrder else { return named == self }
        return named.name.dropLast(2) == name.dropLast(2)
    }
}

extension XML.Error {
    fileprivate init(_ error: TextDecodingError) {
        switch error.reason {
        case .malformedBytes(let encoding, let offset):
            self.init(.invalidBytes, "the bytes aren't valid \(encoding.name)", byteOffset: offset)
        case .unknownCharset(let label):
            self.init(.unsupportedEncoding, "the encoding “\(label.prefix(60))” is unknown")
        }
    }
}

/// Converts the bytes of a document to UTF-8 as they arrive.
struct SourceStream {
    private let source: SourceEncoding
    /// The bytes received before the encoding is known, and `nil` afterward.
    private var beginning: Data? = Data()
    /// The decoder, if the encoding isn't UTF-8.
    private var decoder: TextDecoder?

    init(_ source: SourceEncoding) { self.source = source }

    /// Returns the next bytes in UTF-8. The result is empty while the encoding is unknown.
    mutating func utf8(of chunk: Data) throws(XML.Error) -> Data {
        guard let beginning else { return try decoded(chunk) }
        let start = beginning + chunk
        guard SourceEncoding.isDeclaration(completeIn: start) else {
            self.beginning = start
            return Data()
        }
        return try begin(with: start)
    }

    /// Returns the remaining bytes in UTF-8.
    mutating func finish() throws(XML.Error) -> Data {
        let rest = try beginning.map { start throws(XML.Error) in try begin(with: start) } ?? Data()
        guard var decoder else { return rest }
        let last = decoder.finish()
        try Self.check(decoder)
        return rest + Data(last.utf8)
    }

    private mutating func begin(with start: Data) throws(XML.Error) -> Data {
        beginning = nil
        let encoding = try source.encoding(of: start)
        if encoding != .utf8 { decoder = TextDecoder(encoding) }
        let isMarked = encoding == .utf8 && start.starts(with: [0xEF, 0xBB, 0xBF])
        return try decoded(isMarked ? start.dropFirst(3) : start)
    }

    private mutating func decoded(_ bytes: Data) throws(XML.Error) -> Data {
        guard var decoder else { return bytes }
        let text = decoder.decode(bytes)
        self.decoder = decoder
        try Self.check(decoder)
        return Data(text.utf8)
    }

    private static func check(_ decoder: TextDecoder) throws(XML.Error) {
        guard let offset = decoder.malformedOffset else { return }
        throw XML.Error(.invalidBytes, "the bytes aren't valid \(decoder.encoding.name)", byteOffset: offset)
    }
}
