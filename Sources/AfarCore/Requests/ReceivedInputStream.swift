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
    /// the stream before its end cancels the request. The stream's `streamError` reports errors. If a request is retried after
    /// bytes have arrived, the new body follows those bytes, so don't use a retrier that does that.
    ///
    /// - Parameter bufferSize: The number of bytes to buffer, in addition to one chunk. When the buffer is full, reading from
    ///   the server stops. The default is 1,024.
    public func asInputStream(bufferSize: Int = 1024) -> InputStream? {
        let buffer = BlockingBuffer(highWaterMark: bufferSize) { [weak self] in self?.cancel() }
        chunks.append(StreamSink.Consumer { chunk in await buffer.put(chunk) })
        addHandler(Completion.init(of:)) { buffer.finish($0.error) }
        resume()
        return ReceivedInputStream(reading: buffer)
    }
}
