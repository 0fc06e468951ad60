public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// An adapter and a retrier in one. Both parts have defaults that do nothing.
public protocol RequestInterceptor: RequestAdapter, RequestRetrier {}

extension RequestInterceptor {
    /// Leaves the request as it is.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        completion(.success(urlRequest))
    }

    /// Does not retry.
    @preconcurrency
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        completion(.doNotRetry)
    }
}

/// Changes a `URLRequest` before it is sent: once for each attempt, never for a redirect.
public protocol RequestAdapter: Sendable {
    /// Inspects and changes a request.
    ///
    /// It is called on an unspecified thread. The completion may be called from any thread; a second call does nothing.
    ///
    /// - Parameters:
    ///   - urlRequest: The request as it would be sent.
    ///   - session: The session that sends it.
    ///   - completion: Takes the changed request, or the error that fails the attempt as
    ///     ``AFError/requestAdaptationFailed(error:)``.
    @preconcurrency
    func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    )

    /// Inspects and changes a request, with a state that identifies it. The default calls ``adapt(_:for:completion:)``.
    @preconcurrency
    func adapt(
        _ urlRequest: URLRequest,
        using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    )
}

extension RequestAdapter {
    /// Calls ``adapt(_:for:completion:)``.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest,
        using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        adapt(urlRequest, for: state.session, completion: completion)
    }
}

/// What an adapter knows about the request that it adapts.
public struct RequestAdapterState: Sendable {
    private enum Subject {
        case request(Request)
        case identifier(UUID)
    }

    private let subject: Subject
    /// The session that sends it.
    public let session: Session

    /// Makes a state by hand, for tests of an adapter.
    ///
    /// - Parameters:
    ///   - requestID: Stands for a request's identifier.
    ///   - session: The session that is to have the request.
    public init(requestID: UUID, session: Session) {
        subject = .identifier(requestID)
        self.session = session
    }

    init(request: Request, session: Session) {
        subject = .request(request)
        self.session = session
    }

    /// The request's identifier, see ``Request/id``.
    public var requestID: UUID {
        switch subject {
        case .request(let request): request.id
        case .identifier(let identifier): identifier
        }
    }

    /// Gives the state as long as its session and its request are there, and keeps neither.
    var weak: @Sendable () -> RequestAdapterState? {
        switch subject {
        case .request(let request):
            { [weak request, weak session] in
                guard let request, let session else { return nil }
                return RequestAdapterState(request: request, session: session)
            }
        case .identifier(let identifier):
            { [weak session] in session.map { RequestAdapterState(requestID: identifier, session: $0) } }
        }
    }

    /// The request; nil in a state made by hand.
    var request: Request? {
        if case .request(let request) = subject { request } else { nil }
    }
}

/// Decides whether a failed request is tried again.
public protocol RequestRetrier: Sendable {
    /// Decides about one failure.
    ///
    /// It is called on an unspecified thread, after the attempt is over. The completion may be called from any thread;
    /// a second call does nothing. A cancelled request is not asked about.
    ///
    /// - Parameters:
    ///   - request: The request, with its ``Request/retryCount``.
    ///   - session: The session that sent it.
    ///   - error: Why it failed.
    ///   - completion: Takes the decision.
    @preconcurrency
    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    )
}

/// What a retrier decides.
public enum RetryResult: Sendable {
    /// Try again at once.
    case retry
    /// Try again after so many seconds.
    case retryWithDelay(TimeInterval)
    /// Do not try again.
    case doNotRetry
    /// Do not try again, and fail with this error, as ``AFError/requestRetryFailed(retryError:originalError:)``.
    case doNotRetryWithError(any Error)
}

extension RetryResult {
    /// Whether the request is to be tried again, at once or later.
    public var retryRequired: Bool {
        switch self {
        case .retry, .retryWithDelay: true
        case .doNotRetry, .doNotRetryWithError: false
        }
    }

    /// How many seconds to wait before; nil for all but ``retryWithDelay(_:)``.
    public var delay: TimeInterval? {
        if case .retryWithDelay(let delay) = self { delay } else { nil }
    }

    /// What the request is to fail with; nil for all but ``doNotRetryWithError(_:)``.
    public var error: (any Error)? {
        if case .doNotRetryWithError(let error) = self { error } else { nil }
    }
}
