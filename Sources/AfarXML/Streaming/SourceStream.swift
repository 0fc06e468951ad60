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
