import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes

/// What libcurl will be told about one request, prepared on the caller's thread.
struct RequestPlan {
    let url: String
    let method: HTTPRequest.Method
    let headers: StringList
    let isSecure: Bool
    /// The connections that may serve this request are those of the same host.
    let host: String
    /// The version of HTTP that libcurl is to speak.
    let version: HTTPVersion
    /// How its connection is made; nil where nothing is said about that.
    let route: ConnectionRoute?
    let routeLists: RouteLists?
    /// Whether the host is a name and not an address. Asked only when libcurl is about to look something up.
    var needsLookup: Bool {
        route?.needsLookup == true || authority.first != "[" && !Self.isAddress(authority)
    }
    private let authority: String

    init(_ hop: Hop) throws {
        // Piece by piece: a copy of the exchange costs more than all that follows.
        guard let scheme = hop.exchange.request.scheme, let authority = hop.exchange.request.authority,
            !authority.isEmpty
        else {
            throw hop.failure(.invalidURL, "the URL has no host")
        }
        guard scheme == "http" || scheme == "https" else {
            throw hop.failure(.unsupportedURL, "the scheme \"\(scheme)\" is not http or https")
        }
        // Together they must be read as what they are, whoever made the request: "x" as a path would lengthen the host's
        // name, "@x" would make it a user's.
        let path = hop.exchange.request.path ?? "/"
        guard path.utf8.first == UInt8(ascii: "/"), path.allBytes({ $0 > 0x20 && $0 != 0x7F }),
            authority.allBytes(\.isAllowedInAuthority)
        else {
            throw hop.failure(.invalidURL, "the host or the path has characters that mislead")
        }
        method = hop.exchange.request.method
        guard method != .connect else {
            throw hop.failure(.unsupportedByTransport, "CONNECT opens a connection for another protocol")
        }
        if method == .head, hop.exchange.body.length != 0 {
            // libcurl would wait for a body of the response.
            throw hop.failure(.unsupportedByTransport, "a HEAD request with a body cannot be sent")
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

    /// In one allocation, where `+` makes three.
    private static func url(_ scheme: String, _ authority: String, _ path: String) -> String {
        var url = ""
        url.reserveCapacity(scheme.utf8.count + 3 + authority.utf8.count + path.utf8.count)
        url += scheme
        url += "://"
        url += authority
        url += path
        return url
    }

    /// Whether the host is an address of IPv4; what only looks like one is looked up as a name.
    private static func isAddress(_ authority: String) -> Bool {
        guard authority.allBytes({ (0x2E...0x3A).contains($0) && $0 != 0x2F }) else { return false }
        var address = in_addr()
        return inet_pton(AF_INET, String(authority.prefix { $0 != ":" }), &address) == 1
    }

    /// The same for all spellings of a host.
    private static func hostKey(_ authority: String, isSecure: Bool) -> String {
        let ending = isSecure ? ":443" : ":80"
        let spelling = authority.hasSuffix(ending) ? String(authority.dropLast(ending.count)) : authority
        let key = spelling.allBytes { !$0.isCapital } ? spelling : spelling.asciiLowercased
        // No host has such a character.
        return isSecure ? "@" + key : key
    }

    /// What people call the host of a ``host``.
    static func origin(ofHost host: String) -> String {
        host.hasPrefix("@") ? "https://" + host.dropFirst() : "http://" + host
    }

    /// The fields of another form of the same request.
    func headers(for hop: Hop) -> StringList { Self.headers(for: hop, proxy: isSecure ? nil : route?.proxy) }

    /// - Parameter proxy: The proxy to which the request is handed whole; nil where there is none.
    private static func headers(for hop: Hop, proxy: Proxy?) -> StringList {
        let own = hop.exchange.request.headerFields
        let defaults = hop.exchange.options.defaultFields.fields.filter { !own.contains($0.name) }
        let isForProxy = proxy?.isOfHTTP == true
        let fields =
            own.filter { isForProxy || $0.name != .proxyAuthorization }
            + defaults.filter { $0.name != .proxyAuthorization }
        var extra: [String] = []
        if !hop.exchange.body.isNone || hop.exchange.request.method.expectsContent {
            // A name without a value keeps libcurl from adding a field of its own.
            for name in [.expect, .contentType] as [HTTPField.Name] where !fields.contains(where: { $0.name == name }) {
                extra.append("\(name.rawName):")
            }
            if hop.exchange.body.length == nil { extra.append("Transfer-Encoding: chunked") }
        }
        // libcurl frames the body itself; another word on that would contradict it.
        return StringList(
            fields: fields.filter { $0.name != .contentLength && $0.name != .transferEncoding }, extra: extra)
    }
}
