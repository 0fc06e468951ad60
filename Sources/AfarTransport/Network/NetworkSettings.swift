import Foundation

/// Settings that determine how requests reach their hosts.
public struct NetworkSettings: Sendable, Hashable {
    /// A family of IP addresses.
    public enum AddressFamily: Sendable, Hashable {
        /// Both families; the operating system orders the addresses (RFC 6724).
        case any
        /// IPv4 only.
        case ipv4
        /// IPv6 only.
        case ipv6
    }

    /// Probes on a connection without traffic (RFC 9293, section 3.8.4). They keep firewalls and address translators from dropping a quiet
    /// connection, and close a connection whose other end has disappeared.
    public struct TCPKeepAlive: Sendable, Hashable {
        /// How long a connection is quiet before the first probe, in seconds: 1 to 32,767. The default is 60.
        public var idle: Int
        /// The time between two probes, in seconds: 1 to 32,767. The default is 15.
        public var interval: Int
        /// The number of probes without an answer after which the connection is closed: 1 to 127. The default is 4.
        public var count: Int

        /// Creates settings for probes. The times are in seconds.
        public init(idle: Int = 60, interval: Int = 15, count: Int = 4) {
            (self.idle, self.interval, self.count) = (idle, interval, count)
        }
    }

    /// The proxies for requests. The default is none.
    public var proxies = ProxySettings.none
    /// The path of a Unix socket for all connections, or nil to use TCP. The default is nil.
    ///
    /// The URL's host doesn't affect where connections go, but is still sent to the server. No proxy is used. With `CurlTransport`, each
    /// connection serves one request.
    public var unixSocket: String?
    /// Addresses to connect to instead of certain hosts: `["api.example.com:443": "10.0.0.5:8443"]`. The default is empty.
    ///
    /// A key without a host or a port matches any host or port. A value without a host or a port keeps the original host or port. Write
    /// IPv6 addresses in brackets. The URL, the `Host` field and the name that is checked in the certificate don't change.
    public var connectTo: [String: String] = [:]
    /// The name of the network interface for outgoing connections, such as `eth0`, or nil to let the system choose. The default
    /// is nil.
    public var interface: String?
    /// The local address for outgoing connections, or nil to let the system choose. The default is nil.
    public var localAddress: String?
    /// The family of IP addresses to connect to. With a proxy, the family applies to the proxy's addresses. With SOCKS 5, it also applies
    /// to the host's addresses if the client resolves the host's name. The default is ``AddressFamily/any``.
    ///
    /// A request fails with ``TransportError/Code-swift.struct/cannotFindHost`` if its host has no address of the family.
    public var addressFamily = AddressFamily.any
    /// How TCP checks that the other end of a connection still exists, or nil for no checks. The default is nil.
    public var tcpKeepAlive: TCPKeepAlive?

    /// Creates settings that leave every choice to the transport.
    public init() {}

    /// Settings with the proxies in the current environment of the process.
    public static var environment: NetworkSettings {
        var settings = NetworkSettings()
        settings.proxies = .environment
        return settings
    }

    /// Returns a Boolean value that indicates whether requests to a server stay on this machine, and therefore need neither TLS nor a
    /// network.
    ///
    /// This is true for `localhost` and names below it (RFC 6761, section 6.3), 127.0.0.0/8 (RFC 1122, section 3.2.1.3), and ::1 (RFC 4291,
    /// section 2.5.3). The result is false if these settings send the requests to a proxy or connect to another host. A ``HostResolver``
    /// doesn't change the result, because these names aren't looked up. With a ``unixSocket``, only the server's name counts.
    ///
    /// - Parameters:
    ///   - scheme: The scheme of the requests.
    ///   - authority: The host, and the port if it isn't the scheme's default port, such as `localhost:8080` or `[::1]`.
    public func staysOnThisMachine(scheme: String?, authority: String?) -> Bool {
        guard let authority, Self.isLoopback(authority) else { return false }
        let isSecure = scheme?.lowercased() == "https"
        let (name, port) = HostName.split(authority)
        do {
            guard try proxy(isSecure: isSecure, authority: authority) == nil else { return false }
            return Self.isLoopback(try connectTarget(forHost: name, port: port ?? (isSecure ? 443 : 80)).host)
        } catch {
            return false
        }
    }

