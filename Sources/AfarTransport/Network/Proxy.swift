import Foundation

/// A server that forwards requests to other servers.
public struct Proxy: Sendable, Hashable {
    /// The protocol for communicating with a proxy.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// HTTP. The proxy receives `http` requests in absolute form (RFC 9112, section 3.2.2), and opens a tunnel for `https`
        /// requests (`CONNECT`, RFC 9110, section 9.3.6).
        case http
        /// HTTP over TLS. The transport must trust the proxy's certificate.
        case https
        /// SOCKS 5 (RFC 1928). This machine resolves host names.
        case socks5
        /// SOCKS 5. The proxy resolves host names.
        case socks5h

        fileprivate var standardPort: Int {
            switch self {
            case .http: 80
            case .https: 443
            case .socks5, .socks5h: 1080
            }
        }
    }

    /// A user name and password for a proxy. They are sent to the proxy only.
    public struct Credential: Sendable, Hashable {
        /// The user's name.
        public let user: String
        /// The password.
        public let password: String

        /// Creates a credential.
        public init(user: String, password: String) { (self.user, self.password) = (user, password) }
    }

    /// The protocol for communicating with the proxy.
    public let kind: Kind
    /// The proxy's name or address. An IPv6 address has no brackets.
    public let host: String
    /// The proxy's port.
    public let port: Int
    /// The credential for Basic authentication (RFC 7617) or SOCKS user name and password authentication (RFC 1929); nil if the
    /// proxy doesn't require one.
    public let credential: Credential?

    /// Creates a proxy.
    ///
    /// - Parameters:
    ///   - kind: The protocol for communicating with the proxy. The default is HTTP.
    ///   - host: The proxy's name or address.
    ///   - port: The proxy's port. The default is 80 for HTTP, 443 for HTTPS and 1080 for SOCKS.
    ///   - credential: The credential for the proxy. The default is nil.
    /// - Throws: ``InvalidProxy`` if the host, port or credential is invalid.
    public init(_ kind: Kind = .http, host: String, port: Int? = nil, credential: Credential? = nil) throws {
        let authority = HostName.authority(host, port: port ?? kind.standardPort)
        try self.init("\(kind.rawValue)://\(authority)", credential: credential)
    }

    /// Creates a proxy from a URL in the format of `http_proxy`: `http://user:password@proxy.example:3128`.
    ///
    /// The scheme can also be `https`, `socks5` or `socks5h`. The default scheme is `http`. A path is ignored.
    ///
    /// - Throws: ``InvalidProxy`` if the URL is invalid.
    public init(_ url: String) throws { try self.init(url, credential: nil) }

    private init(_ url: String, credential: Credential?) throws(InvalidProxy) {
        let end = url.range(of: "://")
        let scheme = end.map { url[..<$0.lowerBound].lowercased() } ?? Kind.http.rawValue
        guard let kind = Kind(rawValue: scheme) else {
            throw InvalidProxy("its scheme, \(scheme), is none of \(Kind.allCases.map(\.rawValue).formatted())")
        }
        let target: RequestTarget
        do {
            let rest = url[(end?.upperBound ?? url.startIndex)...]
            // Foundation would percent-encode invalid characters.
            let isPlain = rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && rest.count(where: { $0 == "@" }) < 2
            guard isPlain, let http = URL(string: "http://" + rest) else {
                throw RequestTarget.Fault.malformed("its URL cannot be read")
            }
            target = try RequestTarget(http)
        } catch {
            throw InvalidProxy("\(error)")
        }
        self.kind = kind
        host = HostName(ofAuthority: target.authority).text
        port = HostName.port(ofAuthority: target.authority) ?? kind.standardPort
        let own = target.userinfo.map { Credential(user: $0.user, password: $0.password) }
        self.credential = credential ?? own
        guard (1...65_535).contains(port) else { throw InvalidProxy("there is no port \(port)") }
        let texts = [self.credential?.user, self.credential?.password].compactMap(\.self)
        guard texts.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }) else {
            throw InvalidProxy("its credential has control characters")
        }
        if kind == .http || kind == .https, self.credential?.user.contains(":") == true {
            throw InvalidProxy("the user's name has a colon, which Basic authentication cannot send")
        }
    }

    /// The proxy's URL without the credential.
    package var url: String { "\(kind.rawValue)://\(HostName.authority(host, port: port))" }

    /// Whether the proxy speaks HTTP, so that fields of a request can be for it.
    package var isOfHTTP: Bool { kind == .http || kind == .https }
}

/// Keeps credentials out of logs.
extension Proxy: CustomStringConvertible, CustomReflectable {
    /// The proxy's URL without the credential.
    public var description: String { url }

    /// Contains only the proxy's URL without the credential.
    public var customMirror: Mirror { Mirror(self, children: ["url": url]) }
}

extension Proxy.Credential: CustomStringConvertible, CustomReflectable {
    /// Hides both the user name and the password.
    public var description: String { "***" }

    /// Empty.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// An error that is thrown for an invalid proxy.
public struct InvalidProxy: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason. It doesn't contain the proxy's URL, which can include a password.
    public let description: String

    init(_ reason: String) { description = "the proxy cannot be used: \(reason)" }
}
