public import AfarCore
import AfarSerializers
public import AfarTransport
public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A resolver that sends DNS queries over HTTPS (RFC 8484).
///
/// ```swift
/// let server = try DNSOverHTTPSResolver(
///     "https://dns.example/dns-query", bootstrap: ["192.0.2.53"], transport: HTTPTransport())
/// var configuration = SessionConfiguration.default
/// configuration.resolver = CachingResolver(server)
/// ```
///
/// The queries for IPv4 and IPv6 addresses are sent concurrently, over the resolver's own session. The session stores no cookies and no
/// responses, so the server can identify the client only by its IP address. When one query has found addresses, the other one has 50
/// milliseconds left (RFC 8305, section 3). After that, the result is incomplete.
///
/// The resolver doesn't cache. Use it with a `CachingResolver`, which respects the time to live of the records, and doesn't cache
/// incomplete results. Answers without addresses are cached for the time in the zone's SOA record (RFC 2308).
///
/// The server's path and query can be secret, for example because they contain a token. Errors contain only its scheme and host.
public final class DNSOverHTTPSResolver: HostResolver {
    /// How queries are sent.
    public enum Method: String, Sendable, Hashable, CaseIterable {
        /// In the URL of a GET request. If a reused connection fails, the query is sent again.
        case get = "GET"
        /// In the body of a POST request. The names don't appear in the logs of HTTP servers.
        case post = "POST"
    }

    private static let contentType = "application/dns-message"
    private static let messageLimit: Int64 = 65_535
    /// How long to wait for the second answer (RFC 8305, section 3).
    private static let resolutionDelay = DispatchTimeInterval.milliseconds(50)

    private let server: URL
    /// The part of the server's URL that can appear in errors.
    private let origin: String
    private let method: Method
    private let session: Session

    /// Creates a resolver.
    ///
    /// - Parameters:
    ///   - server: The server's URL, without the query part of its template: `https://dns.example/dns-query`.
    ///   - bootstrap: The IP addresses of the server. If the list is empty, the operating system's resolver looks up the server's name. The
    ///     default is an empty list.
    ///   - method: How queries are sent. The default is ``Method/get``.
    ///   - timeout: The maximum time for each query, in seconds. The default is 5.
    ///   - configuration: The settings for the resolver's session, such as certificates and proxies. This class replaces the settings for
    ///     headers, cookies, caches, credentials and the host resolver.
    ///   - serverTrustManager: Evaluates the server's certificate, for example to pin it. The default is nil.
    ///   - transport: The transport for the queries. It can be the transport of other sessions. It must support resolvers if
    ///     `bootstrap` isn't empty.
    /// - Throws: `AFError.invalidURL`, or a ``DNSError`` if the URL isn't an `https` URL with a host. `InvalidAddress` if `bootstrap`
    ///   contains an invalid address.
    public init(
        _ server: any URLConvertible, bootstrap: [String] = [], method: Method = .get, timeout: TimeInterval = 5,
        configuration: SessionConfiguration = .default, serverTrustManager: ServerTrustManager? = nil,
        transport: any Transport
    ) throws {
        let server = try server.asURL()
        guard server.scheme?.lowercased() == "https", let host = server.host, !host.isEmpty else {
            throw DNSError(.invalidServer, "")
        }
        var configuration = configuration
        configuration.headers = HTTPHeaders([HTTPHeader(name: "Accept", value: Self.contentType)])
        configuration.cookieStore = nil
        configuration.cacheStore = nil
        configuration.credentialProvider = nil
        configuration.hstsStore = nil
        configuration.baseURL = nil
        configuration.validation = nil
        configuration.maximumResponseBodySize = Self.messageLimit
        configuration.timeoutIntervalForResource = timeout
        // HTTP/2 is the minimum recommended version (RFC 8484, section 5.2). Some servers support no other version.
        if configuration.httpVersion == .automatic, transport.capabilities.features.contains(.http2) {
            configuration.httpVersion = .http2
        }
        // The resolver must not look up its own server. The system looks up proxies.
        configuration.resolver = bootstrap.isEmpty ? nil : try StaticResolver([host: bootstrap], fallback: .system)
        (self.server, self.method) = (server, method)
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        origin = "https://\(name)" + (server.port.map { ":\($0)" } ?? "")
        session = Session(
            configuration: configuration, serverTrustManager: serverTrustManager, transport: transport)
    }

    /// The name in error messages. It contains the server's host.
    public var name: String { "DNS over HTTPS (\(server.host ?? ""))" }

