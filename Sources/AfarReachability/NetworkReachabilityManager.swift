public import Dispatch

/// Reports network reachability with the same API as Alamofire. ``NetworkMonitor`` provides more detail.
///
/// ```swift
/// NetworkReachabilityManager.default?.startListening { status in
///     print("reachable: \(status)")
/// }
/// ```
///
/// Reachability doesn't indicate whether a server responds. Don't check it before a request: send the request instead.
/// All members can be used from any thread.
open class NetworkReachabilityManager: @unchecked Sendable {
    // Sendable because a lock protects all state. Subclasses must protect their own state.

    /// Called with each new status.
    public typealias Listener = @Sendable (NetworkReachabilityStatus) -> Void

    /// The shared manager, which monitors the path to the internet.
    public static let `default` = NetworkReachabilityManager()

    private struct State {
        var observation: Int?
        /// Identifies the current listener. Earlier listeners have lower numbers.
        var generation = 0
        var lastStatus: NetworkReachabilityStatus?
        var listener: Listener?
        var listenerQueue: DispatchQueue?

        /// Records a status. Returns whether to notify the listener of this generation about the status.
        mutating func takes(_ status: NetworkReachabilityStatus, for generation: Int) -> Bool {
            guard self.generation == generation, lastStatus != status else { return false }
            lastStatus = status
            return true
        }
    }

    /// A serial queue for listeners: `startListening(onQueue: manager.reachabilityQueue) { … }`. The manager itself
    /// doesn't use it.
    public let reachabilityQueue = DispatchQueue(label: "afar.reachability")

    private let monitor: NetworkMonitor
    private let state = Locked(State())

    /// Creates a manager that monitors the path to the internet. This initializer never returns `nil`.
    public convenience init?() {
        self.init(monitor: .shared)
    }

    /// Creates a manager that monitors the path to a host. Returns `nil` if the host is empty.
    public convenience init?(host: String) {
        guard !host.isEmpty else { return nil }
        self.init(monitor: NetworkMonitor(target: .host(host)))
    }

    /// Creates a manager that uses the given monitor.
    public init(monitor: NetworkMonitor) {
        self.monitor = monitor
    }

    deinit { stopListening() }

    /// A Boolean value that indicates whether the network is known to be reachable.
    open var isReachable: Bool { isReachableOnCellular || isReachableOnEthernetOrWiFi }

    /// A Boolean value that indicates whether the network is known to be reachable over a mobile network.
    open var isReachableOnCellular: Bool { status == .reachable(.cellular) }

    /// A Boolean value that indicates whether the network is known to be reachable over anything except a mobile
    /// network.
    open var isReachableOnEthernetOrWiFi: Bool { status == .reachable(.ethernetOrWiFi) }

    /// The current status.
    open var status: NetworkReachabilityStatus { NetworkReachabilityStatus(monitor.currentPath) }

    /// Starts to notify a listener of the current status and then of each status that differs from the previous one.
    ///
    /// The listener replaces any earlier listener.
    ///
    /// - Parameters:
    ///   - queue: The queue on which to call the listener. The default is the main queue.
    ///   - listener: The closure to call with each status. It is no longer called after you call ``stopListening()`` on
    ///     the same queue.
    /// - Returns: `true`. Listening never fails.
    @preconcurrency
    @discardableResult
    open func startListening(
        onQueue queue: DispatchQueue = .main, onUpdatePerforming listener: @escaping Listener
    ) -> Bool {
        stopListening()
        let generation = state.withLock { state in
            state.generation += 1
            state.lastStatus = nil
            return state.generation
        }
        let observation = monitor.observe { [state] path in
            let status = NetworkReachabilityStatus(path)
            let hasChanged = state.withLock { $0.takes(status, for: generation) }
            guard hasChanged else { return }
            queue.async {
                if state.withLock({ $0.generation == generation }) { listener(status) }
            }
        }
        let isOutdated = state.withLock { state in
            guard state.generation == generation else { return true }
            state.observation = observation
            return false
        }
        if isOutdated { monitor.stopObserving(observation) }
        return true
    }

    /// Stops notifying the listener. This also happens when the manager is released.
    open func stopListening() {
        let observation = state.withLock { state in
            state.generation += 1
            defer { state.observation = nil }
            return state.observation
        }
        if let observation { monitor.stopObserving(observation) }
    }

    // MARK: Names from Alamofire 4

    /// The closure to call with each new status after ``startListening()``, on the ``listenerQueue``.
    @preconcurrency
    open var listener: Listener? {
        get { state.withLock { $0.listener } }
        set { state.exchange(\.listener, for: newValue) }
    }

    /// The queue on which the ``listener`` is called. The default is the main queue.
    open var listenerQueue: DispatchQueue {
        get { state.withLock { $0.listenerQueue } ?? .main }
        set { state.exchange(\.listenerQueue, for: newValue) }
    }
}

extension NetworkReachabilityManager {
    /// Starts to notify the ``listener``, which can be replaced at any time.
    ///
    /// - Returns: `true`. Listening never fails.
    @discardableResult
    public func startListening() -> Bool {
        startListening(onQueue: listenerQueue) { [weak self] status in
            self?.listener?(status)
        }
    }
}

extension NetworkReachabilityManager {
    /// The reachability of the network.
    public enum NetworkReachabilityStatus: Sendable, Hashable {
        /// The reachability can't be determined. See ``NetworkPath/UnknownReason``.
        case unknown
        /// The network isn't reachable.
        case notReachable
        /// The network is reachable over this type of connection.
        case reachable(ConnectionType)

        /// A type of connection.
        public enum ConnectionType: Sendable, Hashable {
            /// Any connection except a mobile network: Ethernet, Wi-Fi or this machine itself.
            case ethernetOrWiFi
            /// A mobile network.
            case cellular
        }

        /// Creates the status for a path.
        public init(_ path: NetworkPath) {
            switch path.status {
            case .satisfied: self = .reachable(ConnectionType(path))
            case .unsatisfied: self = .notReachable
            case .unknown: self = .unknown
            }
        }
    }
}

extension NetworkReachabilityManager.NetworkReachabilityStatus.ConnectionType {
    /// Creates the connection type of a path. A tunnel has the type of the interface that it uses. If that interface is
    /// unknown, the tunnel has the type of the next interface.
    fileprivate init(_ path: NetworkPath) {
        let interface = path.interfaces.first { $0.underlyingKind != .vpn } ?? path.primaryInterface
        self = interface?.underlyingKind == .cellular ? .cellular : .ethernetOrWiFi
    }
}
