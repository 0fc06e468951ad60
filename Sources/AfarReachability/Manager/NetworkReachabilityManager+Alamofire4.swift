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
