public import AfarTransport
import Dispatch
import Synchronization

/// A policy that permits connections to public addresses, and refuses connections into private networks. It protects services such as
/// webhook senders, which fetch URLs that strangers supply, against server-side request forgery.
///
/// ```swift
/// var configuration = SessionConfiguration.default
/// configuration.connectionPolicy = EgressPolicy()
/// let session = Session(configuration: configuration)
/// ```
///
/// The policy checks the address to which a socket is about to connect, so neither redirects nor changing DNS answers circumvent it. A
/// request whose addresses are all refused fails with ``TransportError/Code-swift.struct/refusedByPolicy``.
///
/// An address isn't public if it is in IANA's special-purpose registries for IPv4 and IPv6, or if it is a multicast or unallocated
/// address. The addresses of cloud providers' metadata services aren't public either. An address that contains an IPv4 address is
/// public only if the IPv4 address is public (RFC 6052, RFC 5214). Unix sockets, proxies and ``NetworkSettings/connectTo`` are
/// refused unless they are allowed.
///
/// Share one policy between requests. A request can reuse a connection only if the connection was opened with the request's policy.
public final class EgressPolicy: ConnectionPolicy {
    /// What happens to a connection that the rules don't allow.
    public enum Mode: Sendable, Hashable {
        /// Refuses the connection.
        case enforce
        /// Opens the connection and reports it. Use this mode to find out which rules a program needs.
        case report
    }

    private let allowed: [EgressRule]
    private let denied: [EgressRule]
    private let proxies: [EgressRule]
    private let unixSockets: Set<String>
    private let allowsConnectTo: Bool
    private let mode: Mode
    private let reports: RefusalReports?

    /// Creates a policy that allows any host and port, at public addresses only.
    public convenience init() { self.init(allowing: [.publicAddresses]) }

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - allowed: The allowed destinations. The default is all public addresses.
    ///   - denied: Destinations that are refused even if another rule allows them. The default is none. Behind a proxy, rules with networks
    ///     apply only if the host is an address instead of a name.
    ///   - proxies: The proxies that can be used, including those from the environment. Behind a proxy, the host's address is known only if
    ///     the host is an address instead of a name. Such an address is checked in the same way as without a proxy. For a name, a rule in
    ///     `allowed` must match the name and port. A rule with networks and the host `*` doesn't count. The default is none.
    ///   - unixSockets: The paths of Unix sockets that can be used. The default is none. Rules don't apply to them.
    ///   - allowsConnectTo: Whether ``NetworkSettings/connectTo`` can be used. The rules must then allow the name and port of the URL, and
    ///     also the destination of the connection. The default is false.
    ///   - mode: What happens to a connection that isn't allowed. The default is ``Mode/enforce``.
    ///   - onRefusal: Called for each connection that isn't allowed, in either mode, one call at a time on a private queue. If 1,000 calls
    ///     are waiting, further calls are omitted. The default is nil.
    public init(
        allowing allowed: [EgressRule] = [.publicAddresses], denying denied: [EgressRule] = [],
        proxies: [EgressRule] = [], unixSockets: Set<String> = [], allowsConnectTo: Bool = false,
        mode: Mode = .enforce, onRefusal: (@Sendable (EgressRefusal) -> Void)? = nil
    ) {
        (self.allowed, self.denied, self.proxies) = (allowed, denied, proxies)
        (self.unixSockets, self.allowsConnectTo, self.mode) = (unixSockets, allowsConnectTo, mode)
        reports = onRefusal.map { RefusalReports($0) }
    }

    /// Decides whether a transport can open a connection. Called by transports.
    public func decide(on candidate: ConnectionCandidate) -> ConnectionDecision {
        guard let reason = refusal(of: candidate) else { return .allow }
        reports?.add(EgressRefusal(connection: candidate, reason: reason))
        return mode == .report ? .allow : .refuse(reason: reason)
    }

    // MARK: Rules

