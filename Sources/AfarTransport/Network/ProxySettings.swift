import Foundation

/// Settings that determine which requests use which proxy.
public struct ProxySettings: Sendable, Hashable {
    /// The proxy for `http` requests; nil to connect directly.
    public var http: Proxy?
    /// The proxy for `https` requests; nil to connect directly.
    public var https: Proxy?
    /// The hosts to connect to directly, in the format of `no_proxy`.
    ///
    /// `example.com` and `.example.com` match the host and its subdomains. `10.0.0.1` matches an address, `10.0.0.0/8` a
    /// network (RFC 4632), `example.com:8080` a host at one port, and `*` every host. Case doesn't matter.
    public var exclusions: [String]
    /// The reasons why proxies in the environment are invalid, keyed by the scheme of the requests that would use them.
    private var faults: [String: InvalidProxy] = [:]

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - http: The proxy for `http` requests. The default is nil: no proxy.
    ///   - https: The proxy for `https` requests. The default is nil: no proxy.
    ///   - exclusions: The hosts to connect to directly; see ``exclusions``. The default is none.
    public init(http: Proxy? = nil, https: Proxy? = nil, exclusions: [String] = []) {
        (self.http, self.https, self.exclusions) = (http, https, exclusions)
    }

    /// Creates settings with one proxy for all requests except those to excluded hosts.
    public init(_ proxy: Proxy, exclusions: [String] = []) {
        self.init(http: proxy, https: proxy, exclusions: exclusions)
    }

    /// Settings without proxies.
    public static let none = ProxySettings()

    /// The settings in the current environment of the process; see ``init(environment:)``.
    public static var environment: ProxySettings { ProxySettings(environment: ProcessInfo.processInfo.environment) }

    /// Creates settings from `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, as curl and most tools do.
    ///
    /// Uppercase names work too, except `HTTP_PROXY`, because web servers set this variable for CGI programs from a header field of the
    /// request. A lowercase name takes precedence, and an empty variable is ignored. `no_proxy` contains the ``exclusions``, separated by
    /// commas or spaces. Requests that would use an invalid proxy fail.
    public init(environment: [String: String]) {
        self.init()
        let environment = environment.filter { !$0.value.isEmpty }
        func proxy(_ scheme: String, _ names: [String]) -> Proxy? {
            let name = (names + ["all_proxy", "ALL_PROXY"]).first { environment[$0] != nil }
            guard let name, let url = environment[name] else { return nil }
            do { return try Proxy(url) } catch {
                faults[scheme] = InvalidProxy("\(name): \(error)")
                return nil
            }
        }
        http = proxy("http", ["http_proxy"])
        https = proxy("https", ["https_proxy", "HTTPS_PROXY"])
        let list = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        exclusions = list.split { $0 == "," || $0.isWhitespace }.map(String.init)
    }

    var isDirect: Bool { http == nil && https == nil && faults.isEmpty }

    /// Returns the proxy for requests to a host; nil to connect directly.
    ///
    /// - Throws: ``InvalidProxy`` if the environment specifies an invalid proxy for the request.
    package func proxy(scheme: String, authority: String) throws(InvalidProxy) -> Proxy? {
        let proxy = scheme == "https" ? https : http
        let fault = faults[scheme]
        guard proxy != nil || fault != nil else { return nil }
        let (host, port) = (HostName(ofAuthority: authority), HostName.port(ofAuthority: authority))
        let isExcluded = exclusions.contains {
            ProxyExclusion($0).covers(host, port: port ?? (scheme == "https" ? 443 : 80))
        }
        if isExcluded { return nil }
        if let fault { throw fault }
        return proxy
    }
}

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
            // The text before "://" can be a credential.
            throw InvalidProxy("its scheme is not one of \(Kind.allCases.map(\.rawValue).formatted())")
        }
        let target: RequestTarget
        do {
            let rest = url[(end?.upperBound ?? url.startIndex)...]
            // Foundation would percent-encode invalid characters.
            let isPlain = rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } && rest.count(where: { $0 == "@" }) < 2
            guard isPlain, let http = URL(string: "http://" + rest) else {
                throw RequestTarget.Fault.malformed("its URL is invalid")
            }
            target = try RequestTarget(http)
        } catch {
            throw InvalidProxy("\(error)")
        }
        self.kind = kind
        host = HostName(ofAuthority: target.authority).text + target.authority.zone
        port = HostName.port(ofAuthority: target.authority) ?? kind.standardPort
        let own = target.userinfo.map { Credential(user: $0.user, password: $0.password) }
        self.credential = credential ?? own
        guard (1...65_535).contains(port) else { throw InvalidProxy("its port, \(port), is not 1 to 65535") }
        let texts = [self.credential?.user, self.credential?.password].compactMap(\.self)
        guard texts.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }) else {
            throw InvalidProxy("its credential has control characters")
        }
        if kind == .http || kind == .https, self.credential?.user.contains(":") == true {
            throw InvalidProxy("the user name has a colon, which Basic authentication does not support")
        }
    }

    /// The proxy's URL without the credential.
    package var url: String { "\(kind.rawValue)://\(HostName.authority(host, port: port))" }

    /// Whether the proxy uses HTTP and can receive header fields.
    package var usesHTTP: Bool { kind == .http || kind == .https }
}

