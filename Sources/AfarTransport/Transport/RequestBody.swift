public import Foundation
public import HTTPTypes

/// A request's body: its content, its length, and whether it can be sent again.
public enum RequestBody: Sendable {
    /// No body.
    case none
    /// Bytes in memory.
    case data(Data)
    /// A whole file, read while it is sent. Its length is determined when the exchange begins.
    case file(URL)
    /// Chunks that are produced while they are sent.
    case stream(RequestBodyStream)

    /// The length in bytes, or nil if it is unknown. A body of unknown length is sent chunked.
    public var length: Int64? {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .file(let url):
            (try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber)?.int64Value
        case .stream(let stream): stream.length
        }
    }

    /// A Boolean value that indicates whether the same bytes can be sent again, after a redirect or for a retry.
    public var isReplayable: Bool {
        switch self {
        case .none, .data, .file: true
        case .stream(let stream): stream.isReplayable
        }
    }

    /// A Boolean value that indicates whether there is no body. A body with empty data counts as a body.
    public var isNone: Bool {
        if case .none = self { true } else { false }
    }
}

/// A request's body as a stream of chunks. The transport requests each chunk when it has sent the previous one.
public struct RequestBodyStream: Sendable {
    /// The total number of bytes, if known. If the stream yields fewer or more bytes, the exchange fails.
    public let length: Int64?
    /// A Boolean value that indicates whether the chunks can be produced again.
    public let isReplayable: Bool
    /// A Boolean value that indicates whether chunks can depend on the response, so that the transport must send the body while it receives
    /// the response. The default is false. Such a body requires the feature ``TransportCapabilities/Features/duplex``. When the response is
    /// complete, the rest of the body isn't sent. While no chunk is available, the idle timeout doesn't run.
    public var isDuplex = false
    /// Returns the fields to send after the last chunk. The default is nil, which sends no trailer fields.
    ///
    /// A body with trailer fields requires the feature ``TransportCapabilities/Features/requestTrailers``. It is sent without
    /// `Content-Length`.
    public var trailers: Trailers?
    private let makeReader: @Sendable () -> Reader
    private let wasRead = Locked(false)

    /// A function that returns the next chunk on each call, and nil at the end. If the function throws an error, the exchange
    /// fails with that error as the cause.
    public typealias Reader = @Sendable () async throws -> Data?

    /// A function that returns trailer fields (RFC 9110, section 6.5). It is called once each time the body is sent, after the reader has
    /// returned nil. If the function throws an error, or returns a field that isn't permitted in trailers, the exchange fails. For
    /// example, `Content-Length` and `Authorization` aren't permitted.
    public typealias Trailers = @Sendable () async throws -> HTTPFields

    /// Creates a body from a function that returns a new reader each time the body is sent.
    ///
    /// - Parameters:
    ///   - length: The total number of bytes; nil, or a negative number, if it is unknown.
    ///   - isReplayable: Whether `makeReader` returns the same bytes when called again.
    ///   - makeReader: Called once each time the body is sent. The reader is called by one task at a time.
    public init(length: Int64? = nil, isReplayable: Bool, makeReader: @escaping @Sendable () -> Reader) {
        self.length = length.flatMap { $0 >= 0 ? $0 : nil }
        self.isReplayable = isReplayable
        self.makeReader = makeReader
    }

    /// Returns a reader that starts at the first chunk. If the chunks can't be produced again, a second reader throws.
    public func reader() -> Reader { claim()() }

    /// Claims the stream for sending and returns a function that creates its reader.
    ///
    /// The returned function calls user code, which can take any amount of time. This method itself calls no user code, so you
    /// can call it under a lock.
    func claim() -> @Sendable () -> Reader {
        let wasRead = wasRead.withLock { Swift.exchange(&$0, with: true) }
        guard wasRead, !isReplayable else { return makeReader }
        return { { throw TransportError.bodyIsSpent } }
    }