    private func refusal(of candidate: ConnectionCandidate) -> String? {
        let (host, port) = (candidate.host.normalizedHost, candidate.port)
        let address = IPAddress(candidate.address)
        switch candidate.route {
        case .direct: return refusal(host: host, port: port, address: address)
        case .connectTo(let target, let targetPort):
            return refusalOfConnectTo(from: host, port)
                ?? refusal(host: target.normalizedHost, port: targetPort, address: address)
        case .unixSocket(let path):
            return unixSockets.contains(path) ? nil : "the Unix socket is not one of the policy's unixSockets"
        case .proxy(let proxy, let target, let targetPort):
            let proxyHost = proxy.host.normalizedHost
            let isAllowed = proxies.contains { rule in
                rule.matches(host: proxyHost, port: proxy.port)
                    && (!rule.hasNetworks || address.flatMap { rule.containsInNetworks($0) } == true)
            }
            guard isAllowed else {
                return "the proxy is not one of the policy's proxies, and the host's address is unknown behind a proxy"
            }
            let isRerouted = (target.normalizedHost, targetPort) != (host, port)
            return (isRerouted ? refusalOfConnectTo(from: host, port) : nil)
                ?? refusalBehindProxy(host: target.normalizedHost, port: targetPort)
        }
    }

    /// Returns why a connection to a known address isn't allowed; nil if it is allowed.
    private func refusal(host: String, port: Int, address: IPAddress?) -> String? {
        guard let address else { return "the address is unknown" }
        guard !denied.contains(where: { $0.denies(host: host, port: port, address) }) else {
            return "a rule denies it"
        }
        let candidates = allowed.filter { $0.matches(host: host, port: port) }
        let use = SpecialAddresses.use(of: address)
        guard !candidates.contains(where: { $0.containsInNetworks(address) ?? (use == nil) }) else { return nil }
        return candidates.contains { !$0.hasNetworks } ? use ?? "it is not public" : "no rule allows it"
    }

    /// Returns why a proxy must not connect to a host; nil if it can. The address is known only if the host is an address instead of a
    /// name.
    private func refusalBehindProxy(host: String, port: Int) -> String? {
        if let address = IPAddress(host: host) { return refusal(host: host, port: port, address: address) }
        return refusal(host: host, port: port) { !$0.hasNetworks || $0.hasHost }
    }

    private func refusalOfConnectTo(from host: String, _ port: Int) -> String? {
        allowsConnectTo
            ? refusal(host: host, port: port) { _ in true } : "connectTo applies to it, which the policy doesn't allow"
    }

    /// Returns why a host's name or port isn't allowed; nil if it is allowed.
    private func refusal(host: String, port: Int, considering isSuitable: (EgressRule) -> Bool) -> String? {
        guard !denied.contains(where: { !$0.hasNetworks && $0.matches(host: host, port: port) }) else {
            return "a rule denies \(host):\(port)"
        }
        let isAllowed = allowed.contains { isSuitable($0) && $0.matches(host: host, port: port) }
        return isAllowed ? nil : "no rule allows \(host):\(port)"
    }
}

/// A connection that an ``EgressPolicy`` doesn't allow.
public struct EgressRefusal: Sendable, Hashable, CustomStringConvertible {
    /// The connection.
    public let connection: ConnectionCandidate
    /// The reason, such as "127.0.0.1 is a loopback address (127.0.0.0/8, RFC 1122)".
    public let reason: String

    /// The connection and the reason on one line.
    public var description: String { "\(connection): \(reason)" }
}

/// Calls a closure with refusals, outside of the transport's threads.
private final class RefusalReports: Sendable {
    private static let limit = 1_000

    private let queue = DispatchQueue(label: "afar.egress")
    private let waiting = Atomic(0)
    private let report: @Sendable (EgressRefusal) -> Void

    init(_ report: @escaping @Sendable (EgressRefusal) -> Void) { self.report = report }

    func add(_ refusal: EgressRefusal) {
        guard waiting.wrappingAdd(1, ordering: .relaxed).newValue <= Self.limit else {
            waiting.wrappingSubtract(1, ordering: .relaxed)
            return
        }
        queue.async { [self] in
            report(refusal)
            waiting.wrappingSubtract(1, ordering: .relaxed)
        }
    }
}
