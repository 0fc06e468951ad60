import AfarCore
import CLibxml2
import Foundation
import HTTPTypes

/// A document that becomes values while its bytes come. Used by one thread at a time.
final class DocumentStream<Value> {
    /// Held while the parser works: whoever copies one that has begun shares it.
    let lock = NSLock()
    private var results: [Result<Value, AFError>] = []
    private let push: PushRun
    private let owned: AnyObject?

    /// - Parameters:
    ///   - push: Parses.
    ///   - owned: What must live as long as the parser.
    init(_ push: PushRun, owning owned: AnyObject? = nil) {
        self.push = push
        self.owned = owned
    }

    /// Adds a value that the bytes which are parsed just now complete.
    func add(_ result: Result<Value, AFError>) { results.append(result) }

    func feed(_ chunk: Data) throws(XML.Error) { try push.feed(chunk) }

    func finish() throws(XML.Error) { try push.finish() }

    /// Takes what was added since the last call.
    func takeResults() -> [Result<Value, AFError>] {
        defer { results = [] }
        return results
    }
}

/// What the parsers of streams have in common. It is a value, as they are: libxml2's parser is made with the first chunk,
/// so that copies of one that has not begun have nothing in common.
struct DocumentStreaming<Value: Sendable>: Sendable {
    /// Makes a stream of bytes that come with a Content-Type.
    private let begin: @Sendable (_ contentType: String?) throws(XML.Error) -> DocumentStream<Value>
    private var contentType: String?
    private nonisolated(unsafe) var stream: DocumentStream<Value>?
    private var hasFailed = false

    init(_ begin: @escaping @Sendable (_ contentType: String?) throws(XML.Error) -> DocumentStream<Value>) {
        self.begin = begin
    }

    mutating func begin(_ head: ResponseHead) { contentType = head.values(for: .contentType).last }

    /// The values that the next bytes complete. A failure of the document is the last of them.
    mutating func parse(_ chunk: Data) -> [Result<Value, AFError>] {
        advance { stream throws(XML.Error) in try stream.feed(chunk) }
    }

    /// The values that the end completes, or why the document is not whole.
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

// MARK: - Parsing in chunks

/// A document that is parsed while its bytes come. Used by one thread at a time.
final class PushRun {
    let run: ParseRun
    private let options: XML.ParsingOptions
    private var source: SourceStream
    private var scanner: MarkupScanner
    /// The beginning of a tag that has no end yet: libxml2 would look through all of it again with each chunk.
    private var openTag = Data()
    private var isEmpty = true

    /// - Parameter contentType: The Content-Type that the bytes come with.
    init(_ options: XML.ParsingOptions, contentType: String?) throws(XML.Error) {
        run = try ParseRun(xmlCreatePushParserCtxt(nil, nil, nil, 0, nil), options, readsXML: true)
        self.options = options
        source = SourceStream(SourceEncoding(options, contentType))
        scanner = MarkupScanner(options)
        xmlCtxtUseOptions(run.context, ParseRun.flags)
        // Else libxml2 would go by the first bytes.
        xmlSwitchEncoding(run.context, XML_CHAR_ENCODING_UTF8)
    }

    /// Parses the next bytes.
    func feed(_ chunk: Data) throws(XML.Error) { try feedUTF8(source.utf8(of: chunk)) }

    /// Ends the document.
    func finish() throws(XML.Error) {
        try feedUTF8(source.finish())
        try feedParts(openTag)
        guard !isEmpty else { throw XML.Error(.emptyDocument, "there is nothing to parse but white space") }
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
                .limitExceeded, "an element has more than the \(options.maximumBytes) bytes that are allowed")
        }
    }

    /// libxml2 counts by `Int32` and looks ahead in what it has; this keeps it quick.
    private static let greatestPart = 1 << 20
}
