import AfarCore
import CLibxml2
import Foundation
import HTTPTypes

/// A document that is converted to values as its bytes arrive. It isn't thread-safe.
final class DocumentStream<Value> {
    /// The lock to hold while parsing. Copies of a parser that has started share this object.
    let lock = NSLock()
    private var results: [Result<Value, AFError>] = []
    private let push: PushRun
    private let owned: AnyObject?

    /// - Parameters:
    ///   - push: The parser.
    ///   - owned: An object to keep alive as long as the parser.
    init(_ push: PushRun, owning owned: AnyObject? = nil) {
        self.push = push
        self.owned = owned
    }

    /// Adds a value. Called while the bytes that complete the value are parsed.
    func add(_ result: Result<Value, AFError>) { results.append(result) }

    func feed(_ chunk: Data) throws(XML.Error) { try push.feed(chunk) }

    func finish() throws(XML.Error) { try push.finish() }

    /// Returns and removes the values added since the last call.
    func takeResults() -> [Result<Value, AFError>] {
        defer { results = [] }
        return results
    }
}

/// The common implementation of stream parsers.
///
/// It is a value type, like the stream parsers. The libxml2 parser is created when the first chunk arrives, so copies of a
/// parser that hasn't started are independent.
struct DocumentStreaming<Value: Sendable>: Sendable {
    /// Creates a stream for bytes with a `Content-Type`.
    private let begin: @Sendable (_ contentType: String?) throws(XML.Error) -> DocumentStream<Value>
    private var contentType: String?
    private nonisolated(unsafe) var stream: DocumentStream<Value>?
    private var hasFailed = false

    init(_ begin: @escaping @Sendable (_ contentType: String?) throws(XML.Error) -> DocumentStream<Value>) {
        self.begin = begin
    }

    mutating func begin(_ head: ResponseHead) { contentType = head.values(for: .contentType).last }

    /// Returns the values that the next bytes complete. If the document is invalid, the last result is a failure.
    mutating func parse(_ chunk: Data) -> [Result<Value, AFError>] {
        advance { stream throws(XML.Error) in try stream.feed(chunk) }
    }

    /// Returns the values that the end completes, or a failure if the document is incomplete.
    mutating func finish() -> [Result<Value, AFError>] {
        advance { stream throws(XML.Error) in try stream.finish() }
    }

    private mutating func advance(
        _ step: (DocumentStream<Value>) throws(XML.Error) -> Void
    ) -> [Result<Value, AFError>] {
        guard !hasFailed else { return [] }
        do throws(XML.Error) {
            if stream == nil { stream = try begin(contentType) }
            guard let stream else { return [] }
            let result = stream.lock.withLock {
                (Result { () throws(XML.Error) in try step(stream) }, stream.takeResults())
            }
            guard case .failure(let error) = result.0 else { return result.1 }
            return fail(error, after: result.1)
        } catch {
            return fail(error, after: [])
        }
    }

    private mutating func fail(_ error: XML.Error, after results: [Result<Value, AFError>]) -> [Result<Value, AFError>]
    {
        hasFailed = true
        let reason = AFError.ResponseSerializationFailureReason.customSerializationFailed(error: error)
        return results + [.failure(.responseSerializationFailed(reason: reason))]
    }
}

/// A document that is parsed as its bytes arrive. It isn't thread-safe.
final class PushRun {
    let run: ParseRun
    private let options: XML.ParsingOptions
    private var source: SourceStream
    private var scanner: MarkupScanner
    /// The beginning of an incomplete tag. libxml2 receives a tag only when the tag is complete, because it would scan
    /// the beginning again for each chunk.
    private var openTag = Data()
    private var isEmpty = true

    /// - Parameter contentType: The `Content-Type` of the bytes.
    init(_ options: XML.ParsingOptions, contentType: String?) throws(XML.Error) {
        run = try ParseRun(xmlCreatePushParserCtxt(nil, nil, nil, 0, nil), options, readsXML: true)
        self.options = options
        source = SourceStream(SourceEncoding(options, contentType))
        scanner = MarkupScanner(options)
        xmlCtxtUseOptions(run.context, ParseRun.flags)
        // Prevents libxml2 from detecting another encoding.
        xmlSwitchEncoding(run.context, XML_CHAR_ENCODING_UTF8)
    }

    func feed(_ chunk: Data) throws(XML.Error) { try feedUTF8(source.utf8(of: chunk)) }

    func finish() throws(XML.Error) {
        try feedUTF8(source.finish())
        try feedParts(openTag)
        guard !isEmpty else { throw XML.Error(.emptyDocument, "the document consists of white space") }
        xmlParseChunk(run.context, nil, 0, 1)
        try run.check()
        try run.checkEnd()
        guard run.context.pointee.wellFormed != 0 else {
            throw run.here(.malformed, "the document is not well-formed")
        }
    }

    private func feedUTF8(_ chunk: Data) throws(XML.Error) {
        try chunk.withBytes { bytes throws(XML.Error) in
            isEmpty = isEmpty && !bytes.contains { !$0.isXMLSpace }
            try scanner.scan(bytes)
        }
        openTag.append(chunk)
        let whole = openTag.count - scanner.openTagLength
        guard whole > 0 else { return }
        let ready = openTag.prefix(whole)
        openTag = Data(openTag.dropFirst(whole))
        try feedParts(ready)
    }

    private func feedParts(_ bytes: Data) throws(XML.Error) {
        try bytes.withBytes { bytes throws(XML.Error) in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = rest.prefix(Self.greatestPart)
                rest = rest.dropFirst(part.count)
                try feed(UnsafeRawBufferPointer(rebasing: part))
            }
        }
    }

    private func feed(_ bytes: UnsafeRawBufferPointer) throws(XML.Error) {
        xmlParseChunk(run.context, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count), 0)
        try run.check()
        let length = run.rules.pointee.open > 0 ? afar_xml_offset(run.context) - run.rules.pointee.began_at : 0
        guard length <= options.maximumBytes else {
            throw run.here(
                .limitExceeded, "an element exceeds the limit of \(options.maximumBytes) bytes")
        }
    }

    /// The maximum number of bytes to pass to libxml2 at once. libxml2 uses `Int32` for sizes. It also scans ahead in
    /// its input, which is fast only for small parts.
    private static let greatestPart = 1 << 20
}
