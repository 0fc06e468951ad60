import Afar
import AfarTransport
import Foundation
import TestServers
import Testing

/// A resolver that a closure implements. It records the hosts.
final class RecordingResolver: HostResolver {
    private let log = Locked<[String]>([])
    private let find: @Sendable (String) async throws -> [SocketAddress]

    init(_ find: @escaping @Sendable (String) async throws -> [SocketAddress]) { self.find = find }

    /// Creates a resolver that finds the same addresses for each host.
    convenience init(_ addresses: String...) {
        self.init { _ in addresses.compactMap { SocketAddress($0) } }
    }

    /// The hosts that were looked up.
    var hosts: [String] { log.withLock { $0 } }

    func addresses(of host: String) async throws -> ResolvedAddresses {
        log.withLock { $0.append(host) }
        return ResolvedAddresses(try await find(host))
    }
}

/// A resolver whose lookups never end, even if they are canceled.
final class SilentResolver: HostResolver {
    /// Receives a value when a lookup starts, and another when it is canceled.
    let (events, continuation) = AsyncStream<String>.makeStream()

    var name: String { "silent" }

    func addresses(of host: String) async throws -> ResolvedAddresses {
        continuation.yield("start")
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { (_: UnsafeContinuation<ResolvedAddresses, Never>) in }
        } onCancel: {
            continuation.yield("cancel")
        }
    }
}

extension TestedTransport {
    /// Creates a session over one transport alone, with a resolver.
    func session(
        resolver: (any HostResolver)?, _ change: (inout SessionConfiguration) -> Void = { _ in }
    ) throws -> Session {
        try session(nil) {
            $0.resolver = resolver
            change(&$0)
        }
    }
}
