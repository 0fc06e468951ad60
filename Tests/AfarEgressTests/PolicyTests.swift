import AfarEgress
import AfarTransport
import Dispatch
import Synchronization
import Testing

/// The decisions of policies with rules.
@Suite struct PolicyTests {
    private typealias Route = ConnectionCandidate.Route

    private func candidate(
        _ host: String, _ port: Int = 80, at address: String? = nil, _ route: Route = .direct
    ) throws -> ConnectionCandidate {
        let address = try address.map { try #require(SocketAddress($0, port: port)) }
        return ConnectionCandidate(scheme: "http", host: host, port: port, route: route, address: address)
    }

    /// Returns the reason of a refusal; nil if the connection is allowed.
    private func reason(
        _ policy: EgressPolicy, _ host: String, _ port: Int = 80, at address: String? = nil, _ route: Route = .direct
    ) throws -> String? {
        guard case .refuse(let reason) = policy.decide(on: try candidate(host, port, at: address, route)) else {
            return nil
        }
        return reason
    }

    private static let (publicAddress, privateAddress) = ("8.8.8.8", "10.1.2.3")

    @Test func rulesAddToTheDefault() throws {
        let policy = EgressPolicy(allowing: [
            .publicAddresses,
            try EgressRule(host: "*.corp.example", ports: [443, 8443], networks: ["10.0.0.0/8", "fd12:3456::/32"]),
            try EgressRule(networks: ["192.168.1.7"]),
        ])
        #expect(try reason(policy, "any.example", at: "8.8.8.8") == nil)
        #expect(try reason(policy, "a.corp.example", 443, at: "10.1.2.3") == nil)
        #expect(try reason(policy, "A.B.Corp.Example.", 8443, at: "fd12:3456:7::1") == nil)
        #expect(try reason(policy, "x", 1, at: "192.168.1.7") == nil)
        #expect(try reason(policy, "a.corp.example", 80, at: "10.1.2.3")?.contains("private") == true)
        #expect(try reason(policy, "corp.example", 443, at: "10.1.2.3")?.contains("private") == true)
        #expect(try reason(policy, "evilcorp.example", 443, at: "10.1.2.3")?.contains("private") == true)
        #expect(try reason(policy, "a.corp.example", 443, at: "11.1.2.3") == nil)
        #expect(try reason(policy, "a.corp.example", 443, at: "192.168.1.8")?.contains("private") == true)
        #expect(try reason(policy, "x", 1, at: "::ffff:192.168.1.7") == nil)
        // A rule for an address doesn't allow its other forms.
        #expect(try reason(policy, "x", 1, at: "64:ff9b::192.168.1.7")?.contains("private") == true)
    }

    /// Whoever controls the DNS of an allowed host must not reach other addresses.
    @Test func aRuleForAHostAllowsOnlyPublicAddresses() throws {
        let policy = EgressPolicy(allowing: [try EgressRule(host: "api.example.com", ports: [443])])
        #expect(try reason(policy, "api.example.com", 443, at: "8.8.8.8") == nil)
        #expect(try reason(policy, "api.example.com", 443, at: "127.0.0.1")?.contains("loopback") == true)
        #expect(try reason(policy, "api.example.com", 80, at: "8.8.8.8") == "no rule allows it")
        #expect(try reason(policy, "other.example.com", 443, at: "8.8.8.8") == "no rule allows it")
        #expect(try reason(EgressPolicy(allowing: []), "api.example.com", 443, at: "8.8.8.8") == "no rule allows it")
    }

    @Test func metadataServicesNeedARuleForTheirAddress() throws {
        let wide = EgressPolicy(allowing: [
            .publicAddresses, try EgressRule(networks: ["0.0.0.0/0", "::/0", "169.254.0.0/16", "fd00::/8"]),
        ])
        for address in ["169.254.169.254", "168.63.129.16", "fd00:ec2::254", "::ffff:169.254.169.254"] {
            #expect(try reason(wide, "x", at: address)?.contains("metadata") == true, "\(address)")
        }
        for address in ["64:ff9b::169.254.169.254", "64:ff9b:1::169.254.169.254", "2002:a9fe:a9fe::1"] {
            #expect(try reason(wide, "x", at: address) != nil, "\(address)")
        }
        #expect(try reason(wide, "x", at: "169.254.1.1") == nil)
        let exact = EgressPolicy(allowing: [try EgressRule(networks: ["169.254.169.254", "fd00:ec2::254/128"])])
        for address in ["169.254.169.254", "fd00:ec2::254", "::ffff:169.254.169.254"] {
            #expect(try reason(exact, "x", at: address) == nil, "\(address)")
        }
    }

    @Test func deniedDestinationsArePrecedent() throws {
        let policy = EgressPolicy(
            allowing: [.publicAddresses, try EgressRule(networks: ["10.0.0.0/8"])],
            denying: [
                try EgressRule(host: "*.evil.example"), try EgressRule(ports: [25]),
                try EgressRule(networks: ["10.9.0.0/16", "8.8.4.0/24"]), try EgressRule(host: "1.2.3.4"),
            ])
        for (host, port, address) in [
            ("a.evil.example", 80, "8.8.8.8"), ("x", 25, "8.8.8.8"), ("x", 80, "10.9.1.1"), ("x", 80, "8.8.4.4"),
            ("x", 80, "::ffff:8.8.4.4"), ("x", 80, "64:ff9b::8.8.4.4"), ("16909060", 80, "1.2.3.4"),
            ("1.2.3.4", 80, "1.2.3.4"), ("x", 80, "1.2.3.4"), ("x", 80, "::ffff:1.2.3.4"),
        ] {
            #expect(try reason(policy, host, port, at: address) == "a rule denies it", "\(host) \(address)")
        }
        #expect(try reason(policy, "evil.example", at: "8.8.8.8") == nil)
        #expect(try reason(policy, "x", at: "10.8.1.1") == nil)
    }

    @Test func unixSocketsAreRefusedUnlessListed() throws {
        let policy = EgressPolicy(allowing: [], unixSockets: ["/run/allowed"])
        #expect(try reason(policy, "x", .unixSocket(path: "/run/allowed")) == nil)
        #expect(try reason(policy, "x", .unixSocket(path: "/run/other")) != nil)
        #expect(try reason(EgressPolicy(), "x", .unixSocket(path: "/run/allowed")) != nil)
    }

    private func reason(_ policy: EgressPolicy, _ host: String, _ route: Route) throws -> String? {
        try reason(policy, host, 80, at: nil, route)
    }

    @Test func connectToIsRefusedUnlessAllowed() throws {
        let route = Route.connectTo(host: "10.0.0.5", port: 8443)
        let rules = [try EgressRule(host: "api.example"), try EgressRule(ports: [8443], networks: ["10.0.0.5"])]
        let policy = EgressPolicy(allowing: rules, allowsConnectTo: true)
        #expect(
            try reason(EgressPolicy(allowing: rules), "api.example", at: "10.0.0.5", route)?.contains("connectTo")
                == true)
        #expect(try reason(policy, "api.example", at: "10.0.0.5", route) == nil)
        #expect(try reason(policy, "api.example", at: "10.0.0.6", route) == "no rule allows it")
        // The rules also apply to the URL's host.
        let narrow = EgressPolicy(
            allowing: [try EgressRule(host: "10.0.0.5", ports: [8443], networks: ["10.0.0.5"])], allowsConnectTo: true)
        #expect(try reason(narrow, "other.example", at: "10.0.0.5", route) == "no rule allows other.example:80")
        let everywhere = EgressPolicy(allowsConnectTo: true)
        #expect(try reason(everywhere, "api.example", at: "10.0.0.5", route)?.contains("private") == true)
        #expect(try reason(everywhere, "api.example", at: "8.8.8.8", .connectTo(host: "b", port: 1)) == nil)
        let denying = EgressPolicy(denying: [try EgressRule(host: "api.example")], allowsConnectTo: true)
        #expect(try reason(denying, "api.example", at: "8.8.8.8", .connectTo(host: "b", port: 1)) != nil)
    }

