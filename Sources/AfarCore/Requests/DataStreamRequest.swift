public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A request whose response is delivered as it arrives and is never stored.
///
/// The next chunk is read after all handlers have processed the previous one. A slow handler therefore slows down the server,
/// if the transport supports this. Validators check the response's head before the first chunk is delivered. If a retrier
/// retries in the middle of a body, the new body is delivered from its first byte.
public final class DataStreamRequest: Request, @unchecked Sendable {
    // Sendable because its own properties are constants.

    /// A Boolean value that indicates whether the request is cancelled when a serializer throws. If a handler throws, it always
    /// is.
    public let automaticallyCancelOnStreamError: Bool
    let chunks = StreamSink()

    init(
        convertible: any URLRequestConvertible,
        automaticallyCancelOnStreamError: Bool,
        session: SessionState,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?
    ) {
        self.automaticallyCancelOnStreamError = automaticallyCancelOnStreamError
        super.init(
            convertible: convertible, sink: chunks, session: session, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, countsBytes: true)
    }
}

extension DataStreamRequest {
    /// A closure that receives the events of a stream, one at a time.
    ///
    /// If it throws an error, the request is cancelled and fails with
    /// ``AFError/ResponseSerializationFailureReason/customSerializationFailed(error:)``. Only the completion is delivered after
    /// that.
    public typealias Handler<Success, Failure: Error> = @Sendable (Stream<Success, Failure>) throws -> Void

    /// An event of a stream, with a way to cancel the request.
    public struct Stream<Success, Failure: Error> {
        /// The event.
        public let event: Event<Success, Failure>
        /// Cancels the request.
        public let token: CancellationToken

        /// Cancels the request.
        public func cancel() { token.cancel() }
    }

    /// An event of a stream.
    public enum Event<Success, Failure: Error> {
        /// A chunk arrived. Contains its value, or the error if it couldn't be serialized.
        case stream(Result<Success, Failure>)
        /// The request has finished. No other event follows.
        case complete(Completion)
    }

    /// The end of a streamed response or a WebSocket.
    public struct Completion: Sendable {
        /// The request that was sent, after adaptation.
        public let request: URLRequest?
        /// The metrics of the last attempt.
        public let metrics: TaskMetrics?
        /// The error that ended the request, or nil if the whole body arrived or the WebSocket was closed.
        public let error: AFError?
        private let head: ResponseHead?

        /// The response's head.
        public var response: HTTPURLResponse? { head?.httpURLResponse }

        init(of request: Request) {
            self.init(
                request: request.request, metrics: request.metrics, error: request.completionError,
                head: request.responseHead)
        }

        private init(request: URLRequest?, metrics: TaskMetrics?, error: AFError?, head: ResponseHead?) {
            self.request = request
            self.metrics = metrics
            self.error = error
            self.head = head
        }
    }

    /// Cancels a request without retaining it.
    public struct CancellationToken: Sendable {
        private weak let request: DataStreamRequest?

        init(_ request: DataStreamRequest?) { self.request = request }

        /// Cancels the request, which fails with ``AFError/explicitlyCancelled``.
        public func cancel() { request?.cancel() }
    }
}

extension DataStreamRequest.Stream: Sendable where Success: Sendable {}
extension DataStreamRequest.Event: Sendable where Success: Sendable {}

extension DataStreamRequest.Stream {
    /// The value or error of a chunk, or nil if the event isn't a chunk.
    public var result: Result<Success, Failure>? {
        if case .stream(let result) = event { result } else { nil }
    }

    /// The value of a chunk, or nil if the event isn't a chunk or couldn't be serialized.
    public var value: Success? { result?.value }

    /// The error of a chunk, or nil if the event isn't a chunk or has a value.
    public var error: Failure? { result?.error }

    /// The end of the request, or nil if the event is a chunk.
    public var completion: DataStreamRequest.Completion? {
        if case .complete(let completion) = event { completion } else { nil }
    }
}

extension DataStreamRequest.Completion: SettledResponse {
    func failing(with error: AFError) -> Self {
        Self(request: request, metrics: metrics, error: error, head: head)
    }
}

extension DataStreamRequest {
    /// Adds a handler that receives the chunks as they arrive.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the handler is called. The default is the main queue. If the program blocks its main
    ///     thread, the handler is never called and the request waits.
    ///   - stream: Called for each chunk, and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStream(
        on queue: DispatchQueue = .main, stream: @escaping Handler<Data, Never>
    ) -> Self {
        addHandler(.plain, on: queue, stream)
        return self
    }

    /// Adds a handler that receives values that a parser reads from the body, independently of the boundaries of its chunks, as in
    /// `.response(.jsonLines(of: Entry.self)) { … }`.
    ///
    /// - Parameters:
    ///   - parser: Creates values from chunks. Use the factory method of a format.
    ///   - queue: The queue on which the handler is called. The default is the main queue.
    ///   - stream: Called for each value and each parsing error, and once at the end.
    @preconcurrency
    @discardableResult
    public func response<Parser: DataStreamParser>(
        _ parser: Parser,
        on queue: DispatchQueue = .main,
        stream: @escaping Handler<Parser.Value, AFError>
    ) -> Self {
        responseStream(using: parser, on: queue, stream: stream)
    }

    /// Adds a handler that receives a value for each chunk.
    ///
    /// - Parameters:
    ///   - serializer: Creates a value from each chunk separately, on the session's serialization queue if there is one,
    ///     otherwise in the request's task.
    ///   - queue: The queue on which the handler is called. The default is the main queue.
    ///   - stream: Called for each chunk, and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStream<Serializer: DataStreamSerializer>(
        using serializer: Serializer,
        on queue: DispatchQueue = .main,
        stream: @escaping Handler<Serializer.SerializedObject, AFError>
    ) -> Self {
        addHandler(Parser(serializer), on: queue, stream)
        return self
    }

    /// Adds a handler that receives values that a parser reads from the body, independently of the boundaries of its chunks.
    ///
    /// - Parameters:
    ///   - parser: Creates values from chunks, on the session's serialization queue if there is one, otherwise in the request's
    ///     task. Each body is parsed by its own copy.
    ///   - queue: The queue on which the handler is called. The default is the main queue.
    ///   - stream: Called for each value and each parsing error, and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStream<Parser: DataStreamParser>(
        using parser: Parser,
        on queue: DispatchQueue = .main,
        stream: @escaping Handler<Parser.Value, AFError>
    ) -> Self {
        addHandler(DataStreamRequest.Parser(parser), on: queue, stream)
        return self
    }
}
