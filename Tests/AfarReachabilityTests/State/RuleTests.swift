import Testing

@testable import AfarReachability

struct RuleTests {
    /// A table in which only table 100 contains a route.
    private var table: NetworkTable {
        var table = NetworkTable.twoCables
        table.add("192.0.2.2", to: 2)
        table.addRoute("0.0.0.0", 0, via: "192.0.2.1", over: 2, table: 100)
        return table
    }

    @Test func onlyTablesNamedByRulesAreUsed() {
        var table = table
        #expect(table.internetPath.status == .unsatisfied(.noRoute))
        table.addRule(.lookUp(table: 100))
        #expect(table.internetPath.status == .satisfied)
    }

    @Test(arguments: [
        (true, rule { _ in }),
        (false, rule { $0.mark = 7 }), (true, rule { $0.isInverted = true }),
        (false, rule { $0.inputInterface = "eth0" }), (true, rule { $0.inputInterface = "lo" }),
        (false, rule { $0.outputInterface = "eth0" }), (false, rule { $0.requiresUncommonPackets = true }),
        (true, rule { $0.users = 0...10 }), (false, rule { $0.users = 1...10 }),
        (false, rule { $0.destination = RoutingRule.Prefix(address: tenNet, length: 8) }),
        (false, rule { $0.family = .ipv6 }),
    ])
    func aRuleAppliesToOrdinaryPackets(applies: Bool, rule: RoutingRule) {
        var rule = rule
        // The inverted rule applies to all packets without a mark.
        if rule.isInverted { rule.mark = 7 }
        rule.markMask = .max
        var table = table
        table.addRule(rule.action) { $0 = rule }
        #expect(table.internetPath.isOnline == applies)
    }

    private static let tenNet = IPAddress(family: .ipv4, bits: 10 << 120)

    private static func rule(_ change: (inout RoutingRule) -> Void) -> RoutingRule {
        var rule = RoutingRule(family: .ipv4, priority: 100, action: .lookUp(table: 100))
        change(&rule)
        return rule
    }

    @Test func aDestinationRuleAppliesOnlyToItsDestination() {
        var table = table
        table.addRule(.lookUp(table: 100)) {
            $0.destination = RoutingRule.Prefix(address: Self.tenNet, length: 8)
        }
        #expect(table.path(to: "10.2.3.4").isOnline)
        #expect(!table.path(to: "11.2.3.4").isOnline)
    }

    @Test func rulesCanRejectAndJump() {
        var table = NetworkTable.twoUplinks
        table.addRule(.refuse(.unreachable), priority: 100)
        #expect(table.internetPath.status == .unsatisfied(.routeRefused(.unreachable)))
        table.addRule(.goTo(priority: 200), priority: 50)
        #expect(table.internetPath.status == .unsatisfied(.routeRefused(.unreachable)))
        table.addRule(.nothing, priority: 200)
        #expect(table.internetPath.status == .satisfied)
        table.addRule(.nothing, priority: 10)
        #expect(table.internetPath.status == .satisfied)
    }

    @Test func aTunnelsRulesAreEvaluated() {
        // WireGuard's tool adds a table for the tunnel, preceded by the main table without its default route.
        var table = NetworkTable.twoUplinks
        table.links[4] = NetworkTable.Link(
            index: 4, name: "wg0", type: HardwareType.none, driverKind: "wireguard", isUp: true, hasCarrier: true,
            isPointToPoint: true)
        table.add("10.8.0.2", to: 4)
        table.addRoute("0.0.0.0", 0, over: 4, table: 51820)
        table.addRoute("192.168.0.0", 16, over: 3)
        table.addRule(.lookUp(table: 254), priority: 90) { $0.suppressedPrefixLength = 0 }
        table.addRule(.lookUp(table: 51820), priority: 91) {
            $0.isInverted = true
            $0.mark = 51820
            $0.markMask = .max
        }
        #expect(table.internetPath.primaryInterface?.kind == .vpn)
        #expect(table.internetPath.names.first == "wg0")
        #expect(table.path(to: "192.168.3.4").names == ["eth1"])
        #expect(table.path(to: "9.9.9.9").names == ["wg0"])
        table.addRoute("0.0.0.0", 0, kind: .unreachable, metric: 5)
        #expect(table.path(to: "9.9.9.9").status == .unsatisfied(.routeRefused(.unreachable)))
    }

    @Test func throwContinuesWithTheNextTable() {
        var table = NetworkTable.twoUplinks
        table.addRoute("10.0.0.0", 8, kind: .throw, table: 100)
        table.addRoute("0.0.0.0", 0, over: 3, table: 100)
        table.addRule(.lookUp(table: 100))
        #expect(table.path(to: "10.1.1.1").names == ["eth0", "eth1"])
        #expect(table.path(to: "11.1.1.1").names == ["eth1"])
    }

    @Test func theKernelsRouteIsEvaluated() throws {
        var table = NetworkTable.twoUplinks
        table.addRule(.lookUp(table: 100)) { $0.isUnsupported = true }
        let sample = Destination.anywhere(.ipv4).sample
        #expect(sample.description == "198.41.0.4")
        #expect(table.internetPath.status == .unsatisfied(.noRoute))
        table.kernelResponses[sample] = .refused(13)
        #expect(table.internetPath.status == .unsatisfied(.routeRefused(.prohibited)))
        table.kernelResponses[sample] = .route(table.routes[1])
        #expect(table.internetPath.names == ["eth1"])
        table.links[3]?.hasCarrier = false
        #expect(table.internetPath.status == .unsatisfied(.noCarrier))
    }
}
