import Foundation

/// The operating system's resolver (`getaddrinfo`), for combination with other resolvers.
///
/// Without a resolver, `HTTPTransport` and `CurlTransport` call the system's resolver themselves, and cache the addresses for a minute. This
/// class doesn't cache. To do so, use a ``CachingResolver``.
public final class SystemResolver: HostResolver {
    private struct State {
        var queue: [Call] = []
        /// The running lookups whose result is needed.
        var needed: Set<ObjectIdentifier> = []
        /// The number of running lookups whose result isn't needed.
        var abandonedCount = 0
    }

    private final class Call: Sendable {
        let host: String
        let result = Deferred<Result<ResolvedAddresses, any Error>>()

        init(_ host: String) { self.host = host }
    }

    /// The maximum number of running lookups whose result isn't needed, as a multiple of the limit for other lookups.
    private static let abandonedPerLookup = 3

    fileprivate static let shared = SystemResolver()

    private let limit: Int
    private let state = Locked(State())

    /// Creates a resolver.
    ///
    /// - Parameter maximumLookups: The maximum number of concurrent lookups. Each takes a thread, and further lookups wait. A canceled lookup
    ///   continues on its thread until the system ends it. Up to three times the limit, it doesn't count. The default is 16.
    public init(maximumLookups: Int = 16) { limit = max(1, min(maximumLookups, .max / 8)) }

    /// The name in error messages: `system`.
    public var name: String { "system" }

    /// Looks up a host on a thread of its own. The result has no time to live.
    ///
    /// - Throws: A ``TransportError`` if the system's resolver fails, or a `CancellationError`.
    public func addresses(of host: String) async throws -> ResolvedAddresses {
        let call = Call(host)
        state.withLock { $0.queue.append(call) }
        startNext()
        return try await call.result.value(onCancel: { cancel(call) }).get()
    }

    private func startNext() {
        while let call = takeNext() {
            do {
                try startThread { [self] in
                    end(call, Result { try Self.lookUp(call.host) })
                    startNext()
                }
            } catch {
                end(
                    call,
                    .failure(
                        TransportError(
                            .outOfResources, phase: .resolving, url: nil,
                            message: "no thread could be started to look up the host's name")))
            }
        }
    }

    private func takeNext() -> Call? {
        state.withLock { state in
            guard !state.queue.isEmpty, state.needed.count < limit,
                state.abandonedCount < limit * Self.abandonedPerLookup
            else { return nil }
            let call = state.queue.removeFirst()
            state.needed.insert(ObjectIdentifier(call))
            return call
        }
    }

    private func startThread(_ body: @escaping @Sendable () -> Void) throws {
        #if os(Linux)
            try DetachedThread.start("afar.lookup", body)
        #else
            Thread.detachNewThread(body)
        #endif
    }

    private static func lookUp(_ host: String) throws -> ResolvedAddresses {
        do throws(Fault) {
            return ResolvedAddresses(try SocketAddress.lookUpIfExisting(host))
        } catch {
            throw TransportError(error, phase: .resolving, url: nil)
        }
    }

    private func end(_ call: Call, _ result: Result<ResolvedAddresses, any Error>) {
        state.withLock { state in
            if state.needed.remove(ObjectIdentifier(call)) == nil { state.abandonedCount -= 1 }
        }
        call.result.fulfill(result)
    }

    private func cancel(_ call: Call) {
        state.withLock { state in
            if let index = state.queue.firstIndex(where: { $0 === call }) {
                state.queue.remove(at: index)
            } else if state.needed.remove(ObjectIdentifier(call)) != nil {
                state.abandonedCount += 1
            }
        }
        call.result.fulfill(.failure(CancellationError()))
        startNext()
    }
}

extension HostResolver where Self == SystemResolver {
    /// The operating system's resolver.
    public static var system: SystemResolver { SystemResolver.shared }
}
