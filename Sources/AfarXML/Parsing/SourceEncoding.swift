import AfarCore
import AfarSerializers
import Foundation

/// Which encoding a document's bytes are in. libxml2 is given UTF-8 only: so all encodings are read as everywhere in Afar,
/// and what looks at the bytes before libxml2 does cannot be deceived.
struct SourceEncoding: Sendable {
    private let decoding: TextDecoding
    private let charset: String?

    init(_ options: XML.ParsingOptions, _ contentType: String?) {
        decoding = TextDecoding(encoding: options.encoding)
        charset = MediaType(contentType).charset
    }

    /// The encoding of a document that begins so.
    func encoding(of beginning: Data) throws(XML.Error) -> TextEncoding {
        let encoding: TextEncoding
        do throws(TextDecodingError) {
            encoding = try decoding.encoding(of: beginning, as: MediaType(essence: "application/xml", charset: charset))
        } catch {
            throw XML.Error(error)
        }
        // XML 1.0, section 4.3.3. What names the encoding from outside the document outranks its declaration.
        if decoding.encoding == nil, charset == nil, let text = Self.markedText(in: beginning),
            let label = Self.declaredLabel(in: text), !encoding.isNamed(label)
        {
            throw XML.Error(
                .unsupportedEncoding,
                "the document declares the encoding “\(label.prefix(60))”, but its byte-order mark is \(encoding.name)'s"
            )
        }
        return encoding
    }

    /// Whether the first bytes of a document include its whole byte-order mark and encoding declaration, if it has them.
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

    /// The beginning of a document that has a byte-order mark; nil for one without a mark.
    private static func markedText(in beginning: Data) -> String? {
        guard let mark = TextEncoding.ofByteOrderMark(in: beginning) else { return nil }
        var decoder = TextDecoder(mark)
        return decoder.decode(beginning.prefix(greatestDeclaration))
    }

    /// 1,024 characters of four bytes.
    private static let greatestDeclaration = 4096

    /// The label of the encoding that a document declares; nil without one (XML 1.0, section 4.3.3).
    private static func declaredLabel(in text: String) -> String? {
        guard text.hasPrefix("<?xml"), let end = text.firstIndex(of: ">"),
            let match = text[..<end].firstMatch(of: /\sencoding\s*=\s*(?:"([^"]*)"|'([^']*)')/)
        else { return nil }
        return String(match.1 ?? match.2 ?? "")
    }

    /// The text of a page, which always has one.
    func textOfHTML(_ page: Data) throws(XML.Error) -> String {
        var decoding = decoding
        decoding.malformedBytes = .replace
        decoding.unknownCharsets = .passOver
        do throws(TextDecodingError) {
            return try decoding.decode(page, as: MediaType(essence: "text/html", charset: charset)).text
        } catch {
            throw XML.Error(error)
        }
    }

    /// The text of bytes that must be of an encoding.
    static func text(of bytes: Data, _ encoding: TextEncoding) throws(XML.Error) -> String {
        do throws(TextDecodingError) {
            return try TextDecoding(encoding: encoding, malformedBytes: .refuse).decode(bytes).text
        } catch {
            throw XML.Error(error)
        }
    }
}

extension TextEncoding {
    /// Whether a label stands for this encoding. “UTF-16” stands for both byte orders.
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
            self.init(.invalidBytes, "the bytes are no \(encoding.name) text", byteOffset: offset)
        case .unknownCharset(let label):
            self.init(.unsupportedEncoding, "the encoding “\(label.prefix(60))” is unknown")
        }
    }
}

// MARK: - Streams

/// Makes UTF-8 of a document's bytes while they come.
struct SourceStream {
    private let source: SourceEncoding
    /// What has come until the encoding is known; then nil.
    private var beginning: Data? = Data()
    /// Decodes what is not UTF-8 already.
    private var decoder: TextDecoder?

    init(_ source: SourceEncoding) { self.source = source }

    /// The next bytes in UTF-8; empty while the encoding is not known.
    mutating func utf8(of chunk: Data) throws(XML.Error) -> Data {
        guard let beginning else { return try decoded(chunk) }
        let start = beginning + chunk
        guard SourceEncoding.isDeclaration(completeIn: start) else {
            self.beginning = start
            return Data()
        }
        return try begin(with: start)
    }

    /// What is left at the end, in UTF-8.
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
        throw XML.Error(.invalidBytes, "the bytes are no \(decoder.encoding.name) text", byteOffset: offset)
    }
}
