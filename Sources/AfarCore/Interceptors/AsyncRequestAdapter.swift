#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// An adapter that is written with `async` and `throws` in place of a completion.
///
/// The task that its method runs in is cancelled when the request is; what it throws ends the request as
/// ``AFError/requestAdaptationFailed(error:)``. A type that is to be given where an interceptor is asked for conforms to
/// ``RequestInterceptor`` too.
public protocol AsyncRequestAdapter: RequestAdapter {
    /// Inspects and changes a request. It is called once for each attempt, in a task of its own.
    ///
    /// - Parameters:
    ///   - urlRequest: The request as it would be sent.
    ///   - session: The session that sends it.
    func adapt(_ urlRequest: URLRequest, for session: Session) async throws -> URLRequest

    /// Inspects and changes a request, with a state that identifies it. The default calls ``adapt(_:for:)``.
    func adapt(_ urlRequest: URLRequest, using state: RequestAdapterState) async throws -> URLRequest
}

extension AsyncRequestAdapter {
    /// Calls the form that takes a session.
    public func adapt(_ urlRequest: URLRequest, using state: RequestAdapterState) async throws -> URLRequest {
        try await adapt(urlRequest, for: state.session)
    }

    /// Runs the `async` form in a task that ends with the request.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest,
        using state: RequestAdapterState,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        let work: @Sendable () async -> Void = {
            do { completion(.success(try await adapt(urlRequest, using: state))) } catch { completion(.failure(error)) }
        }
        if let request = state.request { request.run(work) } else { Task(operation: work) }
    }

    /// Runs the `async` form in a task that nothing but its own end ends.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        start(urlRequest, for: session, completion: completion)
    }

    fileprivate func start(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        Task {
            do { completion(.success(try await adapt(urlRequest, for: session))) } catch { completion(.failure(error)) }
        }
    }
}

// A type with both protocols has two defaults to choose from; a third, which fits it better, decides.
extension AsyncRequestAdapter where Self: RequestInterceptor {
    /// Runs the `async` form in a task that nothing but its own end ends.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        start(urlRequest, for: session, completion: completion)
    }
}

/// A retrier that is written with `async` and `throws` in place of a completion.
///
/// The task that it runs in is cancelled when the request is. A type that is to be given where an interceptor is asked for
/// conforms to ``RequestInterceptor`` too.
public protocol AsyncRequestRetrier: RequestRetrier {
    /// Decides about one failure, in a task of its own, after the attempt is over. A cancelled request is not asked about.
    ///
    /// - Parameters:
    ///   - request: The request, with its ``Request/retryCount``.
    ///   - session: The session that sent it.
    ///   - error: Why it failed.
    /// - Returns: The decision.
    /// - Throws: What ends the request as ``AFError/requestRetryFailed(retryError:originalError:)``, the same as
    ///   ``RetryResult/doNotRetryWithError(_:)``.
    func retry(_ request: Request, for session: Session, dueTo error: any Error) async throws -> RetryResult
}

extension AsyncRequestRetrier {
    /// Runs the `async` form in a task that ends with the request.
    @preconcurrency
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        decide(about: request, for: session, dueTo: error, completion: completion)
    }

    fileprivate func decide(
        about request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        request.run {
            do {
                completion(try await retry(request, for: session, dueTo: error))
            } catch {
                completion(.doNotRetryWithError(error))
            }
        }
    }
}

// A type with both protocols has two defaults to choose from; a third, which fits it better, decides.
extension AsyncRequestRetrier where Self: RequestInterceptor {
    /// Runs the `async` form in a task that ends with the request.
    @preconcurrency
    public func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        decide(about: request, for: session, dueTo: error, completion: completion)
    }
}
