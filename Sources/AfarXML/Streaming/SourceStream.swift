import AfarSerializers
import Foundation

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
        guard start.tellsItsEncoding else {
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
        self.decoder = decoder
        return rest + Data(last.utf8)
    }

    private mutating func begin(with start: Data) throws(XML.Error) -> Data {
        beginning = nil
        let encoding = try source.encoding(of: start)
        if encoding != .utf8 { decoder = TextDecoder(encoding) }
        return try decoded(start)
    }

    private mutating func decoded(_ bytes: Data) throws(XML.Error) -> Data {
        guard decoder != nil else { return bytes }
        let text = decoder?.decode(bytes) ?? ""
        if let offset = decoder?.malformedOffset, let encoding = decoder?.encoding {
            throw XML.Error(.invalidBytes, "the bytes are no \(encoding.name) text", byteOffset: offset)
        }
        return Data(text.utf8)
    }
}

extension Data {
    /// Whether a byte-order mark or a declaration would be here as a whole.
    fileprivate var tellsItsEncoding: Bool {
        let declaration = "<?xml".utf8
        if count < declaration.count { return false }
        return !starts(with: declaration) || contains(UInt8(ascii: ">")) || count >= 1024
    }
}
