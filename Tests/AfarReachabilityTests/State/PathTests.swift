import Testing

@testable import AfarReachability

/// Paths computed from tables, without a kernel.
struct PathTests {
    @Test func theCheapestRouteIsFirst() {
        let path = NetworkTable.twoUplinks.internetPath
        #expect(path.status == .satisfied)
        #expect(path.names == ["eth0", "eth1"])
        #expect(path.primaryInterface?.name == "eth0")
        #expect(path.primaryInterface?.addresses.map(\.description) == ["192.0.2.2/24"])
        #expect(path.gateways.map(\.description) == ["192.0.2.1", "198.51.100.1"])
        #expect(
            path.routes.map(\.description) == [
                "default via 192.0.2.1 dev eth0 metric 10", "default via 198.51.100.1 dev eth1 metric 20",
            ])
        #expect(path.supportsIPv4 && !path.supportsIPv6)
        #expect(path.usesInterfaceKind(.ethernet) && !path.usesInterfaceKind(.wifi))
    }

    @Test func missingPartsAreNamed() {
        var table = NetworkTable()
        #expect(table.internetPath.status == .unsatisfied(.noInterface))
        table = .twoCables
        #expect(table.internetPath.status == .unsatisfied(.noAddress))
        table.add("fe80::1", to: 2, isGlobal: false)
        table.add("192.0.2.2", to: 2, isUsable: false)
        #expect(table.internetPath.status == .unsatisfied(.noAddress))
        table.add("192.0.2.2", to: 2)
        #expect(table.internetPath.status == .unsatisfied(.noRoute))
        table.links[2]?.hasCarrier = false
        table.links[3]?.hasCarrier = false
        #expect(table.internetPath.status == .unsatisfied(.noCarrier))
        table.links[2]?.isUp = false
        table.links[3]?.isUp = false
        #expect(table.internetPath.status == .unsatisfied(.noInterface))
    }

    @Test func aRouteRequiresAnAddressOfItsFamily() {
        var table = NetworkTable.twoCables
        table.add("192.0.2.2", to: 2)
        table.addRoute("::", 0, via: "fe80::9", over: 2)
        #expect(table.internetPath.status == .unsatisfied(.noAddress))
        table.add("2001:db8::2", to: 2)
        #expect(table.internetPath.status == .satisfied)
        #expect(table.internetPath.gateways.map(\.description) == ["fe80::9%eth0"])
        #expect(table.internetPath.supportsIPv6 && !table.internetPath.supportsIPv4)
    }

    @Test func anAddressOfAnotherInterfaceIsNotSufficient() {
        var table = NetworkTable.twoCables
        table.add("192.0.2.2", to: 2)
        table.addRoute("0.0.0.0", 0, via: "198.51.100.1", over: 3)
        #expect(table.internetPath.status == .unsatisfied(.noAddress))
        // The path is online in these cases: the route specifies the address, the loopback interface has it, or the
        // link is point-to-point.
        var named = table
        named.routes[0].source = IPAddress("192.0.2.2")
        #expect(named.internetPath.status == .satisfied)
        var loopback = table
        loopback.add("203.0.113.1", to: 1)
        #expect(loopback.internetPath.status == .satisfied)
        var tunnel = table
        tunnel.links[3]?.isPointToPoint = true
        #expect(tunnel.internetPath.status == .satisfied)
    }

    @Test func aGlobalIPv6AddressServesAllInterfaces() {
        var table = NetworkTable.twoCables
        table.addRoute("::", 0, via: "fe80::9", over: 3)
        table.add("fd00::2", to: 2)
        #expect(table.internetPath.status == .unsatisfied(.noAddress))
        table.add("2a00::2", to: 2, isUsable: false)
        #expect(table.internetPath.status == .unsatisfied(.noAddress))
        table.add("2a00::3", to: 2)
        #expect(table.internetPath.status == .satisfied)
        #expect(table.internetPath.names == ["eth1"])
    }

    @Test func aDeadLinkIsSkipped() {
        var table = NetworkTable.twoUplinks
        table.links[2]?.hasCarrier = false
        #expect(table.internetPath.names == ["eth1"])
        table.routes[1].hops[0].isLinkDown = true
        #expect(table.internetPath.status == .unsatisfied(.noCarrier))
    }

    @Test func refusalOfTheCheapestRouteIsFinal() {
        var table = NetworkTable.twoUplinks
        table.addRoute("0.0.0.0", 0, kind: .blackhole, metric: 15)
        #expect(table.internetPath.names == ["eth0"])
        table.addRoute("0.0.0.0", 0, kind: .prohibit, metric: 5)
        #expect(table.internetPath.status == .unsatisfied(.routeRefused(.prohibited)))
        #expect(!table.internetPath.isOnline)
    }

    @Test func halfRoutesTakePrecedenceOverTheDefaultRoute() {
        var table = NetworkTable.twoUplinks
        table.links[4] = NetworkTable.Link(
            index: 4, name: "tun0", type: HardwareType.none, driverKind: "tun", isUp: true, hasCarrier: true,
            isPointToPoint: true)
        table.add("10.8.0.2", to: 4)
        table.addRoute("0.0.0.0", 1, over: 4, metric: 50)
        table.addRoute("128.0.0.0", 1, over: 4, metric: 50)
        #expect(table.internetPath.primaryInterface?.kind == .vpn)
        #expect(Set(table.internetPath.names) == ["tun0", "eth0", "eth1"])
        table.links[4]?.hasCarrier = false
        #expect(table.internetPath.status == .unsatisfied(.noCarrier))
    }

    @Test func severalHopsAreAllUsed() {
        var table = NetworkTable.twoUplinks
        table.routes.removeLast()
        table.routes[0].hops.append(TableRoute.Hop(link: 3, gateway: IPAddress("198.51.100.1")))
        #expect(table.internetPath.names == ["eth0", "eth1"])
        table.routes[0].hops[0].isDead = true
        #expect(table.internetPath.names == ["eth1"])
        table.routes[0].hops[1].isDead = true
        #expect(table.internetPath.status == .unsatisfied(.noRoute))
    }

    @Test(arguments: ["127.0.0.1", "127.3.4.5", "::1", "0.0.0.0", "::"])
    func localhostIsAlwaysReachable(address: String) {
        #expect(NetworkTable().path(to: address).status == .satisfied)
        #expect(NetworkTable.twoCables.path(to: address).names == ["lo"])
    }

    @Test func aLocalAddressIsAlwaysReachable() {
        var table = NetworkTable.twoCables
        table.links[2]?.isUp = false
        table.add("192.0.2.2", to: 2)
        #expect(table.path(to: "192.0.2.2").status == .satisfied)
        #expect(table.path(to: "192.0.2.3").status == .unsatisfied(.noAddress))
    }

    @Test func theLongestPrefixIsUsed() {
        var table = NetworkTable.twoUplinks
        table.addRoute("10.0.0.0", 8, over: 3)
        #expect(table.path(to: "10.1.2.3").names == ["eth1"])
        #expect(table.path(to: "11.1.2.3").names == ["eth0", "eth1"])
        table.addRoute("10.1.0.0", 16, kind: .unreachable)
        #expect(table.path(to: "10.1.2.3").status == .unsatisfied(.routeRefused(.unreachable)))
        #expect(table.path(to: "10.2.2.3").names == ["eth1"])
        table.links[3]?.hasCarrier = false
        #expect(table.path(to: "10.2.2.3").status == .unsatisfied(.noCarrier))
    }

    @Test func aZoneChoosesTheLink() {
        var table = NetworkTable.twoCables
        for link: Int32 in [2, 3] {
            table.add("fe80::2", to: link, isGlobal: false)
            table.addRoute("fe80::", 64, over: link)
        }
        #expect(table.path(to: "fe80::99%eth1").names == ["eth1"])
        #expect(table.path(to: "fe80::99%2").names == ["eth0"])
        #expect(table.path(to: "fe80::99%wlan0").status == .unsatisfied(.noAddress))
    }

    @Test func oneOfSeveralAddressesIsSufficient() throws {
        let table = NetworkTable.twoUplinks
        let addresses = try ["2001:db8::1", "203.0.113.1"].map { Destination.address(try #require(IPAddress($0))) }
        let path = table.path(to: addresses)
        #expect(path.status == .satisfied)
        #expect(path.supportsIPv4 && !path.supportsIPv6)
    }

    @Test func equivalentPathsAreEqual() {
        var table = NetworkTable.twoUplinks
        let path = table.internetPath
        table.links[9] = NetworkTable.Link(index: 9, name: "docker0")
        table.addRoute("10.0.0.0", 8, over: 3)
        #expect(table.internetPath == path)
        table.add("192.0.2.7", to: 2)
        #expect(table.internetPath != path)
    }
}
