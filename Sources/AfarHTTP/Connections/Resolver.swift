import AfarTransport
import Foundation

/// Looks up the addresses of hosts, a limited number at a time, because each look-up occupies a thread.
///
/// A look-up can't be stopped. One without a waiter makes room for another, up to a limit, so that a resolver that does not answer
/// can't occupy all threads. It belongs to the thread of a loop.
final class Resolver<Waiter: AnyObject> {
    /// The result of a look-up, which its thread posts to the loop.
    struct Answer: Sendable {
        fileprivate let name: String
        fileprivate let generation: Int
        fileprivate let addresses: Result<[SocketAddress], Fault>
    }

    private struct Entry {
        let addresses: [SocketAddress]
        let expiry: UInt64
    }

    /// How many look-ups without a waiter can run for each one with a waiter.
    private static var abandonedPerLookup: Int { 3 }
    /// How long addresses are used again, in nanoseconds.
    private static var lifetime: UInt64 { 60_000_000_000 }
    private static var largestCache: Int { 1_000 }

    private let limit: Int
    private let post: @Sendable (Answer) -> Void
    private var cache: [String: Entry] = [:]
    /// The waiters for each name, whether its look-up is running or queued.
    private var waiters: [String: [Waiter]] = [:]
    private var running: Set<String> = []
    private var queue: [String] = []
    private var generation = 0

    /// - Parameters:
    ///   - limit: How many look-ups run at a time.
    ///   - post: Called on the thread of a look-up with its answer, for ``receive(_:at:)``.
    init(limit: Int, post: @escaping @Sendable (Answer) -> Void) {
        self.limit = max(1, min(limit, .max / 8))
        self.post = post
    }

    /// Whether a waiter's look-up has begun.
    func isLookingUp(_ name: String) -> Bool { running.contains(name) }

    /// Returns the addresses of a name if they are known. If not, looks them up.
    func addresses(of name: String, for waiter: Waiter, at now: UInt64) -> [SocketAddress]? {
        if let known = SocketAddress.known(name) { return known }
        if let entry = cache[name], entry.expiry > now { return entry.addresses }
        let isNew = waiters[name] == nil && !running.contains(name)
        waiters[name, default: []].append(waiter)
        if isNew { queue.append(name) }
        startNext()
        return nil
    }

    /// Takes an answer, and returns its waiters.
    func receive(_ answer: Answer, at now: UInt64) -> (waiters: [Waiter], addresses: Result<[SocketAddress], Fault>) {
        running.remove(answer.name)
        if case .success(let addresses) = answer.addresses, answer.generation == generation {
            if cache.count >= Self.largestCache { cache = [:] }
            cache[answer.name] = Entry(addresses: addresses, expiry: now + Self.lifetime)
        }
        let waiting = waiters.removeValue(forKey: answer.name) ?? []
        startNext()
        return (waiting, answer.addresses)
    }

    /// A waiter does not need the addresses any longer.
    func abandon(_ name: String, _ waiter: Waiter) {
        guard var waiting = waiters[name] else { return }
        waiting.removeAll { $0 === waiter }
        waiters[name] = waiting.isEmpty ? nil : waiting
        if waiting.isEmpty { queue.removeAll { $0 == name } }
        startNext()
    }

    /// Forgets all addresses, also those that are being looked up.
    func clear() {
        cache = [:]
        generation += 1
    }

    private func startNext() {
        while !queue.isEmpty {
            let wanted = running.count { waiters[$0] != nil }
            guard wanted < limit, running.count - wanted < limit * Self.abandonedPerLookup else { return }
            let name = queue.removeFirst()
            running.insert(name)
            do {
                try DetachedThread.start("afar.lookup") { [post, generation] in
                    let addresses = Result { () throws(Fault) in try SocketAddress.lookUp(name) }
                    post(Answer(name: name, generation: generation, addresses: addresses))
                }
            } catch {
                let fault = Fault(
                    .outOfResources, "no thread could be started to look up the host's name",
                    systemError: (error as? POSIXError)?.code.rawValue)
                post(Answer(name: name, generation: generation, addresses: .failure(fault)))
            }
        }
    }
}
