import Foundation

/// Looks up the addresses of hosts in place of the operating system's resolver.
///
/// ```swift
/// final class RegistryResolver: HostResolver {
///     let registry: ServiceRegistry
///
///     init(_ registry: ServiceRegistry) { self.registry = registry }
///
///     func addresses(of host: String) async throws -> ResolvedAddresses {
///         let instances = try await registry.instances(of: host)
///         return ResolvedAddresses(instances.compactMap { SocketAddress($0.address) })
///     }
/// }
/// ```
///
/// The resolver of an exchange is ``ExchangeOptions/resolver``. A transport calls the resolver for each connection that it opens, unless
/// the host is an address or a name for this machine (`localhost`, RFC 6761, section 6.3). A transport doesn't cache the result: for a
/// cache, use a ``CachingResolver``. With `CurlTransport`, connections that are opened at the same time can share a result. With a proxy,
/// the transport looks up the proxy's name. It looks up the host's name only if the proxy requires an address (`socks5`).
///
/// A ``ConnectionPolicy`` decides about each address that a resolver returns. The names in URLs, `Host` fields and certificates don't
/// change.
///
/// Resolvers are compared by identity. An open connection serves only exchanges with the resolver that found its address. Therefore, share
/// one resolver between requests. An exchange with a resolver requires the feature ``TransportCapabilities/Features/resolver``.
public protocol HostResolver: AnyObject, Sendable {
    /// The resolver's name in error messages. The default is the name of the type.
    var name: String { get }

    /// Looks up the addresses of a host.
    ///
    /// The time counts toward ``ExchangeOptions/connectTimeout``. When no request needs the addresses any more, the task is canceled, and
    /// its result is ignored. This method can be called concurrently. It must not block its thread.
    ///
    /// - Parameter host: The host's name in lowercase ASCII (RFC 5891), without a trailing dot.
    /// - Returns: The addresses in order of preference. Transports ignore their ports, use at most 100 addresses, and alternate between
    ///   IPv4 and IPv6 (RFC 8305, section 4). If the host doesn't exist or has no address, the list is empty, and the exchange fails with
    ///   ``TransportError/Code-swift.struct/cannotFindHost``.
    /// - Throws: An error if the addresses can't be determined. The exchange fails with ``TransportError/Code-swift.struct/cannotFindHost``
    ///   and this error as its ``TransportError/underlying`` error.
    func addresses(of host: String) async throws -> ResolvedAddresses
}

extension HostResolver {
    /// The name of the type.
    public var name: String { "\(Self.self)" }
}

/// The addresses of a host.
public struct ResolvedAddresses: Sendable, Hashable {
    /// The addresses in order of preference. Their ports aren't used.
    public var addresses: [SocketAddress]
    /// How long the addresses can be cached; nil if the resolver doesn't determine it.
    public var timeToLive: Duration?
    /// A Boolean value that indicates whether the resolver found all addresses. A ``CachingResolver`` doesn't cache incomplete results. The
    /// default is true.
    ///
    /// For example, a result is incomplete if only the query for IPv4 addresses was answered.
    public var isComplete: Bool

    /// Creates a result.
    public init(_ addresses: [SocketAddress], timeToLive: Duration? = nil, isComplete: Bool = true) {
        (self.addresses, self.timeToLive, self.isComplete) = (addresses, timeToLive, isComplete)
    }
}

// MARK: - For transports

/// A running lookup of a resolver. After cancellation, it retains neither the transport nor the exchange, even if the resolver never
/// returns.
package final class HostLookup: Sendable {
    package typealias Completion = @Sendable (Result<[SocketAddress], Fault>) -> Void

    private struct State {
        var task: Task<Void, Never>?
        var completion: Completion?
    }

    /// The maximum number of addresses of a host.
    package static let addressLimit = 100

    private let state: InlineLocked<State>

    /// Starts a lookup.
    ///
    /// - Parameters:
    ///   - host: The name of the host. It can be in any form that a URL can have.
    ///   - resolver: The resolver. It runs on Dispatch's threads, because a program can block all threads of the task pool.
    ///   - completion: Called once on any thread, unless the lookup is canceled first.
    package init(of host: String, with resolver: any HostResolver, completion: @escaping Completion) {
        state = InlineLocked(State(completion: completion))
        let task = Task(executorPreference: QueueExecutor.global) {
            let result = await Self.result(of: HostName(host).text, with: resolver)
            let completion = self.state.withLock { state in
                state.task = nil
                return state.completion.take()
            }
            completion?(result)
        }
        state.withLock { state in if state.completion != nil { state.task = task } }
    }

    /// Ends the lookup without calling its completion handler.
    package func cancel() {
        let (task, completion) = state.withLock { ($0.task.take(), $0.completion.take()) }
        _ = completion
        // The resolver's cancellation handlers must not run on the thread of the connections.
        if let task { DispatchQueue.global().async { task.cancel() } }
    }

    private static func result(
        of host: String, with resolver: any HostResolver
    ) async -> Result<[SocketAddress], Fault> {
        do {
            let addresses = usable(try await resolver.addresses(of: host).addresses)
            guard addresses.isEmpty else { return .success(addresses) }
            return .failure(
                Fault(.cannotFindHost, "the resolver \(resolver.name) found no address for the host \"\(host)\""))
        } catch {
            return .failure(
                Fault(
                    .cannotFindHost, "the resolver \(resolver.name) could not look up the host \"\(host)\"",
                    underlying: error))
        }
    }

    /// Returns the distinct IP addresses, without ports.
    package static func usable(_ addresses: [SocketAddress]) -> [SocketAddress] {
        var known: Set<SocketAddress> = []
        var usable: [SocketAddress] = []
        for address in addresses.lazy.filter({ $0.bytes != nil }).map({ $0.with(port: 0) }) {
            guard usable.count < addressLimit else { break }
            if known.insert(address).inserted { usable.append(address) }
        }
        return usable
    }
}
