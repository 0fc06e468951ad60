#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// An adapter that uses `async` and `throws` instead of a completion.
///
/// The task that runs the method is cancelled with the request. A thrown error ends the request as
/// ``AFError/requestAdaptationFailed(error:)``. To pass the type where an interceptor is required, also conform it to
/// ``RequestInterceptor``.
public protocol AsyncRequestAdapter: RequestAdapter {
    /// Returns a request adapted from another. Called once per attempt, in its own task.
    ///
    /// - Parameters:
    ///   - urlRequest: The request to adapt.
    ///   - session: The session that sends it.
    func adapt(_ urlRequest: URLRequest, for session: Session) async throws -> URLRequest

    /// Returns a request adapted from another, with a state that identifies the request. The default implementation calls
    /// ``adapt(_:for:)``.
    func adapt(_ urlRequest: URLRequest, using state: RequestAdapterState) async throws -> URLRequest
}

extension AsyncRequestAdapter {
    /// Calls the method that takes a session.
    public func adapt(_ urlRequest: URLRequest, using state: RequestAdapterState) async throws -> URLRequest {
        try await adapt(urlRequest, for: state.session)
    }

    /// Calls the `async` method in a task that is cancelled with the request.
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

    /// Calls the `async` method in a task that is never cancelled.
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

// A type with both protocols inherits two default implementations. This more specific one resolves the ambiguity.
extension AsyncRequestAdapter where Self: RequestInterceptor {
    /// Calls the `async` method in a task that is never cancelled.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        start(urlRequest, for: session, completion: completion)
    }
}

/// A retrier that uses `async` and `throws` instead of a completion.
///
/// The task that runs the method is cancelled with the request. To pass the type where an interceptor is required, also conform
/// it to ``RequestInterceptor``.
public protocol AsyncRequestRetrier: RequestRetrier {
    /// Returns the decision about a failure. Called in its own task after the attempt has ended, but not for a cancelled request.
    ///
    /// - Parameters:
    ///   - request: The request, with its ``Request/retryCount``.
    ///   - session: The session that sent it.
    ///   - error: The error that failed it.
    /// - Returns: The decision.
    /// - Throws: An error that ends the request as ``AFError/requestRetryFailed(retryError:originalError:)``, like
    ///   ``RetryResult/doNotRetryWithError(_:)``.
    func retry(_ request: Request, for session: Session, dueTo error: any Error) async throws -> RetryResult
}

extension AsyncRequestRetrier {
    /// Calls the `async` method in a task that is cancelled with the request.
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

// A type with both protocols inherits two default implementations. This more specific one resolves the ambiguity.
extension AsyncRequestRetrier where Self: RequestInterceptor {
    /// Calls the `async` method in a task that is cancelled with the request.
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
