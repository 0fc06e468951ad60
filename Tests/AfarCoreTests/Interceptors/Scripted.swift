import Foundation

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An interceptor that is made of closures. A missing closure has no effect.
struct Scripted: RequestInterceptor {
    typealias Adapting = @Sendable (URLRequest, @escaping @Sendable (Result<URLRequest, any Error>) -> Void) -> Void
    typealias Retrying = @Sendable (Request, @escaping @Sendable (RetryResult) -> Void) -> Void

    var adapting: Adapting = { request, answer in answer(.success(request)) }
    var retrying: Retrying = { _, answer in answer(.doNotRetry) }

    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        adapting(urlRequest, completion)
    }

    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        retrying(request, completion)
    }
}
