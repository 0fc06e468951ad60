public import Foundation

extension Session {
    /// Creates a request that sends chunks while it receives the response. The chunks can depend on the response, as in a
    /// bidirectional gRPC stream.
    ///
    /// ```swift
    /// let (questions, input) = AsyncStream.makeStream(of: Data.self)
    /// let request = session.streamRequest(sending: questions, to: "https://example.com/chat")
    /// input.yield(Data("Hello?".utf8))
    /// for await answer in request.streamTask().streamingData() {
    ///     if case .stream(.success(let data)) = answer.event { input.yield(reply(to: data)) }
    ///     …
    /// }
    /// ```
    ///
    /// The next chunk is requested when the previous chunk has been sent. The next part of the response is read when the
    /// handlers have processed the previous part. While the sequence has no chunk, the idle timeout doesn't run. When the
    /// response is complete, the request ends, and the rest of the body isn't sent.
    ///
    /// Over HTTP/1.1, many servers and proxies read the whole body before they respond. Use HTTP/2 if the response must begin earlier. A
    /// transport without the feature ``TransportCapabilities/Features/duplex`` can't send the request, which then fails with
    /// ``TransportError/Code-swift.struct/unsupportedByTransport``.
    ///
    /// - Parameters:
    ///   - chunks: The body, which is iterated once. If the sequence throws an error, the request fails.
    ///   - trailers: Returns the fields to send after the last chunk. See ``RequestBodyStream/trailers``. The default is nil, which
    ///     sends no trailer fields.
    ///   - convertible: The URL.
    ///   - method: The method. The default is POST.
    ///   - headers: The headers. The default is nil.
    ///   - automaticallyCancelOnStreamError: Whether an error that a handler throws cancels the request. The default is false.
    ///   - interceptor: The request's interceptor. The default is nil.
    ///   - shouldAutomaticallyResume: Whether the first handler starts the request. The default is nil, which uses the session's setting.
    ///   - requestModifier: A closure that changes the `URLRequest`. The default is nil.
    public func streamRequest<Chunks: AsyncSequence & Sendable>(
        sending chunks: Chunks,
        trailers: (@Sendable () async throws -> HTTPHeaders)? = nil,
        to convertible: any URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataStreamRequest where Chunks.Element == Data {
        streamRequest(
            sending: chunks, trailers: trailers,
            with: ParameterizedRequest(url: convertible, method: method, headers: headers, modifier: requestModifier),
            automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// Creates a request from a value that can be converted to a `URLRequest`. The request sends chunks while it receives the response.
    ///
    /// See
    /// ``streamRequest(sending:trailers:to:method:headers:automaticallyCancelOnStreamError:interceptor:shouldAutomaticallyResume:requestModifier:)``.
    public func streamRequest<Chunks: AsyncSequence & Sendable>(
        sending chunks: Chunks,
        trailers: (@Sendable () async throws -> HTTPHeaders)? = nil,
        with convertible: any URLRequestConvertible,
        automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DataStreamRequest where Chunks.Element == Data {
        var body = RequestBodyStream(chunks, length: nil, trailers: trailers)
        body.isDuplex = true
        return setUp(
            DataStreamRequest(
                convertible: convertible,
                uploadBody: UploadBody(UploadRequest.Uploadable.chunks(body), .default),
                automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, session: state,
                interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume))
    }
}
