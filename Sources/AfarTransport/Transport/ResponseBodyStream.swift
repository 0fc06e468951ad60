public import Foundation

/// A response's body while it arrives: chunks of decoded bytes, for one reader.
///
/// When the reader is slow the transport stops reading from the network, as far as its capabilities say so. Cancelling
/// the reading task, calling ``cancel()`` or dropping the stream ends the exchange.
public final class ResponseBodyStream: AsyncSequence, Sendable {
    /// A chunk; never empty.
    public typealias Element = Data

    private let channel: Channel
    private let before = Locked<TransportReport?>(nil)

    private init(channel: Channel) {
        self.channel = channel
    }

    deinit { channel.cancel() }

    /// Ends the exchange; the reader gets ``TransportError/Code-swift.struct/cancelled``.
    public func cancel() { channel.cancel() }

    /// Waits until the exchange has ended, and tells how it went.
    public func report() async -> TransportReport {
        let report = await channel.report()
        guard var whole = before.withLock({ $0 }) else { return report }
        whole.append(report)
        return whole
    }

    /// Adds what happened before the exchange that the body comes from.
    package func precede(by report: TransportReport) {
        before.withLock { before in
            var whole = report
            if let before { whole.append(before) }
            before = whole
        }
    }

    /// Has the whole body copied for somebody else while it is read. To be called before anybody reads.
    ///
    /// - Parameters:
    ///   - limit: How many bytes are copied at most: a body of more is not.
    ///   - receive: Called once, when the body has come whole; never when it breaks off.
    package func copy(upTo limit: Int, to receive: @escaping @Sendable (Data) -> Void) {
        channel.copy(upTo: limit, to: receive)
    }

    /// Reads the stream. Only one iterator may read at a time.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }

    /// The reader of a stream.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let stream: ResponseBodyStream

        /// The next chunk, nil at the end of the body.
        ///
        /// - Throws: A ``TransportError`` when the body breaks off or the exchange is cancelled.
        public mutating func next() async throws -> Data? {
            try await stream.channel.next()
        }
    }

    // MARK: For transports

    /// The writing side of a stream.
    public struct Source: Sendable {
        fileprivate let channel: Channel

        /// Whether the reader has enough to do: stop reading from the network until `onDemand` is called.
        public var isFull: Bool { channel.isFull }

        /// Adds a chunk. It is taken even when the stream is full.
        public func yield(_ chunk: Data) { channel.yield(chunk) }

        /// Ends the body. Only the first call counts.
        public func finish(throwing error: TransportError?, report: TransportReport) {
            channel.finish(throwing: error, report: report)
        }
    }

    /// Makes a stream and its writing side.
    ///
    /// - Parameters:
    ///   - highWaterMark: The number of waiting bytes from which the stream is full.
    ///   - onDemand: Called when a stream that was found full has been read down to half of `highWaterMark`.
    ///   - onCancel: Called, at most once, when the reader wants no more. Call `finish` soon after.
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
    /// What reader and writer share.
    fileprivate final class Channel: Sendable {
        private struct State {
            var chunks: [Data] = []
            var firstChunk = 0
            var waitingBytes = 0
            var wasFull = false
            var isCancelled = false
            /// Whether the whole body has arrived. Readers see the end after it has been copied.
            var isWhole = false
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
                // Also when the reader never catches up, the places of what it has read must not pile up.
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
            // Who has read the body to its end finds it copied.
            let copy = state.withLock { state -> BodyCopy? in
                guard state.end == nil else { return nil }
                state.isWhole = error == nil
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
            let whole = state.withLock { state -> BodyCopy? in
                var copy = BodyCopy(limit: limit, receive: receive)
                for chunk in state.chunks { copy.append(chunk) }
                switch state.end {
                case nil where !state.isWhole: state.copy = copy
                case nil, .success: return copy
                case .failure: break
                }
                return nil
            }
            whole?.end()
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
                    let (answer, wantsMore) = state.withLock { state -> (Result<Data?, any Error>?, Bool) in
                        if let chunk = state.takeChunk() {
                            let wantsMore = state.wasFull && state.waitingBytes <= highWaterMark / 2
                            if wantsMore { state.wasFull = false }
                            return (.success(chunk), wantsMore)
                        }
                        if let end = state.end {
                            return (end.map { nil }.mapError { $0 }, false)
                        }
                        guard state.reader == nil else { return (.failure(TransportError.secondReader), false) }
                        state.reader = continuation
                        return (nil, false)
                    }
                    if let answer { continuation.resume(with: answer) }
                    if wantsMore { onDemand() }
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

/// A copy of a body, as far as that has come.
private struct BodyCopy {
    let limit: Int
    let receive: @Sendable (Data) -> Void
    /// Nil when there was too much.
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
