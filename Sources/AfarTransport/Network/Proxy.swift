import Foundation

/// A server through which requests go on their way to others.
public struct Proxy: Sendable, Hashable {
    /// What is spoken with a proxy.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// HTTP: requests over http are handed to it whole (RFC 9112, section 3.2.2), for those over https it opens a tunnel
        /// (`CONNECT`, RFC 9110, section 9.3.6).
        case http
        /// The same over TLS. Its certificate must be one that the transport trusts.
        case https
        /// SOCKS 5 (RFC 1928). This machine looks up the names of the hosts.
        case socks5
        /// SOCKS 5. The proxy looks up the names of the hosts.
        case socks5h

        fileprivate var standardPort: Int {
            switch self {
            case .http: 80
            case .https: 443
            case .socks5, .socks5h: 1080
            }
        }
    }

    /// What the proxy wants to know about who uses it. It is shown to the proxy only.
    public struct Credential: Sendable, Hashable {
        /// The user's name.
        public let user: String
        /// The password.
        public let password: String

        /// Makes a credential.
        public init(user: String, password: String) { (self.user, self.password) = (user, password) }
    }

    /// What is spoken with it.
    public let kind: Kind
    /// Its name or address; an address of IPv6 without brackets.
    public let host: String
    /// Its port.
    public let port: Int
    /// Who uses it, by Basic authentication (RFC 7617) or by name and password (RFC 1929); nil when it does not ask.
    public let credential: Credential?

    /// Describes a proxy.
    ///
    /// - Parameters:
    ///   - kind: What is spoken with it. The default is HTTP.
    ///   - host: Its name or address.
    ///   - port: Its port. The default is 80 for HTTP, 443 for HTTPS and 1080 for SOCKS.
    ///   - credential: Who uses it. The default is nil.
    /// - Throws: ``InvalidProxy`` when there is no such host or port.
    public init(_ kind: Kind = .http, host: String, port: Int? = nil, credential: Credential? = nil) throws {
        let authority = HostName.authority(host, port: port ?? kind.standardPort)
        try self.init("\(kind.rawValue)://\(authority)", credential: credential)
    }

    /// Reads a proxy's URL, as it stands in `http_proxy`: `http://user:password@proxy.example:3128`, or with the scheme
    /// `https`, `socks5` or `socks5h`. Without a scheme it is one of HTTP. A path is passed over.
    ///
    /// - Throws: ``InvalidProxy`` when it cannot be read.
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
            // Foundation would encode what does not fit.
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

    /// Its URL without credential.
    package var url: String { "\(kind.rawValue)://\(HostName.authority(host, port: port))" }
}

/// Nothing of a credential is to be seen in logs.
extension Proxy: CustomStringConvertible, CustomReflectable {
    /// Its URL without credential.
    public var description: String { url }

    /// Its URL without credential.
    public var customMirror: Mirror { Mirror(self, children: ["url": url]) }
}

extension Proxy.Credential: CustomStringConvertible, CustomReflectable {
    /// The user's name is part of what is hidden.
    public var description: String { "***" }

    /// Empty.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A proxy that cannot be used as it is described.
public struct InvalidProxy: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, without the proxy's URL, which may hold a password.
    public let description: String

    init(_ reason: String) { description = "the proxy cannot be used: \(reason)" }
}
