import Synchronization

/// The state of this machine's network connection at one moment, as a ``ConnectivityProvider`` reports it.
public struct Connectivity: Sendable, Hashable {
    /// The availability of a network.
    public enum Status: Sendable, Hashable {
        /// A network is available.
        case online
        /// No network is available: there is no interface, address, or route.
        case offline
        /// The status can't be determined, for example in a sandbox. It counts as online, so that no request waits unnecessarily.
        case unknown
    }

    /// The types of network interfaces.
    public enum InterfaceType: Sendable, Hashable, CaseIterable {
        /// A wireless local network.
        case wifi
        /// A cellular network.
        case cellular
        /// A wired local network.
        case wiredEthernet
        /// The loopback interface of this machine.
        case loopback
        /// Any other interface, such as a tunnel.
        case other
    }

    /// An opaque value that distinguishes one network from another. Only identities of the same provider can be compared.
    public struct Identity: Sendable, Hashable {
        private let value: any Hashable & Sendable

        /// Creates an identity from a value, which must stay equal while the network stays the same.
        public init(_ value: some Hashable & Sendable) { self.value = value }

        /// Returns a Boolean value that indicates whether two identities were created from equal values.
        public static func == (lhs: Self, rhs: Self) -> Bool { AnyHashable(lhs.value) == AnyHashable(rhs.value) }

        /// Hashes the value.
        public func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
    }

    /// The availability of a network.
    public var status: Status
    /// The types of the interfaces that lead to the network; empty if unknown.
    public var interfaceTypes: Set<InterfaceType>
    /// The identity of the network. It changes when an address or the default route of this machine changes. Connections that were
    /// opened under a different identity probably no longer work.
    public var identity: Identity

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - status: The availability of a network.
    ///   - interfaceTypes: The types of the interfaces that lead to the network. The default is empty, which means unknown.
    ///   - identity: A value that changes when an address or the default route of this machine changes.
    public init(
        _ status: Status, interfaceTypes: Set<InterfaceType> = [], identity: some Hashable & Sendable
    ) {
        self.status = status
        self.interfaceTypes = interfaceTypes
        self.identity = Identity(identity)
    }

    /// A Boolean value that indicates whether requests can succeed: true for every status except ``Status-swift.enum/offline``.
    public var isOnline: Bool { status != .offline }
}

/// A type that reports whether this machine has a network, and notifies of changes.
///
/// A ``Session`` with a provider closes its idle connections when the network changes, and can wait for a network
/// (``SessionConfiguration/waitsForConnectivity``). ``OfflineRetrier`` uses a provider to retry requests. Afar has no other use for
/// a provider, because only an attempt shows whether a server can be reached.
public protocol ConnectivityProvider: Sendable {
    /// The current connectivity. It can be read on any thread and must return quickly.
    var connectivity: Connectivity { get }

    /// Returns a stream of the current connectivity and every change. Each call returns a new stream for one consumer.
    ///
    /// Buffer only the newest value (`.bufferingNewest(1)`). A slow consumer can then miss a short loss of the network, because the value
    /// after the loss replaces the value for the loss. To a consumer that is waiting for the loss and the return of the network, the
    /// network then appears unchanged. The consumer waits until the next change or its time limit. To prevent this, provide a different
    /// ``Connectivity/identity`` each time a network returns. You can omit values that are equal to the previous value.
    ///
    /// Release the stream's resources when the consumer is released or its task is canceled. Finish the stream only if no more
    /// updates will follow.
    func connectivityUpdates() -> AsyncStream<Connectivity>
}

package enum ConnectivityWait: Sendable {
    /// The wait succeeded with this connectivity.
    case satisfied(Connectivity)
    /// The time limit passed, or the task was canceled.
    case abandoned
    /// The provider's stream of updates ended.
    case noMoreUpdates
}

extension ConnectivityProvider {
    /// Waits until the connectivity satisfies a condition.
    ///
    /// - Parameters:
    ///   - limit: The maximum time to wait. Adding the limit to the current time must not overflow.
    ///   - known: The value with which a request failed, although it satisfied the condition. It is accepted again only after a value that
    ///     doesn't satisfy the condition.
    ///   - onWaiting: Called once if the first value isn't accepted, and never after this method has returned.
    ///   - condition: The condition.
    package func wait(
        upTo limit: Duration, differingFrom known: Connectivity? = nil,
        onWaiting: @escaping @Sendable () -> Void = {}, until condition: @escaping @Sendable (Connectivity) -> Bool
    ) async -> ConnectivityWait {
        await withTaskGroup(of: ConnectivityWait.self) { group in
            group.addTask {
                var known = known
                var isWaiting = false
                for await connectivity in connectivityUpdates() {
                    let isSatisfied = condition(connectivity)
                    if isSatisfied, connectivity != known { return .satisfied(connectivity) }
                    if !isSatisfied { known = nil }
                    if !isWaiting { onWaiting() }
                    isWaiting = true
                }
                return Task.isCancelled ? .abandoned : .noMoreUpdates
            }
            group.addTask {
                await TimeSource.system.pause(for: limit)
                return .abandoned
            }
            defer { group.cancelAll() }
            return await group.next() ?? .abandoned
        }
    }

    /// Returns whether the provider reports a loss of the network within a limit, which is at most 300 ms. A provider can detect
    /// the loss shortly after the first requests fail. Callers therefore wait for the result before they treat a failure as
    /// unrelated to the network.
    package func detectsLoss(within limit: Duration) async -> Bool {
        let outcome = await wait(upTo: min(limit, .milliseconds(300)), until: { !$0.isOnline })
        if case .satisfied = outcome { return true }
        return false
    }
}

/// Notifies a session when the network that its connections use has changed.
///
/// The object listens from ``start(networkDidChange:)`` until ``end()``. A session starts the listener with its first request.
package final class ConnectivityListener: Sendable {
    private enum State {
        case idle
        case listening(Task<Void, Never>)
        case ended
    }

    private let provider: any ConnectivityProvider
    private let wasStarted = Atomic(false)
    private let state = Locked(State.idle)

    package init(_ provider: any ConnectivityProvider) {
        self.provider = provider
    }

    package var mustStart: Bool { !wasStarted.load(ordering: .relaxed) }

    /// Starts listening. Only the first call has an effect.
    package func start(networkDidChange: @escaping @Sendable () -> Void) {
        guard !wasStarted.exchange(true, ordering: .relaxed) else { return }
        state.withLock { state in
            guard case .idle = state else { return }
            state = .listening(
                // Detached, so that it doesn't retain the caller's task-local values.
                Task.detached { [provider] in
                    var known: Connectivity.Identity?
                    for await connectivity in provider.connectivityUpdates() {
                        // An unknown status doesn't mean that the network has changed.
                        guard connectivity.status != .unknown else { continue }
                        if let known, known != connectivity.identity { networkDidChange() }
                        known = connectivity.identity
                    }
                })
        }
    }

    package func end() {
        if case .listening(let task) = state.withLock({ Swift.exchange(&$0, with: .ended) }) { task.cancel() }
    }
}