    /// Looks up the IPv6 and IPv4 addresses of a host. The time to live is the shortest one of all records.
    ///
    /// If one of the two queries fails or takes too long, but the other one finds addresses, the result is incomplete, and its time
    /// to live is zero.
    ///
    /// - Throws: A ``DNSError``, a `TransportError` or an `AFError` if there is no answer. The error doesn't contain the path and the query
    ///   of the server's URL. If the task is canceled, the error is a `CancellationError`.
    public func addresses(of host: String) async throws -> ResolvedAddresses {
        let answers = try await answers(for: host)
        let found = answers.compactMap { try? $0?.get() }
        let addresses = found.flatMap(\.addresses)
        // No addresses were found, but a failed query might have found some. Therefore, throw its error.
        if addresses.isEmpty { for answer in answers { _ = try answer?.get() } }
        guard found.count == DNSRecordType.allCases.count else {
            return ResolvedAddresses(addresses, timeToLive: .zero, isComplete: false)
        }
        return ResolvedAddresses(addresses, timeToLive: found.map { $0.timeToLive ?? .zero }.min())
    }

    private typealias Answer = (addresses: [SocketAddress], timeToLive: Duration?)

    private enum Event: Sendable {
        case answer(DNSRecordType, Result<Answer, any Error>)
        case delayHasPassed
    }

    /// Returns the answers for IPv6 and IPv4. After an answer with addresses, the other answer is nil if it doesn't arrive
    /// within ``resolutionDelay``.
    ///
    /// A query that takes too long continues, so its connection stays open for the next queries, and the server can cache the answer.
    private func answers(for host: String) async throws -> [Result<Answer, any Error>?] {
        let (events, continuation) = AsyncStream<Event>.makeStream()
        let requests = try DNSRecordType.allCases.map { type in
            let query = try DNSQuery(host: host, type: type)
            return session.request(request(for: query)).response(queue: nil) { response in
                continuation.yield(.answer(type, self.answer(to: query, in: response)))
            }
        }
        return try await withTaskCancellationHandler {
            var answers: [DNSRecordType: Result<Answer, any Error>] = [:]
            for await event in events {
                guard case .answer(let type, let answer) = event else { break }
                answers[type] = answer
                guard answers.count < requests.count else { break }
                guard case .success(let (addresses, _)) = answer, !addresses.isEmpty else { continue }
                DispatchQueue.global().asyncAfter(deadline: .now() + Self.resolutionDelay) {
                    continuation.yield(.delayHasPassed)
                }
            }
            try Task.checkCancellation()
            return [answers[.aaaa], answers[.a]]
        } onCancel: {
            for request in requests { request.cancel() }
        }
    }

    private func answer(to query: DNSQuery, in response: AFDataResponse<Data?>) -> Result<Answer, any Error> {
        do {
            guard let head = response.response else { throw response.error ?? AFError.explicitlyCancelled }
            let contentType = head.value(forHTTPHeaderField: "Content-Type")
            guard head.statusCode == 200, contentType.map(Self.isMessage) == true else {
                throw DNSError(.unexpectedResponse(status: head.statusCode, contentType: contentType), query.host)
            }
            let data = try response.result.get() ?? Data()
            let answer = try DNSAnswer(Array(data), to: query)
            // RFC 8484, section 5.1
            let age = head.value(forHTTPHeaderField: "Age").flatMap { Int64($0) }.map { Duration.seconds(max(0, $0)) }
            return .success((answer.addresses, answer.timeToLive.map { max(.zero, $0 - (age ?? .zero)) }))
        } catch {
            return .failure(withoutURL(error))
        }
    }

    /// Returns an error without the path and the query of the server's URL.
    private func withoutURL(_ error: any Error) -> any Error {
        switch error {
        case let error as AFError: return error.transportError.map(withoutURL) ?? error
        case let error as TransportError:
            // The messages about redirects contain their targets, which can repeat parts of the URL.
            let isRedirect = [.invalidRedirect, .insecureRedirect, .tooManyRedirects].contains(error.code)
            return TransportError(
                error.code, phase: error.phase, url: origin, peer: error.peer,
                message: isRedirect ? "a redirect of the DNS server cannot be followed" : error.message,
                transportCode: error.transportCode, systemError: error.systemError,
                underlying: error.underlying.map(withoutURL))
        // Foundation's errors contain the URL.
        case let error as URLError: return URLError(error.code)
        default: return error
        }
    }

    private static func isMessage(_ mediaType: String) -> Bool {
        let type = mediaType.prefix { $0 != ";" }
        return type.trimmingCharacters(in: .whitespaces).lowercased() == contentType
    }

    /// Returns the request for a query (RFC 8484, section 4.1).
    private func request(for query: DNSQuery) -> URLRequest {
        let message = Data(query.message)
        var request = URLRequest(url: server)
        request.httpMethod = method.rawValue
        switch method {
        case .get:
            let text = message.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
                "=", with: "")
            request.url = server.appending(queryItems: [URLQueryItem(name: "dns", value: text)])
        case .post:
            request.setValue(Self.contentType, forHTTPHeaderField: "Content-Type")
            request.httpBody = message
        }
        return request
    }
}
