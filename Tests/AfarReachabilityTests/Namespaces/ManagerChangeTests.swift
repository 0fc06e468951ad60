import Testing

@testable import ReachabilityProbe

/// What Alamofire's manager tells of real changes.
@Suite(.enabled(if: Namespace.refusal == nil, "network namespaces are refused here"))
struct ManagerChangeTests {
    @Test func theListenerHearsChangesOfTheStatusOnly() async throws {
        let namespace = try Namespace()
        try await namespace.startProbe("--debounce 20")
        try await namespace.tell("listen")
        #expect(try await namespace.status() == "notReachable")

        try await namespace.addOnlineLink("v0", network: 1)
        #expect(try await namespace.status() == "reachable(\(prefix)ethernetOrWiFi)")

        // Other paths, the same status.
        try await namespace.addOnlineLink("v1", network: 2, metric: 5)
        try await namespace.run("ip address add 198.51.100.1/24 dev v0")
        // A modem, by its name.
        try await namespace.addLink("wwan0")
        try await namespace.run(
            """
            ip address add 203.0.113.2/24 dev wwan0
            ip route add default via 203.0.113.1 metric 1
            """)
        #expect(try await namespace.status() == "reachable(\(prefix)cellular)")

        try await namespace.tell("ignore")
        try await namespace.run("ip route flush table main")
        try await namespace.tell("listen")
        #expect(try await namespace.status() == "notReachable")
        #expect(namespace.pendingStatuses().isEmpty)
    }

    /// How Swift writes the name of a nested type's case.
    private let prefix = "AfarReachability.NetworkReachabilityManager.NetworkReachabilityStatus.ConnectionType."
}
