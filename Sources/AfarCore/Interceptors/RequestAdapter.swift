public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Changes a `URLRequest` before it is sent: once for each attempt, never for a redirect.
public protocol RequestAdapter: Sendable {
    /// Inspects and changes a request.
    ///
    /// It is called on no particular thread. The completion may be called from any thread; a second call does nothing.
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

    /// The same with more to go by. The default calls ``adapt(_:for:completion:)``.
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

/// What an adapter is told about the request that it adapts.
public struct RequestAdapterState: Sendable {
    let request: Request
    /// The session that sends it.
    public let session: Session

    /// The request's identifier, see ``Request/id``.
    public var requestID: UUID { request.id }
}
