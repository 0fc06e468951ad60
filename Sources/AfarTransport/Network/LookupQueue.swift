/// Decides which lookups of the operating system's resolver run. It performs no I/O.
///
/// A lookup takes a thread and can't be stopped. If it is no longer needed, or has run for a second, it stops counting toward the limit.
/// The total number of lookups is limited too. Each domain can use only half of this total, so a DNS server that doesn't respond for one
/// domain doesn't delay the lookups of other names. The next lookup is one whose domain has the fewest running lookups.
package struct LookupQueue<Key: Hashable> {
    private struct Running {
        let domain: String
        var counts = true
    }

    /// The maximum numbers of all lookups and of lookups in one domain, as multiples of the limit.
    private static var totalPerLookup: Int { 4 }
    private static var domainPerLookup: Int { 2 }

    /// How long a lookup counts toward the limit.
    package static var patience: Duration { .seconds(1) }

    private let limit: Int
    private var waiting: [(key: Key, domain: String)] = []
    private var running: [Key: Running] = [:]
    /// The number of running lookups that count toward the limit.
    private var count = 0
    private var countPerDomain: [String: Int] = [:]

    /// - Parameter limit: The maximum number of running lookups that count toward the limit. A value below 1 is treated as 1.
    package init(limit: Int) { self.limit = max(1, min(limit, .max / 8)) }

    package var runningKeys: some Collection<Key> { running.keys }

    package func isRunning(_ key: Key) -> Bool { running[key] != nil }

    /// Adds a lookup that is neither waiting nor running.
    package mutating func append(_ key: Key, name: String) { waiting.append((key, Self.domain(of: name))) }

    /// Removes a waiting lookup. Returns false if it isn't waiting.
    package mutating func remove(_ key: Key) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.key == key }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Removes and returns the next lookup that can start.
    package mutating func takeNext() -> Key? {
        guard count < limit, running.count < limit * Self.totalPerLookup else { return nil }
        var best: (index: Int, count: Int)?
        for (index, lookup) in waiting.enumerated() {
            let count = countPerDomain[lookup.domain] ?? 0
            guard count < limit * Self.domainPerLookup, count < best?.count ?? .max else { continue }
            best = (index, count)
            if count == 0 { break }
        }
        guard let best else { return nil }
        let (key, domain) = waiting.remove(at: best.index)
        running[key] = Running(domain: domain)
        count += 1
        countPerDomain[domain] = best.count + 1
        return key
    }

    /// Stops counting a running lookup toward the limit, because it isn't needed or takes too long.
    package mutating func stopCounting(_ key: Key) {
        guard running[key]?.counts == true else { return }
        running[key]?.counts = false
        count -= 1
    }

    /// Records the end of a running lookup.
    package mutating func end(_ key: Key) {
        stopCounting(key)
        guard let domain = running.removeValue(forKey: key)?.domain else { return }
        countPerDomain[domain] = countPerDomain[domain].flatMap { $0 > 1 ? $0 - 1 : nil }
    }

    /// Returns the last two labels of a name. They don't need to be a registrable domain.
    private static func domain(of name: String) -> String {
        name.split(separator: ".").suffix(2).joined(separator: ".")
    }
}
