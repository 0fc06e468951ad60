/// Provides whether this machine has a network, and notifies of changes.
///
/// A ``Session`` that has one closes its idle connections when the network has changed, and can wait for a network
/// (``SessionConfiguration/waitsForConnectivity``); ``OfflineRetrier`` retries by it. Nothing else depends on what it says:
/// whether a server can be reached is known only when it was tried.
public protocol ConnectivityProvider: Sendable {
    /// What is so now. It is asked from any thread, and must not take long.
    var connectivity: Connectivity { get }

    /// What is so now, and then every change, each call anew for one consumer.
    ///
    /// A consumer that falls behind needs the newest value only (`.bufferingNewest(1)`). So it may miss a network that was
    /// gone for a moment only: who waits for such a network to come back then waits until the next change, or until its time
    /// is up. A ``Connectivity/identity`` that differs each time that a network comes back keeps it from that. Values equal
    /// to the one before may be left out. When a consumer goes away, or its task is cancelled, the stream is to be
    /// released; a stream that ends by itself says that nothing more will be known.
    func connectivityUpdates() -> AsyncStream<Connectivity>
}
