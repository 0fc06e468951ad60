public import Foundation

/// A resolver with a fixed list of hosts, like `/etc/hosts`.
///
/// ```swift
/// let resolver = try StaticResolver(["api.example.com": ["192.0.2.1", "2001:db8::1"]], fallback: .system)
/// ```
public final class StaticResolver: HostResolver {
    private let hosts: [String: [SocketAddress]]
    private let fallback: (any HostResolver)?

    /// Creates a resolver.
    ///
    /// - Parameters:
    ///   - hosts: The IP addresses of each host, in order of preference and without brackets. The case of names doesn't matter. A host with
    ///     an empty list doesn't exist.
    ///   - fallback: Looks up hosts that aren't in the list. The default is nil: these hosts don't exist.
    /// - Throws: ``InvalidAddress`` if a text isn't an IP address.
    public init(_ hosts: [String: [String]], fallback: (any HostResolver)? = nil) throws(InvalidAddress) {
        var found: [String: [SocketAddress]] = [:]
        // Sort the hosts, so that different spellings of the same host have a defined order.
        for (host, texts) in hosts.sorted(by: { $0.key < $1.key }) {
            for text in texts {
                guard let address = SocketAddress(text) else { throw InvalidAddress(text: text, host: host) }
                found[HostName(host).text, default: []].append(address)
            }
            if texts.isEmpty, found[HostName(host).text] == nil { found[HostName(host).text] = [] }
        }
        (self.hosts, self.fallback) = (found, fallback)
    }

    /// Returns the addresses from the list or, if the host isn't in the list, from the fallback. Addresses from the list have no time to
    /// live.
    public func addresses(of host: String) async throws -> ResolvedAddresses {
        if let addresses = hosts[HostName(host).text] { return ResolvedAddresses(addresses) }
        return try await fallback?.addresses(of: host) ?? ResolvedAddresses([])
    }
}

/// An error that is thrown if a text in the list of a ``StaticResolver`` isn't an IP address.
public struct InvalidAddress: LocalizedError, Hashable, CustomStringConvertible {
    /// The invalid text.
    public let text: String
    /// The host whose list contains the text.
    public let host: String

    /// The text, the host, and what is expected.
    public var description: String {
        TerminalText.line(
            "\"\(text)\" in the list of the host \"\(host)\" is not an IP address: use a form such as \"192.0.2.1\" or "
                + "\"2001:db8::1\"")
    }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}
