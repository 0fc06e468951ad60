import Foundation
import Testing

@testable import ReachabilityProbe

/// A monitor uses no processor time while the network doesn't change, and no resources without consumers.
@Suite(.enabled(if: Namespace.unavailabilityReason == nil, "network namespaces aren't available"))
struct ThreadTests {
    @Test func theThreadSleepsWhileNothingChanges() async throws {
        let namespace = try Namespace()
        try await namespace.addOnlineLink("v0", network: 1)
        _ = try await namespace.watch()
        try await namespace.run("ip route delete default")
        #expect(try await namespace.report().isOnline == false)
        // The thread can still be awake. Other threads aren't counted: Swift's task threads wake up once a second on
        // Linux.
        var before = try await namespace.switches()
        var isAsleep = false
        for _ in 1...5 where !isAsleep {
            try await Task.sleep(for: .seconds(1))
            let after = try await namespace.switches()
            isAsleep = after == before
            before = after
        }
        #expect(isAsleep)
    }

    @Test(.timeLimit(.minutes(1)))
    func threadAndSocketsLiveUntilTheLastConsumerEnds() async throws {
        let namespace = try Namespace()
        try await namespace.startProbe()
        try await namespace.send("current")
        _ = try await namespace.report()
        #expect(try await namespace.watchThreads() == 0)
        #expect(try await namespace.sockets() == 0)
        var descriptors: Set<Int> = []
        for _ in 1...3 {
            try await namespace.send("watch")
            _ = try await namespace.report()
            try await namespace.send("watch")
            _ = try await namespace.report()
            // A thread sets its name after it has started.
            while try await namespace.watchThreads() != 1 {}
            #expect(try await namespace.sockets() == 1)

            try await namespace.send("unwatch")
            try await namespace.addLink("v0")
            _ = try await namespace.reports { $0.status == "unsatisfied: the network interface has no address" }
            #expect(try await namespace.watchThreads() == 1)

            try await namespace.send("unwatch")
            while try await namespace.watchThreads() + namespace.sockets() > 0 {}
            descriptors.insert(try await namespace.descriptors())
            try await namespace.run("ip link delete v0")
        }
        #expect(descriptors.count == 1)
        #expect(namespace.pendingReports().isEmpty)
    }

    /// No descriptor is available for a socket. This is a temporary error, so the monitor tries again.
    @Test func withoutDescriptorsTheStatusIsUnknownUntilSomeAreFree() async throws {
        let namespace = try Namespace()
        try await namespace.addOnlineLink("v0", network: 1)
        #expect(try await namespace.watch().status == "satisfied")
        try await namespace.send("unwatch")
        while try await namespace.sockets() > 0 {}
        try await namespace.send("descriptors 3")
        try await namespace.send("watch")
        let refused = try await namespace.report()
        #expect(refused.status == "unknown: the network state can't be read (Too many open files)")
        #expect(refused.isOnline)
        try await namespace.send("descriptors 100")
        #expect(try await namespace.report().status == "satisfied")
    }

    /// A seccomp filter or sandbox rejects `socket`. This is a permanent error, so the monitor doesn't wait.
    @Test(.enabled(if: Self.canInject, "strace can't inject errors"))
    func withForbiddenSocketsTheStatusIsUnknown() async throws {
        let namespace = try Namespace()
        try await namespace.startProbe(
            under: "strace -fqq -o /dev/null -e trace=socket -e inject=socket:error=EAFNOSUPPORT")
        try await namespace.send("watch")
        let refused = try await namespace.report()
        #expect(
            refused.status
                == "unknown: the network state can't be read (Address family not supported by protocol)")
        #expect(refused.isOnline)
        try await namespace.send("current")
        #expect(try await namespace.report().status == refused.status)
    }

    private static let canInject: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["strace", "-fqq", "-o", "/dev/null", "-e", "inject=socket:error=EPERM", "true"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()
}

extension Namespace {
    /// Returns the number of times that the monitor's thread has been switched out, voluntarily or not.
    fileprivate func switches() async throws -> [String] {
        try await run("grep ctxt_switches $(grep -lx afar-network /proc/$probe/task/*/comm | sed s/comm/status/)")
    }

    /// Returns the number of monitor threads.
    fileprivate func watchThreads() async throws -> Int {
        try await run("grep -hx afar-network /proc/$probe/task/*/comm || true").count
    }

    /// Returns the number of netlink sockets in the namespace. Only the probe opens them.
    fileprivate func sockets() async throws -> Int {
        try await run("awk 'NR > 1 && $3 != 0' /proc/$probe/net/netlink").count
    }

    /// Returns the number of the probe's open descriptors.
    fileprivate func descriptors() async throws -> Int {
        try await run("ls /proc/$probe/fd").count
    }
}
