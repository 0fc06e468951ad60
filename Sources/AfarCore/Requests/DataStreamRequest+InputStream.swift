public import Foundation

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
