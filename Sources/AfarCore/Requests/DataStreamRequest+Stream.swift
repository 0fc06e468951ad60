#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

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
