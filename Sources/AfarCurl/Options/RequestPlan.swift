import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes

/// libcurl's input for one request. It is prepared on the caller's thread.
struct RequestPlan {
    let url: String
    let method: HTTPRequest.Method
    let headers: StringList
    let isSecure: Bool
    /// Identifies the host. Only connections to the same host can serve the request.
    let host: String
    let version: HTTPVersion
    /// How to connect; nil without network settings.
    let route: ConnectionRoute?
    let routeLists: RouteLists?
    /// Whether libcurl may have to look up a name. Computed only when libcurl is about to look up a host.
    var needsLookup: Bool {
        route?.needsLookup == true || authority.first != "[" && !Self.isAddress(authority)
    }
    private let authority: String

    init(_ hop: Hop) throws {
        // Don't copy the exchange: a copy would cost more than all the code below.
        guard let scheme = hop.exchange.request.scheme, let authority = hop.exchange.request.authority,
            !authority.isEmpty
        else {
            throw hop.failure(.invalidURL, "the URL has no host")
        }
        guard scheme == "http" || scheme == "https" else {
            throw hop.failure(.unsupportedURL, "the scheme \"\(scheme)\" is not http or https")
        }
        // Joining the parts of the URL must not change their meaning: the path "x" would extend the host's name, and "@x" would
        // turn the host into a user name.
        let path = hop.exchange.request.path ?? "/"
        guard path.utf8.first == UInt8(ascii: "/"), path.allBytes({ $0 > 0x20 && $0 != 0x7F }),
            authority.allBytes(\.isAllowedInAuthority)
        else {
            throw hop.failure(.invalidURL, "the host or the path contains invalid characters")
        }
        method = hop.exchange.request.method
        guard method != .connect else {
            throw hop.failure(.unsupportedByTransport, "CurlTransport doesn't support CONNECT. Use HTTPTransport")
        }
        if method == .head, hop.exchange.body.length != 0 {
            // libcurl would wait for a body in the response.
            throw hop.failure(.unsupportedByTransport, "libcurl can't send a HEAD request with a body")
        }
        url = Self.url(scheme, authority, path)
        isSecure = scheme == "https"
        host = Self.hostKey(authority, isSecure: isSecure)
        self.authority = authority
        version = HTTPVersion(hop, isSecure: isSecure)
        route = try ConnectionRoute(
            hop, isSecure: isSecure, authority: authority)
        routeLists = route?.makeLists()
        headers = Self.headers(for: hop, proxy: isSecure ? nil : route?.proxy)
    }

    /// This needs one allocation. The operator `+` would need three.
    private static func url(_ scheme: String, _ authority: String, _ path: String) -> String {
        var url = ""
        url.reserveCapacity(scheme.utf8.count + 3 + authority.utf8.count + path.utf8.count)
        url += scheme
        url += "://"
        url += authority
        url += path
        return url
    }

    /// Whether the host is an IPv4 address. A host that only resembles one is looked up as a name.
    private static func isAddress(_ authority: String) -> Bool {
        guard authority.allBytes({ (0x2E...0x3A).contains($0) && $0 != 0x2F }) else { return false }
        var address = in_addr()
        return inet_pton(AF_INET, String(authority.prefix { $0 != ":" }), &address) == 1
    }

    /// A key that is the same for all spellings of a host.
    private static func hostKey(_ authority: String, isSecure: Bool) -> String {
        let ending = isSecure ? ":443" : ":80"
        let spelling = authority.hasSuffix(ending) ? String(authority.dropLast(ending.count)) : authority
        let key = spelling.allBytes { !$0.isCapital } ? spelling : spelling.asciiLowercased
        // No host name contains this character.
        return isSecure ? "@" + key : key
    }

    /// The origin, such as "https://example.com", for a ``host``.
    static func origin(ofHost host: String) -> String {
        host.hasPrefix("@") ? "https://" + host.dropFirst() : "http://" + host
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
        var extra: [String] = []
        if !hop.exchange.body.isNone || hop.exchange.request.method.expectsContent {
            // A name without a value prevents libcurl from adding this field.
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
