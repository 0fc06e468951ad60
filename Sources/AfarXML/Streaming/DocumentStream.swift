import AfarCore
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
