public import AfarCore
public import AfarMultipart
import AfarTransport
public import Foundation
import Synchronization

extension DataStreamRequest {
    /// Returns the parts of a multipart response (RFC 2046, section 5.1), such as `multipart/mixed` or `multipart/byteranges`.
    ///
    /// ```swift
    /// for try await part in AF.streamRequest("https://api.example.com/batch").validate().parts() {
    ///     print(part.header["Content-Type"] ?? "-", try await part.data(upTo: 100_000).count)
    /// }
    /// ```
    ///
    /// Parts are read as they arrive, so a slow reader slows down the server. Leaving the loop cancels the request.
    ///
    /// The sequence ends at the last delimiter. The bytes that follow it are ignored (RFC 2046, section 5.1.1). If the response hasn't ended a
    /// second later, the request is canceled.
    ///
    /// - Parameter limits: The limits on the body.
    /// - Returns: A sequence that throws the request's `AFError`, or a ``MultipartError``.
    public func parts(limits: MultipartLimits = MultipartLimits()) -> MultipartParts<Chunks> {
        let rest = Rest()
        return MultipartParts(
            Chunks(stream: streamTask().streamingData(automaticallyCancelling: false), request: self, rest: rest),
            contentType: { self.response?.headers["Content-Type"] ?? "" }, limits: limits,
            onLastDelimiter: { rest.isUnneeded.store(true, ordering: .relaxed) })
    }

    /// Stores whether the last delimiter has been read, so that the rest of the response isn't needed.
    fileprivate final class Rest: Sendable {
        let isUnneeded = Atomic(false)
    }

    /// Ends the request when its chunks are no longer read.
    fileprivate final class Reading: Sendable {
        private let request: DataStreamRequest
        private let rest: Rest

        init(_ request: DataStreamRequest, _ rest: Rest) { (self.request, self.rest) = (request, rest) }

        deinit {
            guard rest.isUnneeded.load(ordering: .relaxed) else {
                request.cancel()
                return
            }
            // Usually, only a line end follows. Waits a second for it, because the connection can be reused only after a complete response.
            DelayedCall.queue.asyncAfter(deadline: .now() + 1) { [weak request] in request?.cancel() }
        }
    }

    /// The chunks of a response as they arrive. The sequence throws the request's `AFError`.
    public struct Chunks: AsyncSequence, Sendable {
        fileprivate let stream: DataStreamTask.Stream<Data, Never>
        fileprivate let request: DataStreamRequest
        fileprivate let rest: Rest

        /// Creates an iterator.
        public func makeAsyncIterator() -> Iterator {
            Iterator(base: stream.makeAsyncIterator(), reading: Reading(request, rest))
        }

        /// Reads the chunks.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var base: DataStreamTask.Stream<Data, Never>.AsyncIterator
            private let reading: Reading
            private var hasEnded = false

            fileprivate init(base: DataStreamTask.Stream<Data, Never>.AsyncIterator, reading: Reading) {
                (self.base, self.reading) = (base, reading)
            }

            /// Returns the next chunk, or nil at the end of the response.
            public mutating func next() async throws -> Data? {
                guard !hasEnded else { return nil }
                // If the stream ends without a completion, the task was canceled.
                guard let event = await base.next()?.event else { throw AFError.explicitlyCancelled }
                switch event {
                case .stream(.success(let data)): return data
                case .complete(let completion):
                    hasEnded = true
                    if let error = completion.error { throw error }
                    return nil
                }
            }
        }
    }
}
