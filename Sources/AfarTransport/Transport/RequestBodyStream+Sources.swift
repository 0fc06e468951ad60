public import Foundation

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
