import Foundation

/// The operating system's resolver (`getaddrinfo`), for combination with other resolvers.
///
/// Without a resolver, `HTTPTransport` and `CurlTransport` call the system's resolver themselves, and cache the addresses for a minute.
/// This class doesn't cache addresses. For a cache, use a ``CachingResolver``.
public final class SystemResolver: HostResolver {
    private typealias Outcome = Result<ResolvedAddresses, any Error>
    package typealias Lookup = @Sendable (String) throws -> ResolvedAddresses
    package typealias ThreadStart = @Sendable (@escaping @Sendable () -> Void) throws -> Void

    private struct State {
        var queue: LookupQueue<String>
        /// The waiters for each queued or running lookup. A running lookup can have none.
        var waiters: [String: [Deferred<Outcome>]] = [:]
        /// Each running lookup's timer.
        var timers: [String: DelayedCall] = [:]
    }

    fileprivate static let shared = SystemResolver()

    private let state: Locked<State>
    private let lookUp: Lookup
    private let startThread: ThreadStart

    /// Creates a resolver.
    ///
    /// - Parameter maximumLookups: The maximum number of concurrent lookups, at least 1. Each takes a thread, and further lookups wait. A
    ///   lookup that was canceled or has taken a second continues on its thread until the system ends it, but doesn't count toward this
    ///   limit. The maximum number of threads is four times this limit. Names in one domain use at most half of these threads. The default
    ///   is 16.
    public convenience init(maximumLookups: Int = 16) {
        self.init(maximumLookups: maximumLookups, lookUp: Self.lookUp, startThread: Self.startThread)
    }

    package init(maximumLookups: Int, lookUp: @escaping Lookup, startThread: @escaping ThreadStart) {
        state = Locked(State(queue: LookupQueue(limit: maximumLookups)))
        (self.lookUp, self.startThread) = (lookUp, startThread)
    }

    /// The name in error messages: `system`.
    public var name: String { "system" }

    /// Looks up a host on a thread of its own. Concurrent lookups of a host share one. The result has no time to live.
    ///
    /// - Throws: A ``TransportError`` if the system's resolver fails, or a `CancellationError`.
    public func addresses(of host: String) async throws -> ResolvedAddresses {
        let waiter = Deferred<Outcome>()
        state.withLock { state in
            if state.waiters[host] == nil, !state.queue.isRunning(host) { state.queue.append(host, name: host) }
            state.waiters[host, default: []].append(waiter)
        }
        startNext()
        return try await waiter.value(onCancel: { cancel(waiter, host) }).get()
    }

    private func startNext() {
        while let host = state.withLock({ $0.queue.takeNext() }) {
            do {
                try startThread { [self] in
                    end(host, Result { try lookUp(host) })
                    startNext()
                }
                let timer = DelayedCall(after: LookupQueue<String>.patience) { [weak self] in self?.stopCounting(host) }
                state.withLock { if $0.queue.isRunning(host) { $0.timers[host] = timer } }
            } catch {
                end(
                    host,
                    .failure(
                        TransportError(
                            .outOfResources, phase: .resolving, url: nil,
                            message: "no thread could be started to look up the host's name")))
            }
        }
    }

    private func stopCounting(_ host: String) {
        state.withLock { $0.queue.stopCounting(host) }
        startNext()
    }

    @Sendable private static func startThread(_ body: @escaping @Sendable () -> Void) throws {
        #if os(Linux)
            try DetachedThread.start("afar.lookup", body)
        #else
            Thread.detachNewThread(body)
        #endif
    }

    @Sendable private static func lookUp(_ host: String) throws -> ResolvedAddresses {
        do throws(Fault) {
            return ResolvedAddresses(try SocketAddress.lookUpIfExisting(host))
        } catch {
            throw TransportError(error, phase: .resolving, url: nil)
        }
    }

    private func end(_ host: String, _ outcome: Outcome) {
        let (waiters, _) = state.withLock { state in
            state.queue.end(host)
            return (state.waiters.removeValue(forKey: host) ?? [], state.timers.removeValue(forKey: host))
        }
        for waiter in waiters { waiter.fulfill(outcome) }
    }

    private func cancel(_ waiter: Deferred<Outcome>, _ host: String) {
        state.withLock { state in
            guard var waiters = state.waiters[host] else { return }
            waiters.removeAll { $0 === waiter }
            state.waiters[host] = waiters.isEmpty ? nil : waiters
            if waiters.isEmpty, !state.queue.remove(host) { state.queue.stopCounting(host) }
        }
        waiter.fulfill(.failure(CancellationError()))
        startNext()
    }
}

extension HostResolver where Self == SystemResolver {
    /// The operating system's resolver.
    public static var system: SystemResolver { SystemResolver.shared }
}
