/// Keeps the hosts that want https in memory, as long as it lives itself.
public final class MemoryHSTSStore: HSTSStore {
    private let hosts = InlineLocked(HSTSHosts())

    /// Makes an empty store.
    public init() {}

    public var all: [HSTSHost] { hosts.withLock { $0.all() } }

    public func contains(_ host: String) -> Bool { hosts.withLock { $0.contains(host) } }

    public func store(_ host: HSTSHost) { hosts.withLock { $0.store(host) } }

    public func removeAll() { hosts.withLock { $0.removeAll() } }
}
