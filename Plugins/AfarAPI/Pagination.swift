import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A page of a collection that a server returns in several responses.
public struct Page<Value: Sendable>: Sendable {
    /// The value that the serializer created.
    public let value: Value
    /// The head of the response.
    public let response: HTTPURLResponse?
    /// The number of the page. The first page has the number 1.
    public let number: Int
}

/// A rule that determines the request for the next page from the current page.
public struct Pagination<Value: Sendable>: Sendable {
    enum Next: Sendable {
        /// A URL from the server, which can be relative to the URL of the page.
        case link(String, allowsInsecure: Bool)
        case token(String, URLRequest)
        case request(URLRequest)
    }

    /// Returns the next request, or nil after the last page. Receives the page and the first page's original request, which adapters
    /// haven't changed.
    let next: @Sendable (Page<Value>, URLRequest) throws -> Next?

    /// Follows the first link with this relation type in the `Link` header fields (RFC 8288).
    ///
    /// Links are resolved against the URL of the page after redirects, and retrieved with GET. A link with an `anchor` to another
    /// resource is ignored (section 3.2). If a link leads to another origin, or a page came from another origin, all further
    /// requests omit the credentials, even if an interceptor adds them. These are `Authorization`, `Cookie`, other headers that
    /// `Redaction` recognizes, and the session's ``AfarCore/SessionConfiguration/sensitiveHeaders``. Cookies from the
    /// session's store depend on the host as usual.
    ///
    /// - Parameters:
    ///   - relation: The relation type. Its case doesn't matter. The default is "next".
    ///   - allowsInsecure: Whether to follow links from https to http. The default is false, which throws
    ///     ``PaginationError/insecureLink(_:)``.
    public static func links(relation: String = "next", allowsInsecure: Bool = false) -> Self {
        let relation = relation.lowercased()
        return Self { page, _ in
            guard let response = page.response else { return nil }
            let link = try response.links.first { link in
                link.relationTypes.contains(relation) && link.isLink(of: response.url)
            }
            return link.map { .link($0.target, allowsInsecure: allowsInsecure) }
        }
    }

    /// Follows the URL that a closure reads from a page. The rules are the same as for ``links(relation:allowsInsecure:)``.
    ///
    /// - Parameters:
    ///   - allowsInsecure: Whether to follow URLs from https to http. The default is false.
    ///   - url: Returns the URL, which can be relative to the URL of the page. Returns nil after the last page.
    public static func urls(
        allowsInsecure: Bool = false, _ url: @escaping @Sendable (Page<Value>) throws -> String?
    ) -> Self {
        Self { page, _ in try url(page).map { .link($0, allowsInsecure: allowsInsecure) } }
    }

    /// Repeats the first request with a token from the previous page in the query.
    ///
    /// - Parameters:
    ///   - token: Reads the token. Nil and an empty token mean that the page is the last one.
    ///   - parameter: The name of the parameter. It replaces a parameter with the same name.
    public static func token(_ token: @escaping @Sendable (Value) -> String?, parameter: String) -> Self {
        Self.token(token) { token, request in
            request.url = request.url?.settingQueryParameter(parameter, to: token)
        }
    }

    /// Repeats the first request with a token from the previous page.
    ///
    /// - Parameters:
    ///   - token: Reads the token. Nil and an empty token mean that the page is the last one.
    ///   - apply: Adds the token to a copy of the first request.
    public static func token(
        _ token: @escaping @Sendable (Value) -> String?,
        apply: @escaping @Sendable (_ token: String, _ request: inout URLRequest) throws -> Void
    ) -> Self {
        Self { page, first in
            guard let token = token(page.value), !token.isEmpty else { return nil }
            var request = first
            try apply(token, &request)
            return .token(token, request)
        }
    }

    /// Sends the requests that a closure creates. The closure decides which credentials and schemes they have.
    ///
    /// - Parameter request: Returns the next request, or nil after the last page.
    public static func requests(_ request: @escaping @Sendable (Page<Value>) throws -> URLRequest?) -> Self {
        Self { page, _ in try request(page).map { .request($0) } }
    }
}

/// An error in a sequence of pages. If a request fails, the sequence throws its ``AfarCore/AFError`` instead. If a `Link` header is
/// malformed, the sequence throws a ``Link/SyntaxError``.
public enum PaginationError: Error, Hashable, Sendable {
    /// The server has more pages than the limit allows.
    case tooManyPages(limit: Int)
    /// The URL or token for the next page has already been used.
    case repeatedPage(String)
    /// A page that was requested over HTTPS contains a link to an HTTP URL.
    case insecureLink(URL)
    /// The link to the next page isn't a valid URL.
    case invalidLink(String)
}

extension PaginationError: LocalizedError, CustomStringConvertible {
    /// A human-readable description of the error on one line, without credentials.
    public var description: String {
        switch self {
        case .tooManyPages(let limit): "There are more than \(limit) pages. Increase the limit, or use prefix(_:)."
        case .repeatedPage(let key): "The next page is a page that has already been requested: \(Self.shown(key))"
        case .insecureLink(let url):
            "The link to the next page leads from https to http, and allowsInsecure is false: "
                + Self.shown(url.absoluteString)
        case .invalidLink(let link): "The link to the next page is not a valid URL: \(Self.shown(link))"
        }
    }

