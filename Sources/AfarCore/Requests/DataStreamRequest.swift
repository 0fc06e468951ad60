public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A request whose response is handed on while it arrives, and never held.
///
/// The next chunk is read when all handlers are done with the one before, so a slow handler holds the server back, where
/// the transport can do that. Validators look at the response's head, before the first chunk is handed on. A retry, if a
/// retrier asks for one in the middle, brings the body again from its first byte.
public final class DataStreamRequest: Request, @unchecked Sendable {
    // Sendable because what it adds never changes.

    /// Whether the request is cancelled when a serializer throws. (When a handler does, it always is.)
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
    /// Gets what happens on a stream, one call at a time. An error that it throws cancels the request, which fails with
    /// ``AFError/ResponseSerializationFailureReason/customSerializationFailed(error:)``, and only the completion is handed
    /// on after it.
    public typealias Handler<Success, Failure: Error> = @Sendable (Stream<Success, Failure>) throws -> Void

    /// What happened on a stream, and the means to end it.
    public struct Stream<Success, Failure: Error> {
        /// What happened.
        public let event: Event<Success, Failure>
        /// Ends the request.
        public let token: CancellationToken

        /// Ends the request.
        public func cancel() { token.cancel() }
    }

    /// What can happen on a stream.
    public enum Event<Success, Failure: Error> {
        /// A chunk arrived: its value, or why none could be made of it.
        case stream(Result<Success, Failure>)
        /// The request is over; nothing comes after this.
        case complete(Completion)
    }

    /// How a streamed response, or a WebSocket, ended.
    public struct Completion: Sendable {
        /// The request that was sent, as adapted.
        public let request: URLRequest?
        /// What was measured of the last attempt.
        public let metrics: TaskMetrics?
        /// What ended the request; nil when the whole body has come, or the WebSocket was closed.
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

    /// Ends a request, without keeping it.
    public struct CancellationToken: Sendable {
        private weak let request: DataStreamRequest?

        init(_ request: DataStreamRequest?) { self.request = request }

        /// Ends the request with ``AFError/explicitlyCancelled``.
        public func cancel() { request?.cancel() }
    }
}

extension DataStreamRequest.Stream: Sendable where Success: Sendable {}
extension DataStreamRequest.Event: Sendable where Success: Sendable {}

extension DataStreamRequest.Stream {
    /// The chunk's value or error, when a chunk arrived.
    public var result: Result<Success, Failure>? {
        if case .stream(let result) = event { result } else { nil }
    }

    /// The chunk's value, when a chunk arrived and a value could be made of it.
    public var value: Success? { result?.value }

    /// The chunk's error, when a chunk arrived and no value could be made of it.
    public var error: Failure? { result?.error }

    /// How the request ended, when it has.
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
    /// Adds a handler that gets the chunks as they come.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default is the main queue: in a program whose main thread is blocked it
    ///     is never called, and the request waits.
    ///   - stream: Called for each chunk, and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStream(
        on queue: DispatchQueue = .main, stream: @escaping Handler<Data, Never>
    ) -> Self {
        addHandler(.plain, on: queue, stream)
        return self
    }

    /// Adds a handler that gets a value for each chunk.
    ///
    /// - Parameters:
    ///   - serializer: Makes a value of each chunk by itself, on the session's serialization queue if it has one, else in
    ///     the request's task.
    ///   - queue: Where the handler is called. The default is the main queue.
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
    /// Adds a handler that gets values of the body wherever its chunks end.
    ///
    /// - Parameters:
    ///   - parser: Makes values of chunks, on the session's serialization queue if it has one, else in the request's task.
    ///     Each body is read by a copy of it.
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - stream: Called for each value and for what could not be read, and once at the end.
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
