import AfarCore
import AfarTestServer
import Foundation
import TestServers
import Testing

@testable import AfarCurl

extension TransportTests {
    @Suite struct ShimTests {
        /// Runs each test in a separate process, in which system functions fail or are slow.
        @Test(
            .enabled(if: Shim.compiler != nil, "no C compiler is installed"),
            .enabled(if: !Shim.isLoaded, "this process has already loaded the shim"),
            arguments: [
                "theNumberOfConcurrentLookupsIsConfigurable", "aReusedConnectionRequiresNoLookup",
                "cancelledLookupsAreLimited", "lookupsThatTimedOutAreLimited",
                "failedLookupsAreDetectedImmediately", "aLateSecondLookupDoesNotAffectTheLoop",
                "aWaitingRequestContinuesWhenTheHostIsResolved", "withoutDescriptorsRequestsFailUntilThereAreSome",
                "withoutDescriptorsAConnectionFails", "withoutThreadsRequestsFailUntilThereAreSome",
            ])
        func inASeparateProcess(_ test: String) async throws {
            let (output, isGood) = try await Shim.run(test: "ShimmedTests.*\(test)")
            #expect(isGood && output.contains("Test run with 1 test "), "\(output)")
        }
    }
}

/// The tests that ``TransportTests/ShimTests`` runs. Each process tests one transport.
@Suite(
    OverEachTransport(), .serialized, .enabled(if: Shim.isLoaded, "requires the shim"), .timeLimit(.minutes(1)))
struct ShimmedTests {
    /// The transport has one thread, because the limit on lookups is divided among the threads.
    private let transport = makeTransport { $0.maximumThreads = 1 }
    private let limit = CurlTransport.Configuration().maximumLookups

    private func url(_ host: String, _ server: TestServer) throws -> URL {
        let port = try #require(server.url.port)
        return try #require(URL(string: "http://\(host).test:\(port)/get"))
    }

    /// Waits until the given number of lookups have started, or until the time is up, and returns their number.
    private func lookups(_ count: Int, within seconds: Double = 10) async throws -> Int {
        for _ in 0..<Int(seconds * 200) where Shim.lookupCount < count { try await Task.sleep(for: .milliseconds(5)) }
        return Shim.lookupCount
    }

