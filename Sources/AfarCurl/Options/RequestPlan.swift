import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes

/// What libcurl will be told about one request, prepared on the caller's thread.
struct RequestPlan {
    let url: String
    let method: HTTPRequest.Method
    let headers: HeaderList
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

    // A name without a value keeps libcurl from adding a field of its own.
    private static let noExpect: StaticString = "Expect:"
    private static let noContentType: StaticString = "Content-Type:"
    private static let chunked: StaticString = "Transfer-Encoding: chunked"

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
    func headers(for hop: Hop) -> HeaderList { Self.headers(for: hop, proxy: isSecure ? nil : route?.proxy) }

    /// - Parameter proxy: The proxy to which the request is handed whole; nil where there is none.
    private static func headers(for hop: Hop, proxy: Proxy?) -> HeaderList {
        let fields = hop.exchange.request.headerFields
        let defaults = hop.exchange.options.defaultFields.prepared(PreparedDefaults.init)
        var extra: [StaticString] = []
        if !hop.exchange.body.isNone || hop.exchange.request.method.expectsContent {
            if !defaults.hasExpect, !fields.contains(.expect) { extra.append(noExpect) }
            if !defaults.hasContentType, !fields.contains(.contentType) { extra.append(noContentType) }
            if hop.exchange.body.length == nil { extra.append(chunked) }
        }
        if fields.isEmpty { return extra.isEmpty ? defaults.list : HeaderList([], extra: extra, next: defaults.list) }
        let isForProxy = proxy?.isOfHTTP == true
        let isUnsent = { (field: HTTPField) in isFraming(field) || !isForProxy && field.name == .proxyAuthorization }
        let own = fields.contains(where: isUnsent) ? fields.filter { !isUnsent($0) } : Array(fields)
        return HeaderList(own, extra: extra, next: defaults.list(without: fields))
    }

    /// A session's default fields in libcurl's form, made once.
    private final class PreparedDefaults: Sendable {
        let list: HeaderList
        let hasExpect: Bool
        let hasContentType: Bool
        private let fields: [HTTPField]

        init(_ fields: HTTPFields) {
            self.fields = fields.filter { !isFraming($0) && $0.name != .proxyAuthorization }
            list = HeaderList(self.fields)
            hasExpect = fields.contains(.expect)
            hasContentType = fields.contains(.contentType)
        }

        /// Those that a request does not have itself.
        func list(without own: HTTPFields) -> HeaderList {
            guard fields.contains(where: { own.contains($0.name) }) else { return list }
            return HeaderList(fields.filter { !own.contains($0.name) })
        }
    }

    /// libcurl counts and frames the body itself; a second word on that would contradict it.
    private static func isFraming(_ field: HTTPField) -> Bool {
        field.name == .contentLength || field.name == .transferEncoding
    }
}
