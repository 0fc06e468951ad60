import Foundation

/// A resolver that caches the addresses found by another resolver. Concurrent lookups of the same host share one lookup.
///
/// ```swift
/// var configuration = SessionConfiguration.default
/// configuration.resolver = CachingResolver(.system)
/// ```
///
/// An empty list of addresses is cached too, for a short time. Errors and incomplete results aren't cached, so the next connection causes
/// another lookup.
public final class CachingResolver: HostResolver {
    /// How long and how much to cache.
    public struct Limits: Sendable, Hashable {
        /// The time for results without a time to live. The default is 60 seconds.
        public var defaultTimeToLive: Duration = .seconds(60)
        /// The shortest time for any addresses. The default is zero. A result whose time to live is zero then isn't cached, but concurrent
        /// lookups still share it.
        public var minimumTimeToLive: Duration = .zero
        /// The longest time for any addresses. The default is one hour.
        public var maximumTimeToLive: Duration = .seconds(3_600)
        /// The longest time for an empty list of addresses. ``minimumTimeToLive`` doesn't apply to it. The default is 5 seconds.
        public var maximumNegativeTimeToLive: Duration = .seconds(5)
        /// The maximum number of hosts. The least recently used ones are removed first. The default is 1,000.
        public var maximumHostCount = 1_000

        /// Creates the default limits.
        public init() {}

        fileprivate func timeToLive(of result: ResolvedAddresses) -> Duration {
            guard result.isComplete else { return .zero }
            let time = result.timeToLive ?? defaultTimeToLive
            guard !result.addresses.isEmpty else { return min(time, maximumNegativeTimeToLive, .seconds(1e9)) }
            // Adding the longest time to an instant can't overflow.
            return min(max(time, minimumTimeToLive), maximumTimeToLive, .seconds(1e9))
        }
    }

    private typealias Outcome = Result<ResolvedAddresses, any Error>

    private struct Entry {
        let addresses: [SocketAddress]
        let expiry: Duration
    }

    /// A running lookup, which its waiters share.
    private final class Lookup: Sendable {
        private struct State {
            var waiters: [Deferred<Outcome>] = []
            var task: Task<Void, Never>?
            var isOver = false
        }

        private let state = Locked(State())

        /// Adds a waiter. Returns nil if the lookup has ended or was canceled.
        func join() -> Deferred<Outcome>? {
            let waiter = Deferred<Outcome>()
            return state.withLock { state in
                guard !state.isOver else { return nil }
                state.waiters.append(waiter)
                return waiter
            }
        }

        func start(_ work: @escaping @Sendable () async -> Void) {
            let task = Task(executorPreference: QueueExecutor.global) { await work() }
            let isOver = state.withLock { state in
                if !state.isOver { state.task = task }
                return state.isOver
            }
            if isOver { task.cancel() }
        }

        func end(_ outcome: Outcome) {
            let waiters = state.withLock { state in
                (state.isOver, state.task) = (true, nil)
                return Swift.exchange(&state.waiters, with: [])
            }
            for waiter in waiters { waiter.fulfill(outcome) }
        }

        /// Removes a waiter. If it was the last one, cancels the lookup and returns true.
        func leave(_ waiter: Deferred<Outcome>) -> Bool {
            let (isUnneeded, task) = state.withLock { state -> (Bool, Task<Void, Never>?) in
                guard !state.isOver else { return (false, nil) }
                state.waiters.removeAll { $0 === waiter }
                guard state.waiters.isEmpty else { return (false, nil) }
                state.isOver = true
                return (true, state.task.take())
            }
            task?.cancel()
            waiter.fulfill(.failure(CancellationError()))
            return isUnneeded
        }
    }

    private struct State {
        var entries = LeastRecentlyUsed<Entry>()
        var running: [String: Lookup] = [:]
    }

    private enum Step {
        case cached(ResolvedAddresses)
        case wait(Deferred<Outcome>, Lookup)
        case start(Deferred<Outcome>, Lookup)
    }

    private let resolver: any HostResolver
    private let limits: Limits
    private let timeSource: TimeSource
    private let state = Locked(State())

    /// Creates a cache for another resolver.
    ///
    /// - Parameters:
    ///   - resolver: Looks up hosts that aren't cached.
    ///   - limits: How long and how much to cache.
    ///   - timeSource: The time for expiration. The default is the system's time.
    public init(_ resolver: any HostResolver, limits: Limits = Limits(), timeSource: TimeSource = .system) {
        (self.resolver, self.limits, self.timeSource) = (resolver, limits, timeSource)
    }

    /// The name of the other resolver.
    public var name: String { resolver.name }

    /// Returns the cached addresses, or looks them up. The time to live is the time that is left.
    ///
    /// If the calling task is canceled while other tasks wait for the same lookup, the lookup continues.
    ///
    /// - Throws: An error of the other resolver, or a `CancellationError`.
    public func addresses(of host: String) async throws -> ResolvedAddresses {
        let host = HostName(host).text
        switch nextStep(for: host) {
        case .cached(let result): return result
        case .wait(let waiter, let lookup): return try await outcome(of: lookup, for: waiter, host).get()
        case .start(let waiter, let lookup):
            lookup.start { [self] in
                let outcome: Outcome
                do { outcome = .success(try await resolver.addresses(of: host)) } catch { outcome = .failure(error) }
                store(outcome, of: lookup, host)
                lookup.end(outcome)
            }
            return try await outcome(of: lookup, for: waiter, host).get()
        }
    }

    /// Removes all cached addresses. The results of running lookups aren't cached.
    public func removeAll() {
        state.withLock { $0 = State() }
    }

    private func nextStep(for host: String) -> Step {
        let now = timeSource.uptime
        return state.withLock { state in
            if let entry = state.entries.value(for: host) {
                if entry.expiry > now {
                    return .cached(ResolvedAddresses(entry.addresses, timeToLive: entry.expiry - now))
                }
                state.entries.remove(host)
            }
            if let lookup = state.running[host], let waiter = lookup.join() { return .wait(waiter, lookup) }
            let lookup = Lookup()
            state.running[host] = lookup
            return .start(lookup.join() ?? Deferred(), lookup)
        }
    }

    private func outcome(of lookup: Lookup, for waiter: Deferred<Outcome>, _ host: String) async -> Outcome {
        await waiter.value(onCancel: {
            if lookup.leave(waiter) { remove(lookup, host) }
        })
    }

    private func remove(_ lookup: Lookup, _ host: String) {
        state.withLock { if $0.running[host] === lookup { $0.running[host] = nil } }
    }

    private func store(_ outcome: Outcome, of lookup: Lookup, _ host: String) {
        let now = timeSource.uptime
        state.withLock { state in
            guard state.running[host] === lookup else { return }
            state.running[host] = nil
            guard case .success(let result) = outcome else { return }
            let time = limits.timeToLive(of: result)
            guard time > .zero, limits.maximumHostCount > 0 else { return }
            _ = state.entries.set(Entry(addresses: result.addresses, expiry: now + time), cost: 1, for: host)
            if state.entries.count > limits.maximumHostCount { _ = state.entries.removeLeast() }
        }
    }
}
