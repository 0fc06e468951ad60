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
/// The queries for IPv4 and IPv6 addresses are sent concurrently, over a session of the resolver's own. The session stores no cookies and no
/// responses, and identifies the client only by its address.
///
/// The resolver doesn't cache. Use it with a `CachingResolver`, which respects the time to live of the records.
public final class DNSOverHTTPSResolver: HostResolver {
    /// How queries are sent.
    public enum Method: String, Sendable, Hashable, CaseIterable {
        /// In the URL of a GET request. If a kept connection breaks, the query is sent again.
        case get = "GET"
        /// In the body of a POST request. The names don't appear in the logs of HTTP servers.
        case post = "POST"
    }

    private static let contentType = "application/dns-message"
    private static let messageLimit: Int64 = 65_535

    private let server: URL
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
    ///   - configuration: The settings for the resolver's session, such as certificates and proxies. The resolver replaces the settings for
    ///     headers, cookies, caches, credentials, and the resolver.
    ///   - serverTrustManager: Evaluates the server's certificate, for example to pin it. The default is nil.
    ///   - transport: The transport for the queries. It can be the transport of other sessions. It must support resolvers if `bootstrap` isn't
    ///     empty.
    /// - Throws: `AFError.invalidURL`, or a ``DNSError`` if the URL isn't an `https` URL with a host; `InvalidAddress` if `bootstrap` contains
    ///   an invalid address.
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
        // The resolver must not look up its own server. The system looks up proxies.
        configuration.resolver = bootstrap.isEmpty ? nil : try StaticResolver([host: bootstrap], fallback: .system)
        (self.server, self.method) = (server, method)
        session = Session(
            configuration: configuration, serverTrustManager: serverTrustManager, transport: transport)
    }

    /// The name in error messages. It contains the server's host.
    public var name: String { "DNS over HTTPS (\(server.host ?? ""))" }

    /// Looks up the IPv6 and IPv4 addresses of a host. The time to live is the shortest one of all records.
    ///
    /// - Throws: A ``DNSError`` or an `AFError` if there is no answer. If only one of the two queries fails, the addresses of the other one
    ///   are returned.
    public func addresses(of host: String) async throws -> ResolvedAddresses {
        async let second = answer(to: host, .a)
        let answers = [await answer(to: host, .aaaa), await second]
        let found = answers.compactMap { try? $0.get() }.filter { !$0.addresses.isEmpty }
        guard found.isEmpty else {
            return ResolvedAddresses(found.flatMap(\.addresses), timeToLive: found.compactMap(\.timeToLive).min())
        }
        for answer in answers { _ = try answer.get() }
        return ResolvedAddresses([])
    }

    private typealias Answer = (addresses: [SocketAddress], timeToLive: Duration?)

    private func answer(to host: String, _ type: DNSRecordType) async -> Result<Answer, any Error> {
        do {
            let query = try DNSQuery(host: host, type: type)
            let response = await session.request(request(for: query)).serializingData().response
            guard let head = response.response else { throw response.error ?? AFError.explicitlyCancelled }
            let contentType = head.value(forHTTPHeaderField: "Content-Type")
            guard head.statusCode == 200, contentType.map(Self.isMessage) == true else {
                throw DNSError(.unexpectedResponse(status: head.statusCode, contentType: contentType), host)
            }
            let data = try response.result.get()
            let answer = try DNSAnswer(Array(data), to: query)
            // RFC 8484, section 5.1
            let age = head.value(forHTTPHeaderField: "Age").flatMap { Int64($0) }.map { Duration.seconds(max(0, $0)) }
            return .success((answer.addresses, answer.timeToLive.map { max(.zero, $0 - (age ?? .zero)) }))
        } catch {
            return .failure(error)
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
