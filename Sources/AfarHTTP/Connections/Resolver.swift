import AfarTransport
import Foundation

/// Looks up the addresses of hosts. The number of concurrent lookups is limited, because each lookup occupies a thread. A resolver
/// belongs to an engine.
///
/// A lookup can't be stopped. If a lookup no longer has a waiter, another lookup can start in its place. The number of these
/// abandoned lookups is limited too, so a DNS server that doesn't respond can't occupy all threads.
final class Resolver<Waiter: AnyObject> {
    /// The result of a lookup, which its thread posts to the loop.
    struct Answer: Sendable {
        fileprivate let lookup: Lookup
        fileprivate let addresses: Result<[SocketAddress], Fault>
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

    /// The maximum number of lookups without a waiter, as a multiple of the limit for lookups with a waiter.
    private static var abandonedPerLookup: Int { 3 }
    /// How long addresses are cached, in nanoseconds.
    private static var lifetime: UInt64 { 60_000_000_000 }
    private static var largestCache: Int { 1_000 }

    private let limit: Int
    private let post: @Sendable (Answer) -> Void
    private var cache: [String: Entry] = [:]
    /// The waiters for each running or queued lookup.
    private var waiters: [Lookup: [Waiter]] = [:]
    private var running: Set<Lookup> = []
    private var queue: [Lookup] = []
    private var generation = 0

    /// - Parameters:
    ///   - limit: The maximum number of concurrent lookups.
    ///   - post: Called on a lookup's thread with its answer, for ``receive(_:at:)``.
    init(limit: Int, post: @escaping @Sendable (Answer) -> Void) {
        self.limit = max(1, min(limit, .max / 8))
        self.post = post
    }

    func isLookingUp(_ name: String) -> Bool { running.contains { $0.name == name } }

    /// Returns the addresses of a name if they are cached. Otherwise, starts a lookup and returns nil.
    func addresses(of name: String, for waiter: Waiter, at now: UInt64) -> [SocketAddress]? {
        if let known = SocketAddress.addressesWithoutLookup(of: name) { return known }
        if let entry = cache[name], entry.expiry > now { return entry.addresses }
        let lookup = Lookup(name: name, generation: generation)
        let isNew = waiters[lookup] == nil && !running.contains(lookup)
        waiters[lookup, default: []].append(waiter)
        if isNew { queue.append(lookup) }
        startNext()
        return nil
    }

    /// Receives an answer. Returns its waiters and the addresses.
    func receive(_ answer: Answer, at now: UInt64) -> (waiters: [Waiter], addresses: Result<[SocketAddress], Fault>) {
        running.remove(answer.lookup)
        if case .success(let addresses) = answer.addresses, answer.lookup.generation == generation {
            if cache.count >= Self.largestCache { cache = [:] }
            cache[answer.lookup.name] = Entry(addresses: addresses, expiry: now + Self.lifetime)
        }
        let waiting = waiters.removeValue(forKey: answer.lookup) ?? []
        startNext()
        return (waiting, answer.addresses)
    }

    /// Removes a waiter that no longer needs the addresses.
    func abandon(_ name: String, _ waiter: Waiter) {
        for (lookup, waiting) in waiters where lookup.name == name && waiting.contains(where: { $0 === waiter }) {
            let rest = waiting.filter { $0 !== waiter }
            waiters[lookup] = rest.isEmpty ? nil : rest
            if rest.isEmpty { queue.removeAll { $0 == lookup } }
        }
        startNext()
    }

    /// Discards all cached addresses. The results of running lookups are passed only to their current waiters.
    func clear() {
        cache = [:]
        generation += 1
    }

    private func startNext() {
        while !queue.isEmpty {
            let wanted = running.count { waiters[$0] != nil }
            guard wanted < limit, running.count - wanted < limit * Self.abandonedPerLookup else { return }
            let lookup = queue.removeFirst()
            running.insert(lookup)
            do {
                try DetachedThread.start("afar.lookup") { [post] in
                    let addresses = Result { () throws(Fault) in try SocketAddress.lookUp(lookup.name) }
                    post(Answer(lookup: lookup, addresses: addresses))
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