    /// Whether a host, with or without a port, is a name or an address of this machine.
    private static func isLoopback(_ authority: String) -> Bool {
        let bytes = authority.utf8
        // The host of an authority with a user name comes after the "@".
        guard !bytes.contains(UInt8(ascii: "@")) else { return false }
        if bytes.starts(with: "[::1]".utf8) {
            return bytes.dropFirst(5).first.map { $0 == UInt8(ascii: ":") } ?? true
        }
        if authority == "::1" { return true }
        var host = bytes.prefix { $0 != UInt8(ascii: ":") }
        if host.last == UInt8(ascii: ".") { host.removeLast() }
        if host.starts(with: "127.".utf8) {
            let numbers = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            return numbers.count == 4
                && numbers.allSatisfy { $0.allSatisfy(\.isDigit) && UInt8(String(decoding: $0, as: UTF8.self)) != nil }
        }
        let name = host.suffix(".localhost".utf8.count).map(\.asciiLowercased)
        return name.elementsEqual(".localhost".utf8) || host.count == name.count && name.elementsEqual("localhost".utf8)
    }

    package static let none = NetworkSettings()

    /// Whether every choice is left to the transport.
    package var isDefault: Bool {
        var others = self
        others.proxies = .none
        return proxies.isDirect && others == .none
    }
}

extension NetworkSettings {
    /// Throws an error if a setting can't be used on this machine.
    package func validate() throws(InvalidSetting) {
        let texts =
            [unixSocket, interface, localAddress].compactMap(\.self) + connectTo.flatMap { [$0.key, $0.value] }
        for text in texts where text.isEmpty || !text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) {
            throw InvalidSetting("a network setting is empty or has control characters")
        }
        _ = try connectToEntries()
        try unixSocket.map { path throws(InvalidSetting) in try Self.check(path: path) }
        try interface.map { name throws(InvalidSetting) in try Self.check(interface: name) }
        try localAddress.map { address throws(InvalidSetting) in try Self.check(address: address) }
        if interface != nil, localAddress != nil {
            throw InvalidSetting("an interface and a local address were both set: use only one of them")
        }
        try tcpKeepAlive.map { probes throws(InvalidSetting) in try probes.validate() }
    }

    /// The entries of ``connectTo``, the most specific ones first.
    package func connectToEntries() throws(InvalidSetting) -> [ConnectToEntry] {
        var entries: [(key: String, entry: ConnectToEntry)] = []
        for (key, value) in connectTo { entries.append((key, try ConnectToEntry(key, value))) }
        entries.sort { ($0.entry.rank, $0.key) < ($1.entry.rank, $1.key) }
        return entries.map(\.entry)
    }

    package func connectTarget(forHost host: String, port: Int) throws(InvalidSetting) -> (host: String, port: Int) {
        guard !connectTo.isEmpty else { return (host, port) }
        let name = HostName(host)
        let entry = try connectToEntries().first { $0.matches(name, port) }
        return (entry?.value.host.map { HostName($0).text + $0.zone } ?? host, entry?.value.port ?? port)
    }

    /// Returns the proxy for a request; nil to connect directly.
    package func proxy(isSecure: Bool, authority: String) throws(InvalidProxy) -> Proxy? {
        unixSocket == nil ? try proxies.proxy(scheme: isSecure ? "https" : "http", authority: authority) : nil
    }

    private static func check(path: String) throws(InvalidSetting) {
        let limit = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
        guard path.utf8.count > limit else { return }
        throw InvalidSetting(
            "the path of the Unix socket has \(path.utf8.count) bytes, but the system supports at most \(limit): use a "
                + "shorter path than \"\(path)\", such as a symbolic link")
    }

    private static func check(interface name: String) throws(InvalidSetting) {
        guard if_nametoindex(name) == 0 else { return }
        var names: [String] = []
        if let list = if_nameindex() {
            var entry = list
            while let name = entry.pointee.if_name {
                names.append(String(cString: name))
                entry += 1
            }
            if_freenameindex(list)
        }
        throw InvalidSetting(
            "this machine has no network interface \"\(name)\": use one of \(names.joined(separator: ", "))")
    }

    private static func check(address: String) throws(InvalidSetting) {
        guard let found = try? SocketAddress.lookUp(address, isAddress: true).first else {
            throw InvalidSetting(
                "the local address \"\(address)\" is not an IP address: use one of this machine's addresses")
        }
        let descriptor = socket(found.family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard found.withPointer({ Foundation.bind(descriptor, $0, $1) }) != 0, errno == EADDRNOTAVAIL else { return }
        throw InvalidSetting("this machine does not have the local address \"\(address)\": use one of its addresses")
    }
}

package struct InvalidSetting: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

