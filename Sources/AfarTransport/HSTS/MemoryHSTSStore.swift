/// Keeps the hosts that want https in memory, as long as it lives itself.
public final class MemoryHSTSStore: HSTSStore {
    private let hosts = InlineLocked(HSTSHosts())

    /// Makes an empty store.
    public init() {}

    /// The hosts that are remembered, in no particular order.
    public var all: [HSTSHost] { hosts.withLock { $0.all() } }

    /// Whether a host wants to be reached by https only.
    public func contains(_ host: String) -> Bool { hosts.withLock { $0.contains(host) } }

    /// Remembers a host; one whose time is over is forgotten.
    public func store(_ host: HSTSHost) { hosts.withLock { $0.store(host) } }

    /// Forgets all hosts.
    public func removeAll() { hosts.withLock { $0.removeAll() } }
}
