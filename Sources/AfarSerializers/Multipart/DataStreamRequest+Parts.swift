public import AfarCore
public import AfarMultipart
public import Foundation

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
    /// - Parameter limits: The limits on the body.
    /// - Returns: A sequence that throws the request's `AFError`, or a ``MultipartError``.
    public func parts(limits: MultipartLimits = MultipartLimits()) -> MultipartParts<Chunks> {
        MultipartParts(
            Chunks(stream: streamTask().streamingData()),
            contentType: self.response?.headers["Content-Type"] ?? "", limits: limits)
    }

    /// The chunks of a response as they arrive. The sequence throws the request's `AFError`.
    public struct Chunks: AsyncSequence, Sendable {
        fileprivate let stream: DataStreamTask.Stream<Data, Never>

        /// Creates an iterator.
        public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator()) }

        /// Reads the chunks.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var base: DataStreamTask.Stream<Data, Never>.AsyncIterator
            private var hasEnded = false

            fileprivate init(base: DataStreamTask.Stream<Data, Never>.AsyncIterator) { self.base = base }

            /// Returns the next chunk, or nil at the end of the response.
            public mutating func next() async throws -> Data? {
                guard !hasEnded else { return nil }
                // Without a completion, the task was canceled.
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