package struct ConnectToEntry: Sendable {
    /// A host, in brackets if it is an IPv6 address, and a port. In a key, nil matches any host or port. In a value, nil keeps the original
    /// host or port.
    package typealias Endpoint = (host: String?, port: Int?)

    package let key: Endpoint
    package let value: Endpoint

    fileprivate init(_ key: String, _ value: String) throws(InvalidSetting) {
        (self.key, self.value) = (try Self.endpoint(key), try Self.endpoint(value))
    }

    private static func endpoint(_ text: String) throws(InvalidSetting) -> Endpoint {
        let port = HostName.port(ofAuthority: text)
        let host = port == nil ? text : String(text[..<(text.lastIndex(of: ":") ?? text.endIndex)])
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        guard isBracketed || !host.contains(":"), port.map({ (1...65_535).contains($0) }) ?? true else {
            throw InvalidSetting(
                "\"\(text)\" in connectTo is not a host and a port: use a form such as \"example.com:443\" or \"[::1]:8080\""
            )
        }
        // Callers expect the zone in the form `%eth0`.
        let zone = host.zone
        return (host.isEmpty ? nil : zone.isEmpty ? host : "[\(HostName(host).text)\(zone)]", port)
    }

    /// The position of the entry. The order is: a host and a port, only a host, only a port, neither.
    fileprivate var rank: Int { (key.host == nil ? 2 : 0) + (key.port == nil ? 1 : 0) }

    fileprivate func matches(_ host: HostName, _ port: Int) -> Bool {
        key.host.map { HostName($0) == host } ?? true && key.port.map { $0 == port } ?? true
    }
}

extension NetworkSettings.AddressFamily {
    /// Returns the error for a host that has no address of this family.
    package func noAddress(of host: String) -> Fault {
        Fault(
            .cannotFindHost,
            "\(host) has no \(self == .ipv6 ? "IPv6" : "IPv4") address, which addressFamily requires")
    }
}

extension NetworkSettings.TCPKeepAlive {
    /// The largest values that Linux accepts.
    private static let longestTime = 32_767
    private static let largestCount = 127

    fileprivate func validate() throws(InvalidSetting) {
        let times = 1...Self.longestTime
        guard times.contains(idle), times.contains(interval), (1...Self.largestCount).contains(count) else {
            throw InvalidSetting(
                "tcpKeepAlive is out of range: the times must be 1 to \(Self.longestTime) s, and the count 1 to \(Self.largestCount)"
            )
        }
    }

    /// Enables the probes for a TCP socket. Returns 0, or the system's error code.
    package func apply(to socket: Int32) -> Int32 {
        #if canImport(Darwin)
            let idleOption = TCP_KEEPALIVE
        #else
            let idleOption = TCP_KEEPIDLE
        #endif
        let options = [
            (SOL_SOCKET, SO_KEEPALIVE, 1), (Int32(IPPROTO_TCP), idleOption, Int32(clamping: idle)),
            (Int32(IPPROTO_TCP), TCP_KEEPINTVL, Int32(clamping: interval)),
            (Int32(IPPROTO_TCP), TCP_KEEPCNT, Int32(clamping: count)),
        ]
        for (level, name, value) in options {
            var value = value
            guard setsockopt(socket, level, name, &value, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
                return errno
            }
        }
        return 0
    }
}

#if os(Linux)
    extension NetworkSettings {
        /// Binds a socket to the interface or the local address, if one was set. Returns 0, or the system's error code.
        package func bind(_ descriptor: Int32, family: Int32) -> Int32 {
            if let interface { return Self.bind(descriptor, family, toInterface: interface) }
            guard let localAddress else { return 0 }
            let addresses = (try? SocketAddress.lookUp(localAddress, isAddress: true)) ?? []
            guard let address = addresses.first(where: { $0.family == family }) else { return EAFNOSUPPORT }
            return address.withPointer { Foundation.bind(descriptor, $0, $1) } == 0 ? 0 : errno
        }

        private static func bind(_ descriptor: Int32, _ family: Int32, toInterface name: String) -> Int32 {
            let length = socklen_t(name.utf8.count)
            if setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, name, length) == 0 { return 0 }
            guard errno == EPERM else { return errno }
            // The process lacks the privilege, so bind to the interface's address instead. The address determines the route in most
            // configurations.
            var list: UnsafeMutablePointer<ifaddrs>?
            guard getifaddrs(&list) == 0 else { return errno }
            defer { freeifaddrs(list) }
            var next = list
            while let entry = next {
                next = entry.pointee.ifa_next
                guard let address = entry.pointee.ifa_addr, Int32(address.pointee.sa_family) == family,
                    String(cString: entry.pointee.ifa_name) == name
                else { continue }
                let size = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
                return Foundation.bind(descriptor, address, socklen_t(size)) == 0 ? 0 : errno
            }
            return EADDRNOTAVAIL
        }
    }
#endif
