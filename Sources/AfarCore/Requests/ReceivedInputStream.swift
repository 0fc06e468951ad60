public import Foundation

/// The reading end of a ``BlockingBuffer``.
final class ReceivedInputStream: InputStream {
    private let buffer: BlockingBuffer
    private var status = Stream.Status.notOpen
    private weak var listener: (any StreamDelegate)?

    init(reading buffer: BlockingBuffer) {
        self.buffer = buffer
        super.init(data: Data())
    }

    deinit { buffer.close() }

    override func read(_ bytes: UnsafeMutablePointer<UInt8>, maxLength: Int) -> Int {
        guard status == .open else { return status == .atEnd ? 0 : -1 }
        let count = buffer.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: max(0, maxLength)))
        if count == 0, maxLength > 0 { status = .atEnd }
        if count < 0 { status = .error }
        return count
    }

    override func getBuffer(
        _ bytes: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool { false }

    override var hasBytesAvailable: Bool { status == .open }
    override var streamStatus: Stream.Status { status }
    override var streamError: (any Error)? { status == .error ? buffer.error : nil }

    override func open() {
        if status == .notOpen { status = .open }
    }

    override func close() {
        status = .closed
        buffer.close()
    }

    override var delegate: (any StreamDelegate)? {
        get { listener }
        set { listener = newValue }
    }

}

extension DataStreamRequest {
    /// Starts the request and returns its body as an input stream, for APIs that read from one.
    ///
    /// Reading blocks until bytes arrive, so don't read in a task or on a queue that the request needs. Closing or releasing
    /// the stream before its end cancels the request. The stream's `streamError` reports errors. Don't use a retrier that
    /// retries after bytes have arrived. Otherwise, the stream delivers these bytes and then the whole new body.
    ///
    /// - Parameter bufferSize: The number of bytes to buffer, in addition to one chunk. When the buffer is full, reading from the
    ///   server pauses. The default is 1,024.
    public func asInputStream(bufferSize: Int = 1024) -> InputStream? {
        let buffer = BlockingBuffer(highWaterMark: bufferSize) { [weak self] in self?.cancel() }
        chunks.append(StreamSink.Consumer { chunk in await buffer.append(chunk) })
        addHandler(Completion.init(of:)) { buffer.finish($0.error) }
        resume()
        return ReceivedInputStream(reading: buffer)
    }
}

/// A buffer that passes bytes from a task to a thread. The task waits while the buffer is full. The thread blocks while the
/// buffer is empty.
final class BlockingBuffer: Sendable {
    private struct State {
        var chunks: [Data] = []
        var byteCount = 0
        var isAtEnd = false
        var isClosed = false
        var error: (any Error)?
        var isReaderWaiting = false
        var writer: UnsafeContinuation<Void, Never>?

        mutating func takeWriter() -> UnsafeContinuation<Void, Never>? { writer.take() }

        mutating func takeReader() -> Bool { Swift.exchange(&isReaderWaiting, with: false) }

        mutating func read(into bytes: UnsafeMutableRawBufferPointer) -> Int {
            var filled = 0
            while filled < bytes.count, let chunk = chunks.first {
                let count = min(bytes.count - filled, chunk.count)
                chunk.copyBytes(to: UnsafeMutableRawBufferPointer(rebasing: bytes[filled...]), count: count)
                filled += count
                if count == chunk.count { chunks.removeFirst() } else { chunks[0] = chunk.dropFirst(count) }
            }
            byteCount -= filled
            return filled
        }
    }

    private let state = Locked(State())
    private let arrival = DispatchSemaphore(value: 0)
    private let highWaterMark: Int
    private let onClose: @Sendable () -> Void

    init(highWaterMark: Int, onClose: @escaping @Sendable () -> Void) {
        self.highWaterMark = max(1, highWaterMark)
        self.onClose = onClose
    }

    /// The writer's final error.
    var error: (any Error)? { state.withLock { $0.error } }

    /// Adds bytes and waits until the buffer is below the high-water mark or the task is canceled.
    func append(_ chunk: Data) async {
        let mustSignal = state.withLock { state in
            guard !state.isClosed, !chunk.isEmpty else { return false }
            state.chunks.append(chunk)
            state.byteCount += chunk.count
            return state.takeReader()
        }
        if mustSignal { arrival.signal() }
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.byteCount >= highWaterMark, !state.isClosed, !Task.isCancelled else { return false }
                    state.writer = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.takeWriter() }?.resume()
        }
    }

    /// Called by the writer at the end of the data. The error is nil if the data is complete.
    func finish(_ error: (any Error)?) {
        let mustSignal = state.withLock { state in
            state.isAtEnd = true
            state.error = error
            return state.takeReader()
        }
        if mustSignal { arrival.signal() }
    }

    /// Blocks until bytes are available. Returns the number of bytes, 0 at the end, or −1 after an error.
    func read(into bytes: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let (chunks, count, writer) = state.withLock { state -> ([Data], Int?, UnsafeContinuation<Void, Never>?) in
                let chunks = state.chunks
                let count = state.read(into: bytes)
                if count > 0 || bytes.isEmpty {
                    return (chunks, count, state.byteCount < highWaterMark ? state.takeWriter() : nil)
                }
                if state.isAtEnd || state.isClosed { return ([], state.error == nil ? 0 : -1, nil) }
                state.isReaderWaiting = true
                return ([], nil, nil)
            }
            withExtendedLifetime(chunks) {}
            writer?.resume()
            if let count { return count }
            arrival.wait()
        }
    }

    /// Called by the reader when it stops reading.
    func close() {
        let (isEarly, dropped, mustSignal, writer) = state.withLock { state in
            let isEarly = !state.isClosed && !state.isAtEnd
            state.isClosed = true
            state.byteCount = 0
            return (isEarly, Swift.exchange(&state.chunks, with: []), state.takeReader(), state.takeWriter())
        }
        withExtendedLifetime(dropped) {}
        if mustSignal { arrival.signal() }
        writer?.resume()
        if isEarly { onClose() }
    }
}
