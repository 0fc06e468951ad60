import AfarTransport
import Foundation

/// Looks up the addresses of hosts. Each lookup uses a thread. A `LookupQueue` limits the number of lookups. A resolver belongs to
/// an engine.
final class Resolver<Waiter: AnyObject> {
    /// A message to the loop. It contains the result of a lookup, or reports that a running lookup no longer counts toward the limit.
    struct Answer: Sendable {
        fileprivate let lookup: Lookup
        /// Nil if the lookup continues.
        fileprivate let addresses: Result<[SocketAddress], Fault>?
    }

    /// A name, and the generation of the cache in which it was requested. After the cache has been cleared, new requests don't
    /// wait for earlier lookups.
    fileprivate struct Lookup: Hashable, Sendable {
        let name: String
        let generation: Int
    }

    private struct Entry {
        let addresses: [SocketAddress]
        let expiry: UInt64
    }

    /// How long addresses are cached, in nanoseconds.
    private static var lifetime: UInt64 { 60_000_000_000 }
    private static var largestCache: Int { 1_000 }

    private let post: @Sendable (Answer) -> Void
    private var cache: [String: Entry] = [:]
    /// The waiters for each running or queued lookup.
    private var waiters: [Lookup: [Waiter]] = [:]
    private var queue: LookupQueue<Lookup>
    /// Each running lookup's timer.
    private var timers: [Lookup: DelayedCall] = [:]
    private var generation = 0

    /// - Parameters:
    ///   - limit: The maximum number of concurrent lookups.
    ///   - post: Called on any thread with an answer to pass to ``receive(_:at:)``.
    init(limit: Int, post: @escaping @Sendable (Answer) -> Void) {
        queue = LookupQueue(limit: limit)
        self.post = post
    }

    func isLookingUp(_ name: String) -> Bool { queue.runningKeys.contains { $0.name == name } }

    /// Returns the addresses of a name if they are cached. Otherwise, starts a lookup and returns nil.
    func addresses(of name: String, for waiter: Waiter, at now: UInt64) -> [SocketAddress]? {
        if let known = SocketAddress.addressesWithoutLookup(of: name) { return known }
        if let entry = cache[name], entry.expiry > now { return entry.addresses }
        let lookup = Lookup(name: name, generation: generation)
        let isNew = waiters[lookup] == nil && !queue.isRunning(lookup)
        waiters[lookup, default: []].append(waiter)
        if isNew { queue.append(lookup, name: name) }
        startNext()
        return nil
    }

    /// Receives an answer. Returns the lookup's waiters and the addresses; nil if the lookup continues.
    func receive(
        _ answer: Answer, at now: UInt64
    ) -> (waiters: [Waiter], addresses: Result<[SocketAddress], Fault>)? {
        let lookup = answer.lookup
        guard let addresses = answer.addresses else {
            queue.stopCounting(lookup)
            startNext()
            return nil
        }
        queue.end(lookup)
        timers[lookup] = nil
        if case .success(let addresses) = addresses, lookup.generation == generation {
            if cache.count >= Self.largestCache { cache = [:] }
            cache[lookup.name] = Entry(addresses: addresses, expiry: now + Self.lifetime)
        }
        let waiting = waiters.removeValue(forKey: lookup) ?? []
        startNext()
        return (waiting, addresses)
    }

    /// Removes a waiter that no longer needs the addresses.
    func abandon(_ name: String, _ waiter: Waiter) {
        for (lookup, waiting) in waiters where lookup.name == name && waiting.contains(where: { $0 === waiter }) {
            let rest = waiting.filter { $0 !== waiter }
            waiters[lookup] = rest.isEmpty ? nil : rest
            if rest.isEmpty, !queue.remove(lookup) { queue.stopCounting(lookup) }
        }
        startNext()
    }

    /// Discards all cached addresses. The results of running lookups are passed only to their current waiters.
    func clear() {
        cache = [:]
        generation += 1
    }

    private func startNext() {
        while let lookup = queue.takeNext() {
            do {
                try DetachedThread.start("afar.lookup") { [post] in
                    let addresses = Result { () throws(Fault) in try SocketAddress.lookUp(lookup.name) }
                    post(Answer(lookup: lookup, addresses: addresses))
                }
                timers[lookup] = DelayedCall(after: LookupQueue<Lookup>.patience) { [post] in
                    post(Answer(lookup: lookup, addresses: nil))
                }
            } catch {
                let fault = Fault(
                    .outOfResources, "no thread could be started to look up the host's name",
                    systemError: (error as? POSIXError)?.code.rawValue)
                post(Answer(lookup: lookup, addresses: .failure(fault)))
            }
        }
    }
}
