import Testing

@testable import ReachabilityProbe

/// Status changes of Alamofire's manager in a real network.
@Suite(.enabled(if: Namespace.unavailabilityReason == nil, "network namespaces aren't available"))
struct ManagerChangeTests {
    @Test func theListenerIsNotifiedOnlyOfStatusChanges() async throws {
        let namespace = try Namespace()
        try await namespace.startProbe("--debounce 20")
        try await namespace.send("listen")
        #expect(try await namespace.status() == "notReachable")

        try await namespace.addOnlineLink("v0", network: 1)
        #expect(try await namespace.status() == "reachable(\(prefix)ethernetOrWiFi)")

        // The paths change, but not the status.
        try await namespace.addOnlineLink("v1", network: 2, metric: 5)
        try await namespace.run("ip address add 198.51.100.1/24 dev v0")
        // The name identifies a modem.
        try await namespace.addLink("wwan0")
        try await namespace.run(
            """
            ip address add 203.0.113.2/24 dev wwan0
            ip route add default via 203.0.113.1 metric 1
            """)
        #expect(try await namespace.status() == "reachable(\(prefix)cellular)")

        try await namespace.send("ignore")
        try await namespace.run("ip route flush table main")
        try await namespace.send("listen")
        #expect(try await namespace.status() == "notReachable")
        #expect(namespace.pendingStatuses().isEmpty)
    }

    /// The prefix that Swift prints for the case of a nested type.
    private let prefix = "AfarReachability.NetworkReachabilityManager.NetworkReachabilityStatus.ConnectionType."
}
