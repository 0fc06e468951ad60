import AfarCore

/// Says that there is no network when it is asked, and something else to whoever listens.
struct ContradictoryConnectivity: ConnectivityProvider {
    let told: Connectivity

    var connectivity: Connectivity { Connectivity(.offline, identity: 0) }

    func connectivityUpdates() -> AsyncStream<Connectivity> {
        AsyncStream { updates in
            updates.yield(told)
            updates.finish()
        }
    }
}
