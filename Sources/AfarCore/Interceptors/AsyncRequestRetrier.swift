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
