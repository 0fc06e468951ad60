import Testing

@testable import AfarReachability

struct KindTests {
    private func link(_ index: Int32, _ name: String = "x0", type: UInt16 = 1, driverKind: String? = nil)
        -> NetworkTable.Link
    {
        NetworkTable.Link(index: index, name: name, type: type, driverKind: driverKind, isUp: true, hasCarrier: true)
    }

    @Test(
        arguments: [
            (1, nil, "eth0", .ethernet), (1, nil, "wwan0", .cellular), (1, nil, "wwp0s20f0u6", .cellular),
            (519, nil, "rmnet_data0", .cellular), (519, "wwan", "wwan0", .cellular), (512, "ppp", "ppp0", .cellular),
            (65534, "wireguard", "wg0", .vpn), (65534, "tun", "tun0", .vpn), (1, "tun", "tap0", .virtual),
            (768, "ipip", "tunl0", .vpn), (778, "gre", "gre0", .vpn), (1, "vxlan", "vx0", .vpn),
            (1, "bridge", "br0", .bridge),
            (1, "veth", "eth0", .virtual), (1, "dummy", "dummy0", .virtual), (772, nil, "lo", .loopback),
            (801, nil, "mon0", .wifi),
            (24, nil, "fw0", .other),
        ] as [(UInt16, String?, String, NetworkInterface.Kind)])
    func interfacesHaveAKind(type: UInt16, driverKind: String?, name: String, kind: NetworkInterface.Kind) {
        var table = NetworkTable()
        table.links[2] = link(2, name, type: type, driverKind: driverKind)
        #expect(table.interface(2)?.kind == kind)
        #expect(table.interface(2)?.underlyingKind == kind)
    }

    @Test func virtualInterfacesHaveTheKindOfTheirLowerLink() {
        var table = NetworkTable()
        table.links[2] = link(2)
        table.links[2]?.isWireless = true
        table.links[3] = link(3, driverKind: "vlan")
        table.links[3]?.lower = 2
        table.links[4] = link(4, driverKind: "macvlan")
        table.links[4]?.lower = 3
        #expect(table.interface(4)?.kind == .wifi)
        table.links[5] = link(5, driverKind: "bond")
        table.links[2]?.master = 5
        #expect(table.interface(5)?.kind == .wifi)
        table.links[2] = nil
        #expect(table.interface(4)?.kind == .virtual)
    }

    @Test func aBridgeHasTheKindOfItsActivePort() {
        var table = NetworkTable()
        table.links[2] = link(2, driverKind: "bridge")
        table.links[3] = link(3)
        table.links[3]?.master = 2
        table.links[3]?.hasCarrier = false
        table.links[4] = link(4)
        table.links[4]?.isWireless = true
        table.links[4]?.master = 2
        #expect(table.interface(2)?.kind == .bridge)
        #expect(table.interface(2)?.underlyingKind == .wifi)
        let path = NetworkPath(status: .satisfied, interfaces: table.interface(2).map { [$0] } ?? [])
        #expect(path.usesInterfaceKind(.wifi) && path.usesInterfaceKind(.bridge))
    }

    @Test(.timeLimit(.minutes(1)))
    func cyclesAreHandled() {
        var table = NetworkTable()
        for index: Int32 in 1...3 {
            table.links[index] = link(index, driverKind: "vlan")
            table.links[index]?.lower = index % 3 + 1
            table.links[index]?.master = (index + 1) % 3 + 1
        }
        #expect(table.interface(1)?.kind == .virtual)
    }
}