    /// Whether the stream has been read and can't be read again.
    package var isSpent: Bool { !isReplayable && wasRead.withLock { $0 } }
}

extension TransportError {
    package static let bodyIsSpent = TransportError(
        .requestBodyFailed, phase: .sending, url: nil,
        message: "the body is a stream that has been read before, so it cannot be sent again")
}

extension RequestBodyStream {
    /// Creates a body from an input stream. The body can be sent once.
    ///
    /// The stream is opened for the first chunk, and closed after the last one or when sending ends early. Reads can block, so
    /// they run on a separate queue, never on the threads that tasks share.
    ///
    /// - Parameters:
    ///   - stream: The stream. Don't read from it elsewhere.
    ///   - length: The number of bytes in the stream; nil, or a negative number, if it is unknown.
    public init(_ stream: InputStream, length: Int64? = nil) {
        // Safe because the caller gives up the stream, and there is only one reader.
        nonisolated(unsafe) let stream = stream
        self.init(length: length, isReplayable: false) {
            let source = InputStreamSource(stream)
            return { try await source.read() }
        }
    }

    /// Creates a body from a sequence of chunks. Each chunk is requested when the previous one has been sent.
    ///
    /// - Parameters:
    ///   - chunks: The sequence. An error that it throws ends the request.
    ///   - length: The total number of bytes; nil, or a negative number, if it is unknown.
    ///   - isReplayable: Whether iterating the sequence again produces the same bytes. The default is false.
    public init<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, length: Int64? = nil, isReplayable: Bool = false
    ) where Chunks.Element == Data {
        self.init(length: length, isReplayable: isReplayable) {
            let source = SequenceSource(chunks.makeAsyncIterator())
            return { try await source.iterator.next() }
        }
    }
}

/// An iterator that is used by one task at a time.
private final class SequenceSource<Iterator: AsyncIteratorProtocol>: @unchecked Sendable {
    // Sendable because only one task at a time calls a reader.
    var iterator: Iterator

    init(_ iterator: Iterator) { self.iterator = iterator }
}

/// An input stream that is read on a separate queue.
private final class InputStreamSource: @unchecked Sendable {
    // Sendable because the stream is used only on the queue.
    private static let chunkSize = 256 * 1024

    private let stream: InputStream
    private let queue = DispatchQueue(label: "afar.upload.stream", qos: .utility)

    init(_ stream: InputStream) { self.stream = stream }

    deinit { stream.close() }

    func read() async throws -> Data? {
        try await withUnsafeThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try self.readChunk() }) }
        }
    }

    private func readChunk() throws -> Data? {
        // A closed stream has already been sent.
        guard stream.streamStatus != .closed else { throw TransportError.bodyIsSpent }
        if stream.streamStatus == .notOpen { stream.open() }
        var chunk = Data(count: Self.chunkSize)
        do {
            let count = try chunk.withUnsafeMutableBytes { try stream.read(into: $0) }
            if count > 0 { return chunk.prefix(count) }
        } catch {
            stream.close()
            throw error
        }
        stream.close()
        return nil
    }
}

extension InputStream {
    /// Reads bytes into a buffer. Returns the number of bytes, or 0 at the end.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard let start = buffer.baseAddress else { return 0 }
        let count = read(start.assumingMemoryBound(to: UInt8.self), maxLength: buffer.count)
        // A custom stream can return an invalid count.
        guard (0...buffer.count).contains(count) else { throw readFailure }
        return count
    }

    /// The reason why reading failed.
    private var readFailure: any Error {
        #if canImport(Darwin)
            return streamError ?? CocoaError(.fileReadUnknown)
        #else
            // On Linux, `streamError` of Foundation's own streams crashes the process.
            let canHaveError = type(of: self) != InputStream.self
            return (canHaveError ? streamError : nil) ?? CocoaError(.fileReadUnknown)
        #endif
    }
}
