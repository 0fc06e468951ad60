public import Dispatch

/// Tells whether a network is there, in the shape that users of Alamofire know. ``NetworkMonitor`` tells more.
///
/// ```swift
/// NetworkReachabilityManager.default?.startListening { status in
///     print("reachable: \(status)")
/// }
/// ```
///
/// It does not tell whether a server answers, so don't ask it before a request: make the request. All members may be used
/// from any thread.
open class NetworkReachabilityManager: @unchecked Sendable {
    // Sendable because all state is behind a lock. Subclasses answer for their own.

    /// Called with each new status.
    public typealias Listener = @Sendable (NetworkReachabilityStatus) -> Void

    /// The manager that watches the way to the internet.
    public static let `default` = NetworkReachabilityManager()

    private struct State {
        var observation: Int?
        /// The listener that is served; an older one is known by its lower number.
        var generation = 0
        var lastStatus: NetworkReachabilityStatus?
        var listener: Listener?
        var listenerQueue: DispatchQueue?

        /// Whether a status is new to the listener of a generation.
        mutating func takes(_ status: NetworkReachabilityStatus, for generation: Int) -> Bool {
            guard self.generation == generation, lastStatus != status else { return false }
            lastStatus = status
            return true
        }
    }

    /// A serial queue for listeners that have none of their own: `startListening(onQueue: manager.reachabilityQueue) { … }`.
    /// The manager itself puts nothing onto it.
    public let reachabilityQueue = DispatchQueue(label: "afar.reachability")

    private let monitor: NetworkMonitor
    private let state = Locked(State())

    /// Makes a manager that watches the way to the internet. It always succeeds.
    public convenience init?() {
        self.init(monitor: .shared)
    }

    /// Makes a manager that watches the way to a host. A host without a name fails.
    public convenience init?(host: String) {
        guard !host.isEmpty else { return nil }
        self.init(monitor: NetworkMonitor(target: .host(host)))
    }

    /// Makes a manager on a monitor of yours.
    public init(monitor: NetworkMonitor) {
        self.monitor = monitor
    }

    deinit { stopListening() }

    /// Whether a network is known to be there.
    open var isReachable: Bool { isReachableOnCellular || isReachableOnEthernetOrWiFi }

    /// Whether a network is known to be there, over a mobile network.
    open var isReachableOnCellular: Bool { status == .reachable(.cellular) }

    /// Whether a network is known to be there, over anything else than a mobile network.
    open var isReachableOnEthernetOrWiFi: Bool { status == .reachable(.ethernetOrWiFi) }

    /// The status at this moment.
    open var status: NetworkReachabilityStatus { NetworkReachabilityStatus(monitor.currentPath) }

    /// Begins to listen. The listener is notified of the present status soon, and then of each that differs from the
    /// one before. One that listened before is not notified any more.
    ///
    /// - Parameters:
    ///   - queue: The queue that the listener is called on, the main one by default.
    ///   - listener: Called with each status. Not any more once ``stopListening()`` has returned on the same queue.
    /// - Returns: True: on no system does this fail.
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
            let isNews = state.withLock { $0.takes(status, for: generation) }
            guard isNews else { return }
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

    /// Ends listening. A manager that is released does so by itself.
    open func stopListening() {
        let observation = state.withLock { state in
            state.generation += 1
            defer { state.observation = nil }
            return state.observation
        }
        if let observation { monitor.stopObserving(observation) }
    }

    // MARK: The names of Alamofire 4

    /// Called with each new status after ``startListening()``, on the ``listenerQueue``.
    @preconcurrency
    open var listener: Listener? {
        get { state.withLock { $0.listener } }
        set { state.exchange(\.listener, for: newValue) }
    }

    /// The queue that the ``listener`` is called on, the main one by default.
    open var listenerQueue: DispatchQueue {
        get { state.withLock { $0.listenerQueue } ?? .main }
        set { state.exchange(\.listenerQueue, for: newValue) }
    }
}

extension NetworkReachabilityManager {
    /// Whether a network is known to be there, over a mobile network.
    public var isReachableOnWWAN: Bool { isReachableOnCellular }

    /// Begins to listen with the ``listener``, which may be replaced at any time.
    ///
    /// - Returns: True: on no system does this fail.
    @discardableResult
    public func startListening() -> Bool {
        startListening(onQueue: listenerQueue) { [weak self] status in
            self?.listener?(status)
        }
    }
}

// MARK: - Status

extension NetworkReachabilityManager {
    /// Whether a network is there.
    public enum NetworkReachabilityStatus: Sendable, Hashable {
        /// Nobody can tell: see ``NetworkPath/UnknownReason``.
        case unknown
        /// There is no network.
        case notReachable
        /// There is one, over this kind of connection.
        case reachable(ConnectionType)

        /// Over what the network is reached.
        public enum ConnectionType: Sendable, Hashable {
            /// Anything that is no mobile network: a cable, a wireless LAN, this machine itself.
            case ethernetOrWiFi
            /// A mobile network.
            case cellular

            /// A mobile network, by the name that Alamofire 4 gave it.
            public static var wwan: ConnectionType { .cellular }
        }

        /// The status that a path stands for.
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
    /// A tunnel counts as what it runs over: what lies below it, or else the next best interface.
    fileprivate init(_ path: NetworkPath) {
        let interface = path.interfaces.first { $0.underlyingKind != .vpn } ?? path.primaryInterface
        self = interface?.underlyingKind == .cellular ? .cellular : .ethernetOrWiFi
    }
}