    @Test func theNumberOfConcurrentLookupsIsConfigurable() async throws {
        try await withServer { server in
            let transport = makeTransport {
                $0.maximumThreads = 1
                $0.maximumLookups = 2
            }
            Shim.setDelay(milliseconds: 60_000)
            let tasks = try (0..<20).map { Exchange(try url("slow\($0)", server)) }.map { exchange in
                Task.immediate { try await transport.send(exchange) }
            }
            #expect(try await lookups(2) == 2)
            try await transport.catchUp()
            Shim.setDelay(milliseconds: 0)
            for task in tasks { #expect(try await task.value.head.status == 200) }
            #expect(Shim.lookupCount == 20)
            #expect(Shim.mostConcurrentLookups == 2)
        }
    }

    @Test func aReusedConnectionRequiresNoLookup() async throws {
        try await withServer { server in
            let fast = Exchange(try url("fast", server)).with { $0.totalTimeout = 10 }
            _ = try await transport.send(fast)
            Shim.setDelay(milliseconds: 60_000)
            let waiting = try (0..<20).map { Exchange(try url("slow\($0)", server)) }.map { exchange in
                Task { try await transport.send(exchange) }
            }
            #expect(try await lookups(1 + limit) == 1 + limit)
            let response = try await transport.send(fast)
            #expect(response.report.transactions.first?.isReusedConnection == true)
            // A new host waits for a lookup but doesn't block known hosts.
            let another = try await transportError {
                try await transport.send(Exchange(try url("another", server)).with { $0.totalTimeout = 0.1 })
            }
            #expect(another.phase == .resolving)
            Shim.setDelay(milliseconds: 0)
            for task in waiting { #expect(try await task.value.head.status == 200) }
            #expect(Shim.lookupCount == 21)
        }
    }

    @Test func cancelledLookupsAreLimited() async throws {
        try await withServer { server in
            Shim.setDelay(milliseconds: 60_000)
            for round in 0..<8 {
                let tasks = try (0..<limit).map { Exchange(try url("slow\(round)-\($0)", server)) }.map { exchange in
                    Task { try await transport.send(exchange) }
                }
                _ = try await lookups((round + 1) * limit, within: 0.5)
                for task in tasks { task.cancel() }
                for task in tasks {
                    await #expect(throws: TransportError.self) { try await task.value }
                }
            }
            #expect((3 * limit...4 * limit).contains(Shim.lookupCount))
            Shim.setDelay(milliseconds: 0)
            #expect(try await transport.send(Exchange(try url("fast", server))).head.status == 200)
        }
    }

    @Test func lookupsThatTimedOutAreLimited() async throws {
        try await withServer { server in
            Shim.setDelay(milliseconds: 60_000)
            for round in 0..<8 {
                try await withThrowingTaskGroup { group in
                    for number in 0..<limit {
                        let exchange = Exchange(try url("slow\(round)-\(number)", server)).with {
                            $0.connectTimeout = 0.3
                        }
                        group.addTask {
                            let error = try await transportError { try await transport.send(exchange) }
                            #expect(error.code == .timedOut)
                            #expect(error.phase == .resolving)
                            #expect(error.message.contains("connect timeout"), "\(error)")
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect((3 * limit...4 * limit).contains(Shim.lookupCount))
            Shim.setDelay(milliseconds: 0)
            #expect(try await transport.send(Exchange(try url("fast", server))).head.status == 200)
        }
    }

    /// libcurl polls for lookup results only occasionally, so the transport's thread must receive the kernel's event
    /// about each result.
    @Test func failedLookupsAreDetectedImmediately() async throws {
        Shim.setDelay(milliseconds: 100)
        var times: [Double] = []
        for number in 0..<10 {
            let url = try #require(URL(string: "http://slow-missing\(number).test/"))
            times.append(
                try await seconds {
                    let error = try await transportError { try await transport.send(Exchange(url)) }
                    #expect(error.code == .cannotFindHost)
                })
        }
        // Individual measurements can be late on a busy machine.
        #expect(times.sorted()[times.count / 2] < 0.2, "\(times)")
    }

    /// A transfer can use the address from another transfer's lookup. When its own lookup completes, no transfer waits
    /// for that lookup.
    @Test(.onlyOverCurl("requests of HTTPTransport share the lookup"))
    func aLateSecondLookupDoesNotAffectTheLoop() async throws {
        try await withServer { server in
            Shim.setDelay(milliseconds: 300)
            let port = try #require(server.url.port)
            let url = try #require(URL(string: "http://later.test:\(port)/drip?seconds=3&bytes=30"))
            try await withThrowingTaskGroup { group in
                for _ in 0..<3 { group.addTask { _ = try await transport.send(Exchange(url)) } }
                group.addTask {
                    try await Task.sleep(for: .seconds(1))
                    let start = Self.processorSeconds
                    try await Task.sleep(for: .seconds(1))
                    // A busy loop would use an entire core.
                    #expect(Self.processorSeconds - start < 0.3)
                }
                try await group.waitForAll()
            }
            #expect(Shim.lookupCount > 1)
        }
    }

    private static var processorSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test func aWaitingRequestContinuesWhenTheHostIsResolved() async throws {
        try await withServer { server in
            let transport = makeTransport {
                $0.maximumThreads = 1
                $0.maximumLookups = 1
            }
            Shim.setDelay(milliseconds: 200)
            let first = Task { [first = try url("slow", server)] in try await transport.send(Exchange(first)) }
            #expect(try await lookups(1) == 1)
            // The requests wait in this order. The third one needs no lookup of its own.
            let second = Task { [other = try url("slow-other", server)] in try await transport.send(Exchange(other)) }
            let third = Task { [same = try url("slow", server)] in try await transport.send(Exchange(same)) }
            #expect(try await first.value.head.status == 200)
            Shim.setDelay(milliseconds: 60_000)
            #expect(try await third.value.head.status == 200)
            #expect(try await lookups(2) == 2)
            Shim.setDelay(milliseconds: 0)
            #expect(try await second.value.head.status == 200)
        }
    }

    /// Runs `body` while all descriptors are in use.
    private func withoutDescriptors(_ body: () async throws -> Void) async throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = 256
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        var taken: [Int32] = []
        while true {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            if descriptor < 0 { break }
            taken.append(descriptor)
        }
        defer { for descriptor in taken { close(descriptor) } }
        try await body()
    }

    @Test func withoutDescriptorsRequestsFailUntilThereAreSome() async throws {
        try await withServer { server in
            try await withoutDescriptors {
                let error = try await transportError { try await transport.send(Exchange(server.url("/get"))) }
                #expect(error.code == .outOfResources)
                #expect(error.phase == .queued)
            }
            #expect(try await transport.send(Exchange(server.url("/get"))).head.status == 200)
        }
    }

    @Test(.onlyOverCurl("HTTPTransport closes an idle connection and uses its descriptor"))
    func withoutDescriptorsAConnectionFails() async throws {
        try await withServer { server in
            try await withServer { other in
                _ = try await transport.send(Exchange(other.url("/get")))
                try await withoutDescriptors {
                    let error = try await transportError { try await transport.send(Exchange(server.url("/get"))) }
                    #expect(error.code == .outOfResources)
                    #expect(error.phase == .connecting)
                    #expect(error.systemError == EMFILE)
                    let named = try await transportError { try await transport.send(Exchange(try url("fast", server))) }
                    #expect(named.code == .outOfResources, "\(named)")
                }
                #expect(try await transport.send(Exchange(server.url("/get"))).head.status == 200)
                #expect(try await transport.send(Exchange(try url("fast", server))).head.status == 200)
            }
        }
    }

    @Test func withoutThreadsRequestsFailUntilThereAreSome() async throws {
        try await withServer { server in
            let exchange = Exchange(server.url("/get"))
            let outcome = Shim.withoutThreads { Result { try transport.prepare(Hop(exchange)) } }
            let error = try await transportError { try outcome.get() }
            #expect(error.code == .outOfResources)
            #expect((error.underlying as? POSIXError)?.code == .EAGAIN)
            #expect(try await transport.send(exchange).head.status == 200)
        }
    }
}
