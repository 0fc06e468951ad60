import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The URL that sent the first part after redirects. The other parts are requested from this URL, because each redirect by a load balancer
/// can lead to another mirror with different validators.
///
/// It replaces the URL after all adapters have run, as a redirect does.
struct Mirror: RequestInterceptor, Equatable {
    let url: URL
    /// Whether the mirror must not receive the credentials for the original URL.
    let isOtherOrigin: Bool

    /// - Returns: Nil if the response wasn't redirected.
    init?(of requested: URL?, answeredBy head: ResponseHead) {
        guard let requested, let first = Self.parts(of: requested), let url = URL(keepingEscapesOf: head.url),
            let last = Self.parts(of: url), let from = Origin(requested), let to = Origin(url)
        else { return nil }
        // A policy such as HSTS changes only the scheme, and does so again for each request.
        let isUpgrade = first.scheme == "http" && last.scheme == "https" && first.host == last.host
        guard from != to && !isUpgrade || first.path != last.path || first.query != last.query else { return nil }
        self.url = url
        isOtherOrigin = from != to
    }

    private static func parts(of url: URL) -> (scheme: String?, host: String?, path: String, query: String?)? {
        URLComponents(url: url, resolvingAgainstBaseURL: true).map { components in
            let path = components.percentEncodedPath
            return (
                components.scheme?.lowercased(), components.host?.lowercased(), path.isEmpty ? "/" : path,
                components.percentEncodedQuery
            )
        }
    }

    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        var urlRequest = urlRequest
        urlRequest.url = isOtherOrigin ? url : url.withUserinfo(of: urlRequest.url)
        completion(.success(urlRequest))
    }
}

extension URL {
    /// Returns the URL with the user name and password of another URL.
    fileprivate func withUserinfo(of other: URL?) -> URL {
        guard let other, let user = other.user(percentEncoded: true),
            var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        components.percentEncodedUser = user
        components.percentEncodedPassword = other.password(percentEncoded: true)
        return components.url ?? self
    }
}