    @Test func proxiesAreRefusedUnlessListed() throws {
        let proxy = try Proxy("http://proxy.internal:3128")
        func route(_ host: String, _ port: Int = 80) -> Route { .proxy(proxy, host: host, port: port) }
        let rules = try ["proxy.internal", "PROXY.internal."].map { try EgressRule(host: $0, ports: [3128]) }
        #expect(try reason(EgressPolicy(), "a.example", at: "8.8.8.8", route("a.example"))?.contains("proxy") == true)
        for rule in rules {
            let policy = EgressPolicy(proxies: [rule])
            // The proxy's own address doesn't matter.
            for address in ["10.0.0.1", "8.8.8.8", nil] {
                #expect(try reason(policy, "a.example", at: address, route("a.example")) == nil)
            }
            let other = Route.proxy(try Proxy("http://proxy.internal:3129"), host: "a.example", port: 80)
            #expect(try reason(policy, "a.example", at: "10.0.0.1", other) != nil)
        }
        let bound = EgressPolicy(proxies: [try EgressRule(host: "proxy.internal", networks: ["10.0.0.1"])])
        #expect(try reason(bound, "a.example", at: "10.0.0.1", route("a.example")) == nil)
        #expect(try reason(bound, "a.example", at: "10.0.0.2", route("a.example")) != nil)
        #expect(try reason(bound, "a.example", route("a.example")) != nil)
    }