// Logs must not contain credentials.
extension Proxy: CustomStringConvertible, CustomReflectable {
    /// The proxy's URL without the credential.
    public var description: String { url }

    /// A mirror that contains only the proxy's URL without the credential.
    public var customMirror: Mirror { Mirror(self, children: ["url": url]) }
}

extension Proxy.Credential: CustomStringConvertible, CustomReflectable {
    /// Three asterisks, which hide the user name and the password.
    public var description: String { "***" }

    /// An empty mirror, which hides the user name and the password.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// An error that is thrown for an invalid proxy.
public struct InvalidProxy: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason. It doesn't contain the proxy's URL, which can include a password.
    public let description: String

    init(_ reason: String) { description = "the proxy cannot be used: \(reason)" }
}

struct ProxyExclusion {
    private enum Pattern {
        case everything
        case network(NetworkAddress, bits: Int)
        case domain(String)
    }

    private let pattern: Pattern
    private let port: Int?

    init(_ text: String) {
        let entry = text.trimmingCharacters(in: .whitespaces)
        let slash = entry.lastIndex(of: "/")
        if entry == "*" {
            (pattern, port) = (.everything, nil)
        } else if let slash, let bits = Int(entry[entry.index(after: slash)...]),
            let address = NetworkAddress(HostName(String(entry[..<slash])).text), (0...address.bitCount).contains(bits)
        {
            (pattern, port) = (.network(address, bits: bits), nil)
        } else {
            let isBareAddress = NetworkAddress(entry) != nil
            port = isBareAddress ? nil : HostName.port(ofAuthority: entry)
            let name = HostName(entry).text
            if let address = NetworkAddress(name) {
                pattern = .network(address, bits: address.bitCount)
            } else {
                pattern = .domain(name.hasPrefix("*.") ? String(name.dropFirst(2)) : String(name.trimmingPrefix(".")))
            }
        }
    }

    func covers(_ host: HostName, port: Int) -> Bool {
        guard self.port == nil || self.port == port else { return false }
        let address = NetworkAddress(host.text)
        switch pattern {
        case .everything: return true
        case .network(let network, let bits): return address.map { network.sharesPrefix(of: bits, with: $0) } ?? false
        case .domain(let name):
            return !name.isEmpty && address == nil && (host.text == name || host.text.hasSuffix("." + name))
        }
    }
}

private struct NetworkAddress {
    private let bytes: [UInt8]

    /// Returns nil if the text is not an IP address.
    init?(_ text: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self.bytes = Array(bytes[..<4])
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            self.bytes = bytes
        } else {
            return nil
        }
    }

    var bitCount: Int { bytes.count * 8 }

    /// Returns whether another address has the same IP version and the same leading bits.
    func sharesPrefix(of count: Int, with other: NetworkAddress) -> Bool {
        guard bytes.count == other.bytes.count, bytes[..<(count / 8)] == other.bytes[..<(count / 8)] else {
            return false
        }
        guard count % 8 > 0 else { return true }
        return (bytes[count / 8] ^ other.bytes[count / 8]) >> (8 - count % 8) == 0
    }
}
