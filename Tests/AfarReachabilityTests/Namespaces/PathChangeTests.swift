import Testing

@testable import ReachabilityProbe

/// The monitor's reports about changes to a real network.
@Suite(.enabled(if: Namespace.unavailabilityReason == nil, "network namespaces aren't available"))
struct PathChangeTests {
    @Test func withoutInterfacesThereIsNoNetwork() async throws {
        let namespace = try Namespace()
        let report = try await namespace.watch()
        #expect(report.status == "unsatisfied: no network interface is up")
        #expect(!report.isOnline)
    }

    @Test func addressAndDefaultRouteComeAndGo() async throws {
        let namespace = try Namespace()
        try await namespace.addLink("v0")
        #expect(try await namespace.watch().status == "unsatisfied: the network interface has no address")

        try await namespace.run("ip address add 192.0.2.2/24 dev v0")
        #expect(try await namespace.report().status == "unsatisfied: no route to the target")

        try await namespace.run("ip route add default via 192.0.2.1")
        let online = try await namespace.report()
        #expect(online.status == "satisfied")
        #expect(online.interfaces == ["v0"])
        #expect(online.kinds == ["virtual"])
        #expect(online.addresses == ["192.0.2.2/24"])
        #expect(online.gateways == ["192.0.2.1"])
        #expect(online.supportsIPv4 && !online.supportsIPv6)

        try await namespace.run("ip route delete default")
        #expect(try await namespace.report().status == "unsatisfied: no route to the target")

        try await namespace.run("ip route add default via 192.0.2.1")
        #expect(try await namespace.report().status == "satisfied")

        try await namespace.run("ip address delete 192.0.2.2/24 dev v0")
        #expect(try await namespace.report().status == "unsatisfied: the network interface has no address")
    }

    @Test func theCarrierIsRequired() async throws {
        let namespace = try Namespace()
        try await namespace.addOnlineLink("v0", network: 1)
        #expect(try await namespace.watch().status == "satisfied")

        try await namespace.run("ip link set dev peer-v0 down")
        #expect(try await namespace.report().status == "unsatisfied: the network interface has no connection")

        try await namespace.run("ip link set dev peer-v0 up")
        #expect(try await namespace.report().status == "satisfied")

        try await namespace.run("ip link set dev v0 down")
        #expect(try await namespace.report().isOnline == false)
    }

    @Test func ipv6OnlyIsSufficient() async throws {
        let namespace = try Namespace()
        try await namespace.addLink("v0")
        _ = try await namespace.watch()
        try await namespace.run("ip address add 2001:db8::2/64 dev v0 nodad")
        #expect(try await namespace.report().status == "unsatisfied: no route to the target")
        try await namespace.run("ip route add default via fe80::1 dev v0")
        let online = try await namespace.report()
        #expect(online.status == "satisfied")
        #expect(online.supportsIPv6 && !online.supportsIPv4)
        #expect(online.gateways == ["fe80::1%v0"])
    }

    @Test func anAddressIsUsableAfterDuplicateDetection() async throws {
        let namespace = try Namespace()
        try await namespace.addLink("v0")
        #expect(try await namespace.watch().status == "unsatisfied: the network interface has no address")
        try await namespace.run(
            """
            ip address add 2001:db8::2/64 dev v0
            ip route add default via fe80::1 dev v0
            """)
        #expect(try await namespace.report().status == "satisfied")
        #expect(try await namespace.run("ip -6 address show dev v0 tentative") == [])
    }

    @Test(arguments: [
        ("blackhole", "dropped silently (blackhole)"), ("unreachable", "destination unreachable"),
        ("prohibit", "prohibited"),
    ])
    func aRejectingRouteIsUnusable(kind: String, words: String) async throws {
        let namespace = try Namespace()
        try await namespace.addOnlineLink("v0", network: 1, metric: 50)
        #expect(try await namespace.watch().status == "satisfied")
        try await namespace.run("ip route add \(kind) default metric 10")
        #expect(try await namespace.report().status == "unsatisfied: a route blocks packets: \(words)")
        try await namespace.run(
            """
            ip route add \(kind) default metric 100
            ip route delete \(kind) default metric 10
            """)
        #expect(try await namespace.report().status == "satisfied")
    }

    @Test func theCheaperUplinkIsThePrimaryOne() async throws {
        let namespace = try Namespace()
        try await namespace.addOnlineLink("v0", network: 1, metric: 10)
        #expect(try await namespace.watch().interfaces == ["v0"])
        try await namespace.addOnlineLink("v1", network: 2, metric: 20)
        #expect(try await namespace.reports { $0.interfaces == ["v0", "v1"] }.allSatisfy(\.isOnline))

        try await namespace.run("ip link set dev peer-v0 down")
        #expect(try await namespace.reports { $0.interfaces == ["v1"] }.allSatisfy(\.isOnline))

        try await namespace.run("ip link set dev peer-v0 up")
        #expect(try await namespace.reports { $0.interfaces == ["v0", "v1"] }.allSatisfy(\.isOnline))

        try await namespace.run("ip route delete default dev v0")
        #expect(try await namespace.reports { $0.interfaces == ["v1"] }.allSatisfy(\.isOnline))

        try await namespace.run("ip route add default via 192.0.1.1 dev v0 metric 30")
        #expect(try await namespace.reports { $0.interfaces == ["v1", "v0"] }.allSatisfy(\.isOnline))

        try await namespace.run("ip link delete v1")
        #expect(try await namespace.reports { $0.interfaces == ["v0"] }.last?.gateways == ["192.0.1.1"])
    }

    @Test func rulesSelectOtherTables() async throws {
        let namespace = try Namespace()
        try await namespace.addLink("v0")
        try await namespace.run("ip address add 192.0.2.2/24 dev v0")
        #expect(try await namespace.watch().status == "unsatisfied: no route to the target")
        try await namespace.run("ip route add default via 192.0.2.1 table 100")
        try await namespace.run("ip rule add not fwmark 7 lookup 100")
        #expect(try await namespace.report().status == "satisfied")
        try await namespace.run("ip rule add prohibit priority 5")
        #expect(
            try await namespace.report().status
                == "unsatisfied: a route blocks packets: prohibited")
        try await namespace.run("ip rule delete priority 5")
        #expect(try await namespace.report().status == "satisfied")
        try await namespace.run("ip rule delete not fwmark 7 lookup 100")
        #expect(try await namespace.report().status == "unsatisfied: no route to the target")
    }

    /// The monitor doesn't evaluate rules about ports. Instead, it requests the route from the kernel and evaluates the
    /// answer.
    @Test func theKernelIsQueriedForPortRules() async throws {
        let namespace = try Namespace()
        try await namespace.addOnlineLink("v0", network: 1)
        try await namespace.run("ip rule add ipproto udp dport 53 lookup 100")
        let online = try await namespace.watch()
        #expect(online.status == "satisfied")
        #expect(online.interfaces == ["v0"])
        try await namespace.run("ip link set dev peer-v0 down")
        #expect(try await namespace.report().status == "unsatisfied: the network interface has no connection")
        try await namespace.run("ip route replace blackhole default")
        #expect(
            try await namespace.report().status == "unsatisfied: a route blocks packets: dropped silently (blackhole)")
    }
}

extension Namespace {
    /// Creates a link with the address 192.0.NETWORK.2 and a default route.
    func addOnlineLink(_ name: String, network: Int, metric: Int = 10) async throws {
        try await addLink(name)
        try await run(
            """
            ip address add 192.0.\(network).2/24 dev \(name)
            ip route add default via 192.0.\(network).1 dev \(name) metric \(metric)
            """)
    }
}
