public import Foundation

/// A response's body as chunks of decoded bytes, for a single reader that reads the chunks as they arrive.
///
/// If the reader is slow, the transport stops reading from the network, as far as its capabilities permit. Canceling the reading
/// task, calling ``cancel()`` or releasing the stream ends the exchange.
public final class ResponseBodyStream: AsyncSequence, Sendable {
    /// A chunk. It is never empty.
    public typealias Element = Data

    private let channel: Channel
    private let precedingReport = Locked<TransportReport?>(nil)

    private init(channel: Channel) {
        self.channel = channel
    }

    deinit { channel.cancel() }

    /// Ends the exchange. The reader receives ``TransportError/Code-swift.struct/cancelled``.
    public func cancel() { channel.cancel() }

    /// Waits until the exchange has ended, and returns its report.
    public func report() async -> TransportReport {
        let report = await channel.report()
        guard var combined = precedingReport.withLock({ $0 }) else { return report }
        combined.append(report)
        return combined
    }

    /// Prepends a report of what happened before the exchange that produced this body.
    package func prependReport(_ report: TransportReport) {
        precedingReport.withLock { precedingReport in
            var combined = report
            if let precedingReport { combined.append(precedingReport) }
            precedingReport = combined
        }
    }

    /// Copies the whole body while it is read. Call this method before reading begins.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of bytes. A longer body isn't copied.
    ///   - receive: Called once, when the whole body has arrived. Never called if the body is cut off.
    public func copy(upTo limit: Int, to receive: @escaping @Sendable (Data) -> Void) {
        channel.copy(upTo: limit, to: receive)
    }

    /// Returns an iterator that reads the stream. Only one iterator can read at a time.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }

    /// The iterator of a response's body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let stream: ResponseBodyStream

        /// Returns the next chunk, or nil at the end of the body.
        ///
        /// - Throws: A ``TransportError`` if the body is cut off or the exchange is canceled.
        public mutating func next() async throws -> Data? {
            try await stream.channel.next()
        }
    }

    /// The writing side of a stream.
    public struct Source: Sendable {
        fileprivate let channel: Channel

        /// A Boolean value that indicates whether the stream is full. If it is, stop reading from the network until `onDemand` is called.
        public var isFull: Bool { channel.isFull }

        /// Adds a chunk, even if the stream is full.
        public func yield(_ chunk: Data) { channel.yield(chunk) }

        /// Ends the body. Only the first call has an effect.
        public func finish(throwing error: TransportError?, report: TransportReport) {
            channel.finish(throwing: error, report: report)
        }
    }

    /// Creates a stream and its writing side.
    ///
    /// - Parameters:
    ///   - highWaterMark: The number of unread bytes at which the stream is full.
    ///   - onDemand: Called when a stream that reported being full has been read down to half of `highWaterMark`.
    ///   - onCancel: Called at most once, when the reader cancels the stream. Call `finish` soon after.
    public static func make(
        highWaterMark: Int,
        onDemand: @escaping @Sendable () -> Void,
        onCancel: @escaping @Sendable () -> Void
    ) -> (stream: ResponseBodyStream, source: Source) {
        let channel = Channel(highWaterMark: highWaterMark, onDemand: onDemand, onCancel: onCancel)
        return (ResponseBodyStream(channel: channel), Source(channel: channel))
    }
}

