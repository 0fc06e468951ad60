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
    /// Starts the request, and gives its body as an input stream, for code that reads such.
    ///
    /// Reading blocks until bytes are there, so it must not happen in a task or on a queue that the request needs. Closing
    /// or dropping the stream before its end cancels the request. An error shows as the stream's `streamError`. A request
    /// that is tried again when bytes have come brings them again, after those; so give it no retrier that does that.
    ///
    /// - Parameter bufferSize: The bytes that may wait to be read, besides one chunk; the server is held back beyond that.
    ///   The default is 1,024.
    public func asInputStream(bufferSize: Int = 1024) -> InputStream? {
        let buffer = BlockingBuffer(highWaterMark: bufferSize) { [weak self] in self?.cancel() }
        chunks.append(StreamSink.Consumer { chunk in await buffer.put(chunk) })
        addHandler(Completion.init(of:)) { buffer.finish($0.error) }
        resume()
        return ReceivedInputStream(reading: buffer)
    }
}
