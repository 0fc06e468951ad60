import Testing

@testable import ReachabilityProbe

/// The path to a host or an address.
@Suite(.enabled(if: Namespace.unavailabilityReason == nil, "network namespaces aren't available"))
struct TargetTests {
    @Test(arguments: ["127.0.0.1", "::1", "localhost", "[::1]", "db.localhost"])
    func localhostIsAlwaysReachable(host: String) async throws {
        let namespace = try Namespace()
        #expect(try await namespace.watch("--host '\(host)'").status == "satisfied")
    }

    @Test func aLocalAddressIsReachableWithoutAnyLink() async throws {
        let namespace = try Namespace()
        #expect(
            try await namespace.watch("--host 192.0.2.2").status == "unsatisfied: no network interface is up")
        try await namespace.run(
            """
            ip link add v0 type veth peer name p0
            ip address add 192.0.2.2/24 dev v0
            """)
        let report = try await namespace.report()
        #expect(report.status == "satisfied")
        #expect(report.interfaces == ["v0"])
    }

    @Test func theLongestPrefixIsUsed() async throws {
        let namespace = try Namespace()
        try await namespace.addOnlineLink("v0", network: 1)
        try await namespace.addLink("v1")
        let first = try await namespace.watch("--host 10.1.2.3")
        #expect(first.interfaces == ["v0"])
        try await namespace.run("ip address add 10.1.0.1/16 dev v1")
        let second = try await namespace.report()
        #expect(second.interfaces == ["v1"])
        #expect(second.gateways == [])
        // The default route uses another link.
        try await namespace.run("ip link set dev peer-v1 down")
        #expect(try await namespace.report().status == "unsatisfied: the network interface has no connection")
        try await namespace.run("ip route add unreachable 10.1.2.0/24")
        #expect(
            try await namespace.report().status
                == "unsatisfied: a route blocks packets: destination unreachable")
        try await namespace.run(
            """
            ip route delete unreachable 10.1.2.0/24
            ip address delete 10.1.0.1/16 dev v1
            """)
        #expect(try await namespace.reports(until: \.isOnline).last?.interfaces == ["v0"])
    }

    @Test func anOnLinkHostRequiresNoDefaultRoute() async throws {
        let namespace = try Namespace()
        try await namespace.addLink("v0")
        #expect(try await namespace.watch("--host 192.0.2.77").isOnline == false)
        try await namespace.run("ip address add 192.0.2.2/24 dev v0")
        #expect(try await namespace.report().status == "satisfied")
    }

    /// In a separate namespace, no name server responds, although the network is available.
    @Test func anUnresolvedNameLeavesTheStatusUnknown() async throws {
        let namespace = try Namespace()
        let unknown = "unknown: the name nowhere.invalid has no address yet"
        #expect(try await namespace.watch("--host nowhere.invalid").status == unknown)
        #expect(try await namespace.report().status == "unsatisfied: no network interface is up")
        try await namespace.addOnlineLink("v0", network: 1)
        let report = try await namespace.reports(until: \.isOnline).last
        #expect(report?.status == unknown)
        #expect(report?.interfaces == ["v0"])
    }

    @Test func aNameIsResolvedToItsAddress() async throws {
        let namespace = try Namespace()
        try await namespace.run(
            """
            hosts=$(mktemp)
            echo '10.1.2.3 db.test' > $hosts
            mount --bind $hosts /etc/hosts
            rm $hosts
            """)
        try await namespace.addOnlineLink("v0", network: 1)
        try await namespace.addLink("v1")
        try await namespace.run("ip address add 10.1.0.1/16 dev v1")
        #expect(
            try await namespace.watch("--host db.test").status == "unknown: the name db.test has no address yet")
        #expect(try await namespace.report().interfaces == ["v1"])
        try await namespace.run("ip route delete default")
        try await namespace.run("ip link set dev peer-v1 down")
        #expect(try await namespace.report().status == "unsatisfied: the network interface has no connection")
    }

    @Test func aLinkAddedToABridgeIsReported() async throws {
        let namespace = try Namespace()
        try await namespace.addOnlineLink("v0", network: 1)
        #expect(try await namespace.watch().kinds == ["virtual"])
        try await namespace.run(
            """
            ip link add br0 type bridge
            ip link set dev br0 addrgenmode none up
            ip link set dev v0 master br0
            ip address flush dev v0
            ip address add 192.0.1.2/24 dev br0
            ip route replace default via 192.0.1.1 dev br0
            """)
        #expect(try await namespace.reports { $0.interfaces == ["br0"] }.last?.kinds == ["bridge"])
    }
}