extension ResponseBodyStream {
    /// The state that the reader and the writer share.
    fileprivate final class Channel: Sendable {
        private struct State {
            var chunks: [Data] = []
            var firstChunk = 0
            var waitingBytes = 0
            var wasFull = false
            var isCancelled = false
            /// Whether the whole body has arrived. The reader reaches the end only after the body has been copied.
            var isComplete = false
            var end: Result<Void, TransportError>?
            var report: TransportReport?
            var reader: UnsafeContinuation<Data?, any Error>?
            var reportReaders: [UnsafeContinuation<TransportReport, Never>] = []
            var copy: BodyCopy?

            mutating func takeChunk() -> Data? {
                guard firstChunk < chunks.count else { return nil }
                let chunk = chunks[firstChunk]
                chunks[firstChunk] = Data()
                firstChunk += 1
                // Free the slots of chunks that have been read, even if the reader never catches up.
                if firstChunk > chunks.count / 2 {
                    chunks.removeFirst(firstChunk)
                    firstChunk = 0
                }
                waitingBytes -= chunk.count
                return chunk
            }
        }

        private let state = Locked(State())
        private let highWaterMark: Int
        private let onDemand: @Sendable () -> Void
        private let onCancel: @Sendable () -> Void

        init(highWaterMark: Int, onDemand: @escaping @Sendable () -> Void, onCancel: @escaping @Sendable () -> Void) {
            self.highWaterMark = Swift.max(1, highWaterMark)
            self.onDemand = onDemand
            self.onCancel = onCancel
        }

        var isFull: Bool {
            state.withLock { state in
                guard state.waitingBytes >= highWaterMark, state.end == nil else { return false }
                state.wasFull = true
                return true
            }
        }

        func yield(_ chunk: Data) {
            guard !chunk.isEmpty else { return }
            let reader = state.withLock { state -> UnsafeContinuation<Data?, any Error>? in
                guard state.end == nil else { return nil }
                state.copy?.append(chunk)
                if let reader = state.reader {
                    state.reader = nil
                    return reader
                }
                state.chunks.append(chunk)
                state.waitingBytes += chunk.count
                return nil
            }
            reader?.resume(returning: chunk)
        }

        func finish(throwing error: TransportError?, report: TransportReport) {
            // Complete the copy before the reader reaches the end.
            let copy = state.withLock { state -> BodyCopy? in
                guard state.end == nil else { return nil }
                state.isComplete = error == nil
                return state.copy.take()
            }
            if error == nil { copy?.end() }
            typealias Waiting = (UnsafeContinuation<Data?, any Error>?, [UnsafeContinuation<TransportReport, Never>])
            let (reader, reportReaders) = state.withLock { state -> Waiting in
                guard state.report == nil else { return (nil, []) }
                state.report = report
                if state.end == nil { state.end = error.map { .failure($0) } ?? .success(()) }
                return (state.reader.take(), Swift.exchange(&state.reportReaders, with: []))
            }
            if let error { reader?.resume(throwing: error) } else { reader?.resume(returning: nil) }
            for reportReader in reportReaders { reportReader.resume(returning: report) }
        }

        func copy(upTo limit: Int, to receive: @escaping @Sendable (Data) -> Void) {
            let complete = state.withLock { state -> BodyCopy? in
                var copy = BodyCopy(limit: limit, receive: receive)
                for chunk in state.chunks { copy.append(chunk) }
                switch state.end {
                case nil where !state.isComplete: state.copy = copy
                case nil, .success: return copy
                case .failure: break
                }
                return nil
            }
            complete?.end()
        }

        func cancel() {
            typealias Ended = (isRunning: Bool, dropped: [Data], UnsafeContinuation<Data?, any Error>?)
            let (isRunning, dropped, reader) = state.withLock { state -> Ended in
                let isRunning = state.end == nil
                guard !state.isCancelled, isRunning || state.waitingBytes > 0 else { return (false, [], nil) }
                state.isCancelled = true
                state.end = .failure(.streamCancelled)
                state.firstChunk = 0
                state.waitingBytes = 0
                return (isRunning, Swift.exchange(&state.chunks, with: []), state.reader.take())
            }
            withExtendedLifetime(dropped) {}
            reader?.resume(throwing: TransportError.streamCancelled)
            if isRunning { onCancel() }
        }

        func next() async throws -> Data? {
            try await withTaskCancellationHandler {
                try await withUnsafeThrowingContinuation { continuation in
                    let (answer, hasDemand) = state.withLock { state -> (Result<Data?, any Error>?, Bool) in
                        if let chunk = state.takeChunk() {
                            let hasDemand = state.wasFull && state.waitingBytes <= highWaterMark / 2
                            if hasDemand { state.wasFull = false }
                            return (.success(chunk), hasDemand)
                        }
                        if let end = state.end {
                            return (end.map { nil }.mapError { $0 }, false)
                        }
                        guard state.reader == nil else { return (.failure(TransportError.secondReader), false) }
                        state.reader = continuation
                        return (nil, false)
                    }
                    if let answer { continuation.resume(with: answer) }
                    if hasDemand { onDemand() }
                }
            } onCancel: {
                cancel()
            }
        }

        func report() async -> TransportReport {
            await withUnsafeContinuation { continuation in
                let report = state.withLock { state -> TransportReport? in
                    if state.report == nil { state.reportReaders.append(continuation) }
                    return state.report
                }
                if let report { continuation.resume(returning: report) }
            }
        }
    }
}

/// A copy of the part of a body that has arrived.
private struct BodyCopy {
    let limit: Int
    let receive: @Sendable (Data) -> Void
    /// Nil if the body exceeds the limit.
    private var data: Data? = Data()

    init(limit: Int, receive: @escaping @Sendable (Data) -> Void) {
        self.limit = limit
        self.receive = receive
    }

    mutating func append(_ chunk: Data) {
        guard let count = data?.count else { return }
        if count + chunk.count <= limit { data?.append(chunk) } else { data = nil }
    }

    func end() { if let data { receive(data) } }
}

extension TransportError {
    fileprivate static let streamCancelled = TransportError(
        .cancelled, phase: .receiving, url: nil, message: "reading the body was cancelled")
    fileprivate static let secondReader = TransportError(
        .invalidUse, phase: .receiving, url: nil, message: "two tasks read the same response body at once")
}
