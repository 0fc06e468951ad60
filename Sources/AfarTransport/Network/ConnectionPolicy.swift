import Foundation

/// Decides which connections a transport can open. For example, a service that fetches URLs supplied by strangers can use a policy to
/// protect its own network.
///
/// ```swift
/// final class NoPlainHTTP: ConnectionPolicy {
///     func decide(on candidate: ConnectionCandidate) -> ConnectionDecision {
///         candidate.scheme == "https" ? .allow : .refuse(reason: "only https is allowed")
///     }
/// }
/// ```
///
/// The policy of an exchange is ``ExchangeOptions/connectionPolicy``. A transport calls the policy for each address just before it connects
/// a socket, on every hop and for every attempt. A refused address is skipped as if it couldn't be reached. If all addresses of a host are
/// refused, the exchange fails with ``TransportError/Code-swift.struct/refusedByPolicy``.
///
/// Policies are compared by identity. An open connection serves only exchanges with the policy under which it was opened. Therefore, share
/// one policy between requests, and don't change its decisions later. An exchange with a policy requires the feature
/// ``TransportCapabilities/Features/connectionPolicy``.
public protocol ConnectionPolicy: AnyObject, Sendable {
    /// Decides whether a transport can connect to an address.
    ///
    /// This method is called on the thread that drives the connections, or on the thread that sends the request, while other connections
    /// wait. It must return quickly. Never block in it, and never call the transport or a session.
    func decide(on candidate: ConnectionCandidate) -> ConnectionDecision
}

/// A decision about a connection.
public enum ConnectionDecision: Sendable, Hashable {
    /// The transport can open the connection.
    case allow
    /// The transport must not open the connection. The reason is a part of the error's message.
    case refuse(reason: String)
}

/// A connection that a transport is about to open.
public struct ConnectionCandidate: Sendable, Hashable {
    /// How a connection leads to the host.
    public enum Route: Sendable, Hashable {
        /// To the URL's host and port.
        case direct
        /// To a different host or port, because of ``NetworkSettings/connectTo``.
        case connectTo(host: String, port: Int)
        /// To a Unix socket.
        case unixSocket(path: String)
        /// To a proxy, which connects to a host and port. These are the URL's host and port, unless ``NetworkSettings/connectTo`` replaces
        /// them.
        case proxy(Proxy, host: String, port: Int)
    }

    /// The scheme of the URL: `http` or `https`. WebSockets and raw connections use `https` if they begin with TLS.
    public var scheme: String
    /// The name or address of the URL's host in lowercase, without brackets, zone or trailing dot.
    public var host: String
    /// The port of the URL, or the default port of its scheme.
    public var port: Int
    /// How the connection leads to the host.
    public var route: Route
    /// The address and port to which the socket is about to be connected. With a proxy, it is an address of the proxy. The value is nil for
    /// a Unix socket, or if the transport can't determine the address of an open connection to a proxy.
    public var address: SocketAddress?

    /// Creates a candidate.
    public init(scheme: String, host: String, port: Int, route: Route = .direct, address: SocketAddress?) {
        (self.scheme, self.host, self.port, self.route, self.address) = (scheme, host, port, route, address)
    }
}

extension ConnectionCandidate: CustomStringConvertible {
    /// The destination on one line: `example.com (192.0.2.7:443)`.
    public var description: String {
        switch route {
        case .direct, .connectTo: "\(host)\(place)"
        case .unixSocket(let path): "\(host) (\(path))"
        case .proxy(let proxy, _, _): "\(host) through the proxy \(proxy)\(place)"
        }
    }

    private var place: String { address.map { " (\($0))" } ?? "" }
}

// MARK: - For transports

/// The policy of an exchange, compared by identity.
package struct ConnectionGuard: Sendable, Hashable {
    private let policy: any ConnectionPolicy

    /// Returns nil if the exchange has no policy.
    package init?(_ options: ExchangeOptions) {
        guard let policy = options.connectionPolicy else { return nil }
        self.policy = policy
    }

    package static func == (lhs: Self, rhs: Self) -> Bool { lhs.policy === rhs.policy }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(policy)) }

    /// Returns the reason for not opening a connection; nil if the policy permits it.
    package func refusal(of candidate: ConnectionCandidate) -> Fault? {
        guard case .refuse(let reason) = policy.decide(on: candidate) else { return nil }
        return Fault(.refusedByPolicy, "the connection to \(candidate) is not allowed: \(reason)")
    }
}

extension ConnectionCandidate {
    /// Creates a candidate for a request.
    ///
    /// - Parameters:
    ///   - host: The URL's host, without brackets.
    ///   - settings: The exchange's network settings.
    ///   - proxy: The proxy for the request, if any.
    ///   - target: The host and port to connect to, directly or through the proxy.
    package init(
        isSecure: Bool, host: String, port: Int, unixSocket: String?, proxy: Proxy?, target: (host: String, port: Int),
        address: SocketAddress?
    ) {
        let (host, name) = (HostName(host).text, HostName(target.host).text)
        let isRerouted = (name, target.port) != (host, port)
        let route: Route =
            if let unixSocket {
                .unixSocket(path: unixSocket)
            } else if let proxy {
                .proxy(proxy, host: name, port: target.port)
            } else {
                isRerouted ? .connectTo(host: name, port: target.port) : .direct
            }
        self.init(
            scheme: isSecure ? "https" : "http", host: host, port: port, route: route,
            address: unixSocket == nil ? address : nil)
    }
}
