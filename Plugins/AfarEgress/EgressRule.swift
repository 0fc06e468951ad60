import AfarTransport
public import Foundation

/// A rule that describes destinations by host, port and address. A destination matches the rule if all three match.
public struct EgressRule: Sendable, Hashable {
    private enum Host: Hashable {
        case any
        case name(String)
        case address(IPAddress)
        /// The subdomains of a name. The associated value is the name with a leading dot.
        case subdomains(String)
    }

    private let host: Host
    private let ports: Set<Int>?
    private let networks: [IPNetwork]?

    /// Any host and port, at public addresses.
    public static let publicAddresses = EgressRule(host: .any, ports: nil, networks: nil)

    private init(host: Host, ports: Set<Int>?, networks: [IPNetwork]?) {
        (self.host, self.ports, self.networks) = (host, ports, networks)
    }

    /// Creates a rule.
    ///
    /// - Parameters:
    ///   - host: A name or an address, such as `api.example.com`. `*.example.com` matches the subdomains of `example.com`, and `*` any
    ///     host. Case and a trailing dot don't matter. Write names outside of ASCII in their encoded form (`xn--…`). The default is `*`.
    ///   - ports: The ports, or nil for any port. The default is nil.
    ///   - networks: The networks of the host's address, such as `10.0.0.0/8`, `fd12:3456::/32` or `192.0.2.7`. The default is nil. Without
    ///     networks, a rule in a list of allowed destinations matches only public addresses, and a rule in any other list matches all
    ///     addresses. In a list of denied destinations, a network matches every address in it. In other lists, a network matches the
    ///     address of a cloud provider's metadata service only if it consists of this address alone.
    /// - Throws: ``InvalidEgressRule``.
    public init(host: String = "*", ports: [Int]? = nil, networks: [String]? = nil) throws {
        if let ports {
            guard !ports.isEmpty else {
                throw InvalidEgressRule("it has an empty list of ports, so it matches nothing")
            }
            if let port = ports.first(where: { !(1...65_535).contains($0) }) {
                throw InvalidEgressRule("its port \(port) is not 1 to 65535")
            }
        }
        let parsed = try networks?.map { text in
            guard let network = IPNetwork(text) else {
                throw InvalidEgressRule("\"\(text)\" is not a network: use a form such as 10.0.0.0/8 or 2001:db8::/32")
            }
            return network
        }
        if parsed?.isEmpty == true {
            throw InvalidEgressRule("it has an empty list of networks, so it matches nothing")
        }
        self.init(host: try Self.host(host), ports: ports.map(Set.init), networks: parsed)
    }

    private static func host(_ text: String) throws -> Host {
        guard text != "*" else { return .any }
        let name = text.normalizedHost
        let unbracketed = name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name
        if let address = SocketAddress(unbracketed).flatMap({ IPAddress($0) }) { return .address(address) }
        let base = name.hasPrefix("*.") ? name.dropFirst(2) : name[...]
        let isName = base.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isName, !base.isEmpty, !base.hasPrefix(".") else {
            throw InvalidEgressRule(
                "\"\(text)\" is not a host: use a form such as example.com, *.example.com or 192.0.2.7")
        }
        return name.hasPrefix("*.") ? .subdomains("." + base) : .name(name)
    }

    /// Returns whether the port and the host match. If the rule's host is an address, the hosts are compared as addresses. Otherwise, they
    /// are compared as names.
    func matches(host name: String, port: Int) -> Bool {
        guard ports?.contains(port) ?? true else { return false }
        switch host {
        case .any: return true
        case .name(let own): return name == own
        case .address(let own): return SocketAddress(name).flatMap { IPAddress($0) } == own
        case .subdomains(let end): return name.hasSuffix(end)
        }
    }

    /// Returns whether the rule, as part of a list of denied destinations, denies a connection. A rule whose host is an address denies
    /// every connection to this address on the rule's ports.
    func denies(host name: String, port: Int, _ address: IPAddress) -> Bool {
        if case .address(let own) = host, address.forms.contains(own) { return ports?.contains(port) ?? true }
        return matches(host: name, port: port) && denies(address)
    }

    var hasNetworks: Bool { networks != nil }

    var hasHost: Bool { host != .any }

    /// Whether one of the networks contains an address; nil if the rule has no networks.
    func containsInNetworks(_ address: IPAddress) -> Bool? {
        let isMetadata = address.forms.contains { SpecialAddresses.metadata.contains($0) }
        return networks?.contains { $0.contains(address) && (!isMetadata || $0.isSingle) }
    }

    /// Whether the rule denies an address. An address that contains an IPv4 address is denied if either address is denied.
    private func denies(_ address: IPAddress) -> Bool {
        networks?.contains { network in address.forms.contains { network.contains($0) } } ?? true
    }
}

extension String {
    /// A host in lowercase, without trailing dots.
    var normalizedHost: String {
        var name = lowercased()
        while name.hasSuffix(".") { name.removeLast() }
        return name
    }
}

/// An error that is thrown for a rule that can't be used.
public struct InvalidEgressRule: Error, Sendable, Hashable, CustomStringConvertible, LocalizedError {
    /// The reason on one line.
    public let description: String
    /// The same as ``description``.
    public var errorDescription: String? { description }

    init(_ reason: String) { description = "The egress rule can't be used: \(reason)." }
}