    /// A proxy can accept addresses in other forms, and names for its own machine.
    @Test(arguments: [
        "127.0.0.1", "2130706433", "0x7f.1", "127.1", "0", "::1", "::ffff:127.0.0.1", "169.254.169.254", "localhost",
        "LOCALHOST.", "a.localhost", "10.0.0.1", "64:ff9b::10.0.0.1",
    ])
    func specialHostsBehindAProxyAreRefused(host: String) throws {
        let proxy = try Proxy("http://proxy.internal:3128")
        let policy = EgressPolicy(proxies: [try EgressRule(host: "proxy.internal")])
        #expect(try reason(policy, host, .proxy(proxy, host: host, port: 80)) != nil)
    }

    @Test func rulesForNamesApplyBehindAProxy() throws {
        let proxy = try Proxy("socks5h://proxy.internal:1080")
        let proxies = [try EgressRule(host: "proxy.internal")]
        func check(_ policy: EgressPolicy, _ host: String, _ port: Int = 443) throws -> String? {
            try reason(policy, host, port, .proxy(proxy, host: host, port: port))
        }
        let policy = EgressPolicy(
            allowing: [
                try EgressRule(host: "api.example", ports: [443]), try EgressRule(networks: ["10.0.0.0/8"]),
                try EgressRule(host: "db.example", networks: ["10.0.0.0/8"]),
            ], proxies: proxies)
        #expect(try check(policy, "api.example") == nil)
        #expect(try check(policy, "api.example", 80) == "no rule allows api.example:80")
        #expect(try check(policy, "other.example") == "no rule allows other.example:443")
        #expect(try check(policy, "db.example") == nil)
        #expect(try check(policy, "10.1.2.3") == nil)
        #expect(try check(policy, "11.1.2.3") == "no rule allows it")
        let denying = EgressPolicy(
            denying: [try EgressRule(host: "*.corp.example"), try EgressRule(networks: ["8.8.0.0/16"])],
            proxies: proxies)
        #expect(try check(denying, "a.corp.example") == "a rule denies a.corp.example:443")
        #expect(try check(denying, "8.8.4.4") == "a rule denies it")
        #expect(try check(denying, "8.9.4.4") == nil)
        // With connectTo, too.
        let rerouted = Route.proxy(proxy, host: "b.example", port: 81)
        #expect(try reason(EgressPolicy(proxies: proxies), "a.example", rerouted)?.contains("connectTo") == true)
        let open = EgressPolicy(proxies: proxies, allowsConnectTo: true)
        #expect(try reason(open, "a.example", rerouted) == nil)
        #expect(try reason(open, "a.example", .proxy(proxy, host: "10.0.0.1", port: 80)) != nil)
    }

