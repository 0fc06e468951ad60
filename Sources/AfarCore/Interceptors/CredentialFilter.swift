import AfarTransport
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Removes credentials from requests to servers that must not receive them, such as the target of a link to another origin.
///
/// The filter removes `Authorization`, `Cookie`, ``SessionConfiguration/sensitiveHeaders``, other headers with names like
/// `X-Api-Key`, and `Host`. It removes them from the request, the session's default headers, and the headers that interceptors add.
///
/// ```swift
/// let filter = CredentialFilter(session.configuration.sensitiveHeaders)
/// let request = session.request(link, interceptor: filter)
/// filter.apply(to: request)
/// ```
///
/// Pass the filter as the request's last interceptor, because a session with the setup ``Session/RequestSetup/eager`` adapts a
/// request when the request is created. Also call ``apply(to:)``, which removes the session's default headers and the request's
/// credential.
public struct CredentialFilter: RequestInterceptor {
    private let names: Set<String>

    /// Creates a filter.
    ///
    /// - Parameter sensitiveHeaders: The names of further headers to remove. The case doesn't matter.
    public init(_ sensitiveHeaders: Set<String>) {
        names = Set(sensitiveHeaders.map { $0.lowercased() }).union(["host"])
    }

    private func removes(_ name: String) -> Bool { Redaction.isSensitive(name) || names.contains(name.lowercased()) }

    /// Removes the credentials of the session and of the adapters that have been added to the request. Call this method before the
    /// request is sent.
    public func apply(to request: Request) {
        request.adapt(using: self)
        let defaults = request.options.defaultFields?.fields ?? request.defaultFields
        let others = HTTPFields(defaults.filter { !removes($0.name.rawName) })
        if others.count < defaults.count { request.options { $0.defaultFields = DefaultFields(others) } }
        // A credential can be replaced but not removed.
        if request.credential != nil { request.authenticate(username: "", password: "") }
    }

    /// Removes the credentials from the request's headers.
    @preconcurrency
    public func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (_ result: Result<URLRequest, any Error>) -> Void
    ) {
        var urlRequest = urlRequest
        for name in (urlRequest.allHTTPHeaderFields ?? [:]).keys where removes(name) {
            urlRequest.setValue(nil, forHTTPHeaderField: name)
        }
        completion(.success(urlRequest))
    }
}
