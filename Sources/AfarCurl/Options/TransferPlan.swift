import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes

/// libcurl's input for one request. It is prepared on the caller's thread.
struct TransferPlan {
    let url: String
    let method: HTTPRequest.Method
    let headers: StringList
    let isSecure: Bool
    /// The origin, which identifies the host. Only connections to the same host can serve the request.
    let host: String
    let version: HTTPVersion
    /// How to connect; nil without network settings.
    let route: ConnectionRoute?
    /// Permits or refuses addresses; nil if all addresses are permitted.
    let policy: ConnectionGuard?
    /// Whether libcurl may have to look up a name. The property isn't computed in advance, because the loop reads it
    /// only when libcurl has neither a cached address nor an idle connection.
    var needsLookup: Bool {
        route?.needsLookup == true
            || authority.first != "[" && !SocketAddress.isAddress(String(authority.prefix { $0 != ":" }))
    }
    private let authority: String
    /// The name of the exchange's resolver, for messages.
    var resolverName: String { route?.lookups?.resolverName ?? "" }

    init(_ hop: Hop) throws {
        let exchange = hop.exchange
        guard let scheme = exchange.request.scheme, let authority = exchange.request.authority, !authority.isEmpty
        else {
            throw hop.failure(.invalidURL, "the URL has no host")
        }
        guard scheme == "http" || scheme == "https" else {
            throw hop.failure(.unsupportedURL, "the scheme \"\(scheme)\" is not http or https")
        }
        // Joining the parts of the URL must not change their meaning: the path "x" would extend the host's name, and "@x" would
        // turn the host into a user name.
        let path = exchange.request.path ?? "/"
        guard path.utf8.first == UInt8(ascii: "/"), path.allBytes({ $0 > 0x20 && $0 != 0x7F }),
            authority.allBytes(\.isAllowedInAuthority)
        else {
            throw hop.failure(.invalidURL, "the host or the path contains invalid characters")
        }
        method = exchange.request.method
        guard method != .connect else {
            throw hop.failure(.unsupportedByTransport, "CurlTransport doesn't support CONNECT. Use HTTPTransport")
        }
        if method == .head, exchange.body.length != 0 {
            // libcurl would wait for a body in the response.
            throw hop.failure(.unsupportedByTransport, "libcurl can't send a HEAD request with a body")
        }
        url = "\(scheme)://\(authority)\(path)"
        isSecure = scheme == "https"
        host = Origin(exchange.request).text
        self.authority = authority
        version = HTTPVersion(hop, isSecure: isSecure)
        route = try ConnectionRoute(hop, isSecure: isSecure, authority: authority)
        policy = ConnectionGuard(exchange.options)
        headers = Self.headers(for: hop, proxy: isSecure ? nil : route?.proxy)
    }

    /// Returns the header fields for a modified form of the same request.
    func headers(for hop: Hop) -> StringList { Self.headers(for: hop, proxy: isSecure ? nil : route?.proxy) }

    /// - Parameter proxy: The proxy that receives the whole request; nil without a proxy.
    private static func headers(for hop: Hop, proxy: Proxy?) -> StringList {
        let own = hop.exchange.request.headerFields
        let defaults = hop.exchange.options.defaultFields.fields.filter { !own.contains($0.name) }
        let isForProxy = proxy?.usesHTTP == true
        let fields =
            own.filter { isForProxy || $0.name != .proxyAuthorization }
            + defaults.filter { $0.name != .proxyAuthorization }
        // A name without a value prevents libcurl from adding this field.
        var extra = hop.exchange.options.omitsAccept && !fields.contains { $0.name == .accept } ? ["Accept:"] : []
        if !hop.exchange.body.isNone || hop.exchange.request.method.expectsContent {
            for name in [.expect, .contentType] as [HTTPField.Name] where !fields.contains(where: { $0.name == name }) {
                extra.append("\(name.rawName):")
            }
            if hop.exchange.body.length == nil { extra.append("Transfer-Encoding: chunked") }
        }
        // Leave out fields that could contradict libcurl's own framing.
        return StringList(
            fields: fields.filter { $0.name != .contentLength && $0.name != .transferEncoding }, extra: extra)
    }
}
