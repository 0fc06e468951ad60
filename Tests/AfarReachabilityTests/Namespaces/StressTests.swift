import Testing

@testable import ReachabilityProbe

/// Much at once: the state at the end is right, and what is told on the way makes sense.
@Suite(.enabled(if: Namespace.refusal == nil, "network namespaces are refused here"))
struct StressTests {
    /// The socket has room for a few messages only, so that most are lost.
    @Test(.timeLimit(.minutes(2)))
    func aFloodOfTenThousandChangesEndsInTheRightState() async throws {
        let namespace = try Namespace()
        try await namespace.addOnlineLink("v0", network: 1)
        #expect(try await namespace.watch("--receive-buffer 1").status == "satisfied")
        // The last change of all takes the default route away.
        try await namespace.run(
            """
            for i in $(seq 5000); do echo "address add 10.0.0.1/32 dev v0"; echo "address delete 10.0.0.1/32 dev v0"; done \
            > /tmp/flood.$$; echo "route delete default" >> /tmp/flood.$$
            ip -batch /tmp/flood.$$
            rm /tmp/flood.$$
            """)
        let reports = try await namespace.reports { !$0.isOnline }
        #expect(reports.last?.status == "unsatisfied: no route leads there")
        #expect(reports.dropLast().allSatisfy { $0.status == "satisfied" })
        // Told at most every 100 milliseconds, and never the same twice. A report may be printed late and the next one on time.
        if let first = reports.first, let last = reports.last {
            #expect(Double(last.time - first.time) >= Double(reports.count - 3) * 100_000_000)
        }
        for (earlier, later) in zip(reports, reports.dropFirst()) {
            #expect(later.addresses != earlier.addresses || later.status != earlier.status)
        }
        try await namespace.run("ip route add default via 192.0.1.1")
        #expect(try await namespace.report().status == "satisfied")
    }

    @Test func everyLastingChangeIsToldOnceAndInOrder() async throws {
        let namespace = try Namespace()
        try await namespace.addOnlineLink("v0", network: 1)
        #expect(try await namespace.watch("--debounce 20").status == "satisfied")
        for _ in 1...10 {
            try await namespace.run("ip route delete default")
            #expect(try await namespace.report().status == "unsatisfied: no route leads there")
            try await namespace.run("ip route add default via 192.0.1.1")
            #expect(try await namespace.report().status == "satisfied")
        }
        #expect(namespace.pendingReports().isEmpty)
    }

    @Test func whatIsUndoneAtOnceIsNotTold() async throws {
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

    /// Interfaces come and go while the tables are read, which the kernel calls interrupted.
    @Test(.timeLimit(.minutes(1)))
    func linksDeletedInTheMiddleOfReadingDoNoHarm() async throws {
        let namespace = try Namespace()
        try await namespace.addOnlineLink("v0", network: 1)
        #expect(try await namespace.watch("--debounce 0").status == "satisfied")
        // Enough interfaces for several datagrams, so that a change falls between two of them.
        try await namespace.run(
            """
            for i in $(seq 100); do echo "link add x$i type veth peer name y$i"; done | ip -batch -
            for i in $(seq 100); do echo "link delete x$i"; done | ip -batch -
            ip link delete v0
            """)
        let last = "unsatisfied: no network interface is switched on"
        #expect(try await namespace.reports { $0.status == last }.dropLast().allSatisfy { $0.interfaces.count < 2 })
        #expect(try await namespace.run("kill -0 $probe && echo alive") == ["alive"])
    }

    /// From just before `ip` is told to change the network, to the report.
    @Test(arguments: [0, 100])
    func aChangeIsToldSoon(debounce: Int) async throws {
        let namespace = try Namespace()
        try await namespace.addOnlineLink("v0", network: 1)
        _ = try await namespace.watch("--debounce \(debounce)")
        // One that runs already, so that its start is not measured.
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
        print("A change is told after \(figures[0]) / \(figures[1]) / \(figures[2]) ms (debounce \(debounce) ms)")
        #expect(delays[0] >= Double(debounce))
        #expect(delays[10] < Double(debounce) + 1000)
    }
}
