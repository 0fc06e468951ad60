import Testing

@testable import ReachabilityProbe

/// Many simultaneous changes. The final state is correct, and the reports in between are plausible.
@Suite(.enabled(if: Namespace.unavailabilityReason == nil, "network namespaces aren't available"))
struct StressTests {
    /// The socket's buffer holds only a few messages, so most are lost.
    @Test(.timeLimit(.minutes(2)))
    func aFloodOfTenThousandChangesEndsInTheRightState() async throws {
        let namespace = try Namespace()
        try await namespace.addOnlineLink("v0", network: 1)
        #expect(try await namespace.watch("--receive-buffer 1").status == "satisfied")
        try await namespace.run(
            """
            for i in $(seq 5000); do echo "address add 10.0.0.1/32 dev v0"; echo "address delete 10.0.0.1/32 dev v0"; done \
            > /tmp/flood.$$; echo "route delete default" >> /tmp/flood.$$
            ip -batch /tmp/flood.$$
            rm /tmp/flood.$$
            """)
        let reports = try await namespace.reports { !$0.isOnline }
        #expect(reports.last?.status == "unsatisfied: no route to the target")
        #expect(reports.dropLast().allSatisfy { $0.status == "satisfied" })
        // Reports are at least 100 milliseconds apart. One can be printed late and the next one on time.
        if let first = reports.first, let last = reports.last {
            #expect(Double(last.time - first.time) >= Double(reports.count - 3) * 100_000_000)
        }
        for (earlier, later) in zip(reports, reports.dropFirst()) {
            #expect(later.addresses != earlier.addresses || later.status != earlier.status)
        }
        try await namespace.run("ip route add default via 192.0.1.1")
        #expect(try await namespace.report().status == "satisfied")
    }

    @Test func everyLastingChangeIsReportedOnceInOrder() async throws {
        let namespace = try Namespace()
        try await namespace.addOnlineLink("v0", network: 1)
        #expect(try await namespace.watch("--debounce 20").status == "satisfied")
        for _ in 1...10 {
            try await namespace.run("ip route delete default")
            #expect(try await namespace.report().status == "unsatisfied: no route to the target")
            try await namespace.run("ip route add default via 192.0.1.1")
            #expect(try await namespace.report().status == "satisfied")
        }
        #expect(namespace.pendingReports().isEmpty)
    }

    @Test func changesUndoneImmediatelyAreNotReported() async throws {
        let namespace = try Namespace()
        try await namespace.addOnlineLink("v0", network: 1)
        #expect(try await namespace.watch("--debounce 1000").status == "satisfied")
        try await namespace.run(
            """
            printf 'route delete default\\nroute add default via 192.0.1.1 metric 10\\n' | ip -batch -
            ip route add default via 192.0.1.9 metric 20
            """)
        let report = try await namespace.report()
        #expect(report.status == "satisfied")
        #expect(report.gateways == ["192.0.1.1", "192.0.1.9"])
    }

    /// Interfaces appear and disappear while the tables are read, so the kernel reports interrupted dumps.
    @Test(.timeLimit(.minutes(1)))
    func linksDeletedDuringReadingAreHandled() async throws {
        let namespace = try Namespace()
        try await namespace.addOnlineLink("v0", network: 1)
        #expect(try await namespace.watch("--debounce 0").status == "satisfied")
        // The answer consists of several datagrams, so a change can occur between two of them.
        try await namespace.run(
            """
            for i in $(seq 100); do echo "link add x$i type veth peer name y$i"; done | ip -batch -
            for i in $(seq 100); do echo "link delete x$i"; done | ip -batch -
            ip link delete v0
            """)
        let last = "unsatisfied: no network interface is up"
        #expect(try await namespace.reports { $0.status == last }.dropLast().allSatisfy { $0.interfaces.count < 2 })
        #expect(try await namespace.run("kill -0 $probe && echo alive") == ["alive"])
    }

    /// Measures the time from just before `ip` receives the command until the report.
    @Test(arguments: [0, 100])
    func aChangeIsReportedQuickly(debounce: Int) async throws {
        let namespace = try Namespace()
        try await namespace.addOnlineLink("v0", network: 1)
        _ = try await namespace.watch("--debounce \(debounce)")
        // Starts `ip` now, so that its startup isn't measured.
        try await namespace.run(
            """
            changes=$(mktemp -u)
            mkfifo "$changes"
            ip -batch - < "$changes" &
            exec 5> "$changes"
            rm "$changes"
            """)
        var delays: [Double] = []
        for number in 0..<20 {
            let change = number.isMultiple(of: 2) ? "delete default" : "add default via 192.0.1.1"
            let start = ProbeReport.now
            try await namespace.run("echo 'route \(change)' >&5")
            let report = try await namespace.report()
            #expect(report.isOnline == !number.isMultiple(of: 2))
            delays.append(Double(report.time - start) / 1e6)
        }
        delays.sort()
        let figures = [delays[0], delays[10], delays[19]].map { String(Int(($0 * 10).rounded()) / 10) }
        print("A change is reported after \(figures[0]) / \(figures[1]) / \(figures[2]) ms (debounce \(debounce) ms)")
        #expect(delays[0] >= Double(debounce))
        #expect(delays[10] < Double(debounce) + 1000)
    }
}
