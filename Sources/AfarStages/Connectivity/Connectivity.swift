/// Whether this machine has a network, and which one: what a ``ConnectivityProvider`` knows at one moment.
public struct Connectivity: Sendable, Hashable {
    /// Whether there is a network.
    public enum Status: Sendable, Hashable {
        /// There is a way out.
        case online
        /// There is none: no interface, no address or no route.
        case offline
        /// It cannot be known, in a sandbox say. It counts as online, so that nothing is held back for want of an answer.
        case unknown
    }

    /// What the traffic goes over.
    public enum InterfaceType: Sendable, Hashable, CaseIterable {
        /// A wireless local network.
        case wifi
        /// A mobile telephone network.
        case cellular
        /// A wired local network.
        case wiredEthernet
        /// This machine itself.
        case loopback
        /// Anything else, a tunnel say.
        case other
    }

    /// Tells one network from another. It says nothing but whether it is equal to another of the same provider.
    public struct Identity: Sendable, Hashable {
        private let value: any Hashable & Sendable

        /// Makes an identity of whatever is equal as long as the network is the same.
        public init(_ value: some Hashable & Sendable) { self.value = value }

        /// Whether two are made of equal values.
        public static func == (lhs: Self, rhs: Self) -> Bool { AnyHashable(lhs.value) == AnyHashable(rhs.value) }

        /// Hashes the value.
        public func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
    }

    /// Whether there is a network.
    public var status: Status
    /// The types of the interfaces that lead to it; empty when that is not known.
    public var interfaceTypes: Set<InterfaceType>
    /// Changes with every address of this machine and with its default route. Connections made under another identity are
    /// probably dead.
    public var identity: Identity

    /// Makes a value.
    ///
    /// - Parameters:
    ///   - status: Whether there is a network.
    ///   - interfaceTypes: The types of the interfaces that lead to it. The default is none: they are not known.
    ///   - identity: Anything that changes with every address of this machine and with its default route.
    public init(
        _ status: Status, interfaceTypes: Set<InterfaceType> = [], identity: some Hashable & Sendable
    ) {
        self.status = status
        self.interfaceTypes = interfaceTypes
        self.identity = Identity(identity)
    }

    /// Whether requests may get through: everything but ``Status-swift.enum/offline``.
    public var isOnline: Bool { status != .offline }
}

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

/// How a wait for a network ended.
package enum ConnectivityWait: Sendable {
    /// This is so now.
    case over(Connectivity)
    /// The time is up, or the task was cancelled.
    case givenUp
    /// The provider has nothing more to say.
    case noMoreUpdates
}

extension ConnectivityProvider {
    /// Waits until the connectivity is good enough.
    ///
    /// - Parameters:
    ///   - limit: How long to wait at most; no more than a clock can count from now.
    ///   - known: What was no good although it seemed so: it is good only when it has been worse in between.
    ///   - onWaiting: Called once, when the first value is not good enough, and never after this has returned.
    ///   - isGood: What is waited for.
    package func wait(
        upTo limit: Duration, differingFrom known: Connectivity? = nil,
        onWaiting: @escaping @Sendable () -> Void = {}, until isGood: @escaping @Sendable (Connectivity) -> Bool
    ) async -> ConnectivityWait {
        await withTaskGroup(of: ConnectivityWait.self) { group in
            group.addTask {
                var known = known
                var isWaiting = false
                for await connectivity in connectivityUpdates() {
                    let isGood = isGood(connectivity)
                    if isGood, connectivity != known { return .over(connectivity) }
                    if !isGood { known = nil }
                    if !isWaiting { onWaiting() }
                    isWaiting = true
                }
                return Task.isCancelled ? .givenUp : .noMoreUpdates
            }
            group.addTask {
                await pause(for: limit)
                return .givenUp
            }
            defer { group.cancelAll() }
            return await group.next() ?? .givenUp
        }
    }

    /// Whether the provider reports within a moment that there is no network. It may learn of a loss a little after
    /// requests fail by it, so a failure is not held against the network before that moment is over.
    package func detectsLoss(within limit: Duration) async -> Bool {
        let outcome = await wait(upTo: min(limit, .milliseconds(300)), until: { !$0.isOnline })
        if case .over = outcome { return true }
        return false
    }
}
