public import Foundation

/// A request's body: where its bytes come from, how many they are, and whether they can be sent again.
public enum RequestBody: Sendable {
    /// No body.
    case none
    /// Bytes in memory.
    case data(Data)
    /// A whole file, read while it is sent. Its length is taken when the exchange begins.
    case file(URL)
    /// Chunks made while they are sent.
    case stream(RequestBodyStream)

    /// The length in bytes, or nil when it is not known before the end (the body then goes out chunked).
    public var length: Int64? {
        switch self {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .file(let url):
            (try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber)?.int64Value
        case .stream(let stream): stream.length
        }
    }

    /// Whether the same bytes can be sent a second time, after a redirect or for a retry.
    public var isReplayable: Bool {
        switch self {
        case .none, .data, .file: true
        case .stream(let stream): stream.isReplayable
        }
    }

    /// Whether there is no body at all. An empty `.data` is a body (of no bytes).
    public var isNone: Bool {
        if case .none = self { true } else { false }
    }
}

/// Chunks of a request's body, pulled one at a time: the next is asked for when the transport has sent the one before.
public struct RequestBodyStream: Sendable {
    /// The number of bytes that the chunks add up to, if known. A stream that yields fewer or more fails the exchange.
    public let length: Int64?
    /// Whether the chunks can be made a second time.
    public let isReplayable: Bool
    private let makeReader: @Sendable () -> Reader
    private let wasRead = Locked(false)

    /// The next chunk at each call, nil at the end. An error ends the exchange and becomes its error's cause.
    public typealias Reader = @Sendable () async throws -> Data?

    /// Makes a body from a function that gives a reader for each time the body is sent.
    ///
    /// - Parameters:
    ///   - length: The total number of bytes; nil, or a negative number, when it is unknown.
    ///   - isReplayable: Whether `makeReader` gives the same bytes again when called again.
    ///   - makeReader: Called once for each sending. The reader is called by one task at a time.
    public init(length: Int64? = nil, isReplayable: Bool, makeReader: @escaping @Sendable () -> Reader) {
        self.length = length.flatMap { $0 >= 0 ? $0 : nil }
        self.isReplayable = isReplayable
        self.makeReader = makeReader
    }

    /// A reader that starts at the first chunk. If the chunks cannot be made a second time, a second reader throws.
    public func reader() -> Reader { claim()() }

    /// Takes the stream for a sending, and returns what makes its reader. That calls the owner's function, which may take
    /// as long as it likes; the claim itself calls nobody, so it may be made under a lock.
    package func claim() -> @Sendable () -> Reader {
        let wasRead = wasRead.withLock { Swift.exchange(&$0, with: true) }
        guard wasRead, !isReplayable else { return makeReader }
        return { { throw TransportError.bodyIsSpent } }
    }

    /// Whether it was read before, and cannot be read again.
    package var isSpent: Bool { !isReplayable && wasRead.withLock { $0 } }
}

extension TransportError {
    package static let bodyIsSpent = TransportError(
        .requestBodyFailed, phase: .sending, url: nil,
        message: "the body is a stream that has been read before, so it cannot be sent again")
}

extension RequestBodyStream {
    /// Makes a body of an input stream, which is opened at the first chunk and closed after the last, or when the sending
    /// ends before. It can be sent once.
    ///
    /// Reading may block, so it happens on a queue of its own, never in the threads that tasks share.
    ///
    /// - Parameters:
    ///   - stream: The stream; hand it over, nobody else may read it.
    ///   - length: The number of bytes that it holds; nil, or a negative number, when it is unknown.
    public init(_ stream: InputStream, length: Int64? = nil) {
        // Handed over, never shared: one reader is made.
        nonisolated(unsafe) let stream = stream
        self.init(length: length, isReplayable: false) {
            let source = InputStreamSource(stream)
            return { try await source.read() }
        }
    }

    /// Makes a body of a sequence of chunks; the next is asked for when the one before has been sent.
    ///
    /// - Parameters:
    ///   - chunks: The sequence. An error that it throws ends the request.
    ///   - length: The number of bytes in all; nil, or a negative number, when it is unknown.
    ///   - isReplayable: Whether iterating the sequence again gives the same bytes. The default is false.
    public init<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, length: Int64? = nil, isReplayable: Bool = false
    ) where Chunks.Element == Data {
        self.init(length: length, isReplayable: isReplayable) {
            let source = SequenceSource(chunks.makeAsyncIterator())
            return { try await source.iterator.next() }
        }
    }
}

/// An iterator that is asked for one chunk at a time.
private final class SequenceSource<Iterator: AsyncIteratorProtocol>: @unchecked Sendable {
    // Sendable because a reader is called by one task at a time.
    var iterator: Iterator

    init(_ iterator: Iterator) { self.iterator = iterator }
}

/// An input stream that is read on a queue of its own.
private final class InputStreamSource: @unchecked Sendable {
    // Sendable because the stream is touched on the queue only.
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
        // One that is closed was sent before, with another request.
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
    /// Fills a buffer. Returns how many bytes it put there, 0 at the end.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard let start = buffer.baseAddress else { return 0 }
        let count = read(start.assumingMemoryBound(to: UInt8.self), maxLength: buffer.count)
        // A stream of somebody's own may say anything.
        guard (0...buffer.count).contains(count) else { throw readFailure }
        return count
    }

    /// Why reading failed.
    private var readFailure: any Error {
        #if canImport(Darwin)
            return streamError ?? CocoaError(.fileReadUnknown)
        #else
            // Foundation's own streams end the process here when they are asked for their error.
            let mayTell = type(of: self) != InputStream.self
            return (mayTell ? streamError : nil) ?? CocoaError(.fileReadUnknown)
        #endif
    }
}