    private func reason(_ policy: EgressPolicy, _ host: String, _ port: Int, _ route: Route) throws -> String? {
        try reason(policy, host, port, at: nil, route)
    }

    @Test func anUnknownAddressIsRefused() throws {
        #expect(try reason(EgressPolicy(), "a.example", .direct) == "the address is unknown")
    }

    @Test(arguments: [
        (["10.0.0/8"], "10.0.0/8"), (["10.0.0.0/33"], "/33"), (["10.0.0.0/-1"], "/-1"), (["10.0.0.0/8/8"], "/8/8"),
        (["010.0.0.1"], "010"), (["2130706433"], "2130706433"), (["fe80::1%lo"], "%lo"), (["::/129"], "/129"),
        (["localhost"], "localhost"), ([""], "\"\""), (["10.0.0.0/"], "10.0.0.0/"), ([], "empty"),
        (["::ffff:10.0.0.0/90"], "/90"), (["10.0.0.0\u{0}/8"], "not a network"),
    ])
    func invalidNetworksAreNamed(networks: [String], word: String) {
        let error = #expect(throws: InvalidEgressRule.self) { try EgressRule(networks: networks) }
        #expect(error?.description.contains(word) == true, "\(String(describing: error))")
    }

    @Test func otherInvalidRulesAreNamed() {
        for host in [
            "", "*.", "a b", "http://a", "a/b", "a:80", "*a", "a.*.b", "grün.example", ".example", "[::1", ".",
        ] {
            let error = #expect(throws: InvalidEgressRule.self) { try EgressRule(host: host) }
            #expect(error?.description.contains("\"\(host)\"") == true, "\(String(describing: error))")
        }
        for ports in [[], [0], [65_536], [-1]] {
            let error = #expect(throws: InvalidEgressRule.self) { try EgressRule(ports: ports) }
            #expect(error?.errorDescription?.contains("port") == true)
        }
    }

    @Test func reportsDoNotDelayConnections() throws {
        let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let refusals = Mutex<[EgressRefusal]>([])
        let policy = EgressPolicy(mode: .report) { refusal in
            refusals.withLock { $0.append(refusal) }
            begun.signal()
            gate.wait()
        }
        #expect(try reason(policy, "a.example", at: "127.0.0.1") == nil)
        begun.wait()
        // The closure blocks, and 1,000 calls can wait, including this one.
        for _ in 0..<5_000 { #expect(try reason(policy, "b.example", at: "127.0.0.1") == nil) }
        for _ in 0..<1_001 { gate.signal() }
        for _ in 0..<999 { begun.wait() }
        // An allowed connection isn't reported.
        #expect(try reason(policy, "c.example", at: "8.8.8.8") == nil)
        #expect(try reason(policy, "d.example", at: "127.0.0.1") == nil)
        begun.wait()
        let hosts = refusals.withLock { $0.map(\.connection.host) }
        #expect(hosts == ["a.example"] + Array(repeating: "b.example", count: 999) + ["d.example"])
        let first = try #require(refusals.withLock { $0.first })
        #expect(first.reason == "127.0.0.1 is a loopback address (127.0.0.0/8, RFC 1122)")
        #expect(first.description == "a.example (127.0.0.1:80): \(first.reason)")
    }

    @Test func refusalsAreReported() async throws {
        let (reports, continuation) = AsyncStream.makeStream(of: EgressRefusal.self)
        let policy = EgressPolicy { continuation.yield($0) }
        #expect(try reason(policy, "a.example", at: "127.0.0.1") != nil)
        var iterator = reports.makeAsyncIterator()
        #expect(await iterator.next()?.connection.host == "a.example")
    }
}
