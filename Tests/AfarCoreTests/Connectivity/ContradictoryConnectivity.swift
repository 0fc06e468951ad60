import AfarCore

/// A provider that reports that there is no network, but sends a different value to its listeners.
struct ContradictoryConnectivity: ConnectivityProvider {
    let reported: Connectivity

    var connectivity: Connectivity { Connectivity(.offline, identity: 0) }

    func connectivityUpdates() -> AsyncStream<Connectivity> {
        AsyncStream { updates in
            updates.yield(reported)
            updates.finish()
        }
    }
}
