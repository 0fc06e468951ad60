/// Knows the hosts that want to be reached by https only (RFC 6797).
///
/// ``MemoryHSTSStore`` and ``FileHSTSStore`` are there. In a store of your own ``HSTSHosts`` has the rules. All methods may be called
/// on any thread, several at once, and have to be quick: they do not wait for a disk or a network.
public protocol HSTSStore: Sendable {
    /// All hosts that are not forgotten, in no particular order.
    var all: [HSTSHost] { get }

    /// Whether a host wants to be reached by https only, by itself or because of one above it.
    ///
    /// - Parameter host: A name in lower case, without port.
    func contains(_ host: String) -> Bool

    /// Takes a host, in place of what is known of it; one whose time is over is forgotten.
    func store(_ host: HSTSHost)

    /// Forgets all hosts.
    func removeAll()
}