    private static func shown(_ text: String) -> String {
        TerminalText.line(String(Redaction.standard.url(text).unicodeScalars.prefix(300)))
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}

// MARK: - Rules

/// The state of an iteration over pages. It decides what is requested next, and performs no I/O.
struct PageRequests<Value: Sendable> {
    private enum Key: Hashable {
        case url(String)
        case token(String)
        case request(method: String?, url: URL?, headers: [String: String]?, body: Data?)
    }

    let pagination: Pagination<Value>
    let limit: Int
    /// The request for the first page, without the changes of adapters.
    private var first: URLRequest?
    private var used: Set<Key> = []
    /// Whether all pages and links so far belong to the origin of the first request.
    private(set) var keepsCredentials = true

    init(_ pagination: Pagination<Value>, limit: Int) {
        self.pagination = pagination
        self.limit = max(1, limit)
    }

    mutating func begin(with request: URLRequest?) {
        guard let request else { return }
        first = request
        used.insert(Self.key(of: request))
        if let url = request.url?.withUserinfo(of: nil) { used.insert(.url(url.absoluteString)) }
    }

    /// Returns the request for the page that follows `page`, or nil after the last page.
    mutating func next(after page: Page<Value>) throws -> URLRequest? {
        guard let first, let next = try pagination.next(page, first) else { return nil }
        let (request, key, shown) =
            switch next {
            case .link(let target, let allowsInsecure): try follow(target, from: page, allowsInsecure: allowsInsecure)
            case .token(let token, let request): (request, Key.token(token), token)
            case .request(let request): (request, Self.key(of: request), request.url?.absoluteString ?? "")
            }
        guard request.httpBodyStream != nil || used.insert(key).inserted else {
            throw PaginationError.repeatedPage(shown)
        }
        guard page.number < limit else { throw PaginationError.tooManyPages(limit: limit) }
        return request
    }

    private mutating func follow(
        _ target: String, from page: Page<Value>, allowsInsecure: Bool
    ) throws -> (URLRequest, Key, String) {
        guard var request = first, let start = request.url, let base = page.response?.url ?? request.url,
            let url = URL(keepingEscapesOf: target, relativeTo: base)?.withUserinfo(of: nil)
        else { throw PaginationError.invalidLink(target) }
        let isSecure = [start, base].contains { $0.scheme?.lowercased() == "https" }
        guard allowsInsecure || !isSecure || url.scheme?.lowercased() != "http" else {
            throw PaginationError.insecureLink(url)
        }
        // A page from another origin must not cause requests with credentials, even to the first origin.
        if Origin(base) != Origin(start) || Origin(url) != Origin(start) { keepsCredentials = false }
        used.insert(.url(base.withUserinfo(of: nil)?.absoluteString ?? ""))
        request.url = keepsCredentials ? url.withUserinfo(of: start) : url
        if request.httpMethod != "GET" {
            request.httpMethod = "GET"
            request.httpBody = nil
            request.httpBodyStream = nil
            for name in (request.allHTTPHeaderFields ?? [:]).keys where name.lowercased().hasPrefix("content-") {
                request.setValue(nil, forHTTPHeaderField: name)
            }
        }
        return (request, .url(url.absoluteString), url.absoluteString)
    }

    private static func key(of request: URLRequest) -> Key {
        .request(
            method: request.httpMethod, url: request.url, headers: request.allHTTPHeaderFields, body: request.httpBody)
    }
}

extension Link {
    /// Whether the context of the link is the resource at this URL, and not another resource that the parameter `anchor` names.
    fileprivate func isLink(of url: URL?) -> Bool {
        guard let anchor = self["anchor"] else { return true }
        guard let url, let context = URL(keepingEscapesOf: anchor, relativeTo: url) else { return false }
        return context.withUserinfo(of: nil) == url.withUserinfo(of: nil)
    }
}

extension URL {
    /// Returns the URL without its fragment, and with the user name and password of another URL.
    fileprivate func withUserinfo(of other: URL?) -> URL? {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
        let source = other.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }
        components.percentEncodedUser = source?.percentEncodedUser
        components.percentEncodedPassword = source?.percentEncodedPassword
        components.fragment = nil
        return components.url
    }

    /// Returns the URL after replacing or adding a parameter of its query. The rest of the query doesn't change.
    fileprivate func settingQueryParameter(_ name: String, to value: String) -> URL? {
        let text = absoluteString.prefix { $0 != "#" }
        let address = text.prefix { $0 != "?" }
        let others = text[address.endIndex...].dropFirst().split(separator: "&").filter { item in
            item.prefix { $0 != "=" }.replacing("+", with: " ").removingPercentEncoding != name
        }
        let item = "\(PercentEncoding.unreserved.encode(name))=\(PercentEncoding.unreserved.encode(value))"
        return URL(keepingEscapesOf: "\(address)?\((others.map(String.init) + [item]).joined(separator: "&"))")
    }
}
