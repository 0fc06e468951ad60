import Foundation
import Testing

/// Tests for `afar reach`, which prints the state of the network.
struct ReachTests {
    /// Whether the kernel allows tests to create network namespaces.
    private static func hasNamespaces() async throws -> Bool {
        try await Tool.sh("unshare -rn ip link > /dev/null 2>&1").status == 0
    }

    @Test func localhostIsReachable() async throws {
        let outcome = try await Tool.run("reach", "localhost")
        #expect(outcome.status == 0)
        #expect(outcome.text.hasPrefix("satisfied\n  lo  loopback  127.0.0.1/8"))
        #expect(outcome.errors == "")
    }

    @Test func jsonIsPrintedForPrograms() async throws {
        let facts = try await Tool.run("reach", "::1", "--json").json()
        #expect(facts["status"] as? String == "satisfied")
        #expect(facts["target"] as? String == "::1")
        #expect(facts["reason"] == nil)
        let interfaces = try #require(facts["interfaces"] as? [NSDictionary])
        #expect(interfaces.map { $0["kind"] as? String } == ["loopback"])
        let time = try #require(facts["time"] as? String)
        let date = try Date(time, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        #expect(abs(date.timeIntervalSinceNow) < 3600)
    }

    @Test(arguments: [
        ("a b", "neither a host name nor an address. Write it like example.com"),
        ("https://example.com/x", "Perhaps you meant: afar reach example.com"),
        ("", "neither a host name nor an address"), ("[::1", "neither a host name"),
        (String(repeating: "x", count: 254), "neither a host name"),
    ])
    func anInvalidHostIsRejected(host: String, words: String) async throws {
        let outcome = try await Tool.run("reach", host)
        #expect(outcome.status == 2)
        #expect(outcome.text == "")
        #expect(outcome.errors.contains(words))
        #expect(outcome.errors.filter(\.isNewline).count == 1)
    }

    @Test(.enabled("network namespaces aren't available", hasNamespaces))
    func theExitCodeReportsAMissingNetwork() async throws {
        let outcome = try await Tool.bash(#"unshare -rn "$afar" reach"#)
        #expect(outcome.status == 3)
        #expect(outcome.text == "unsatisfied: no network interface is up\n")
        #expect(outcome.errors == "")
    }

    @Test(.enabled("network namespaces aren't available", hasNamespaces))
    func changesArePrintedAsTheyOccur() async throws {
        let outcome = try await Tool.bash(
            #"""
            unshare -rn bash -c '
                exec 3< <(exec "$afar" reach --watch --json)
                watcher=$!
                next() { read -r -t 20 line <&3 && echo "$line"; }
                next
                ip link add uplink type veth peer name far
                ip address add 192.0.2.5/24 dev uplink
                ip link set far up
                ip link set uplink up
                ip route add default via 192.0.2.1 metric 7
                for i in 1 2 3 4 5 6 7; do next | grep "\"status\":\"satisfied\"" && break; done
                ip link delete uplink
                next
                kill $watcher'
            """#)
        let lines = try outcome.text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary)
        }
        #expect(lines.map { $0["status"] as? String } == ["unsatisfied", "satisfied", "unsatisfied"])
        let there = try #require(lines.dropFirst().first)
        #expect(there["gateways"] as? [String] == ["192.0.2.1"])
        #expect((there["interfaces"] as? [NSDictionary])?.map { $0["name"] as? String } == ["uplink"])
        let routes = try #require(there["routes"] as? [NSDictionary])
        #expect(routes.map { $0["metric"] as? Int } == [7])
    }
}
