import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarCurl

extension TransportTests {
    @Suite struct ConnectionTests {
        private let transport = makeTransport()

        private static func ok(_ body: String) -> String {
            "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }

        @Test func connectionsAreReused() async throws {
            try await withServer { server in
                var reused: [Bool?] = []
                for _ in 0..<5 {
                    let response = try await transport.send(Exchange(server.url("/get")))
                    reused.append(response.report.transactions.first?.isReusedConnection)
                }
                #expect(reused == [false, true, true, true, true])
                #expect(server.connectionCount == 1)
            }
        }

        @Test func aCloseRequestOfTheServerIsHonored() async throws {
            let answer = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
            try await withRawServer([.loop([.respond(answer)])]) { server in
                for _ in 0..<2 {
                    let text = try await transport.text(of: Exchange(server.url))
                    #expect(text == "ok")
                }
                #expect(server.connectionCount == 2)
            }
        }

        @Test func aConnectionClosedByTheServerIsReplaced() async throws {
            let closing: [RawServer.Step] = [.respond(Self.ok("one")), .halfClose, .mark("closed")]
            try await withRawServer(closing, [.respond(Self.ok("two"))]) { server in
                let text = try await transport.text(of: Exchange(server.url))
                #expect(text == "one")
                // A request that is sent before the server closes the connection would fail.
                try await server.reached("closed")
                let exchange = Exchange(server.url, .post, body: .data(Data("x".utf8)))
                #expect(try await transport.text(of: exchange) == "two")
            }
        }

        @Test func anUnreadBodyIsNotUsedAsTheNextResponse() async throws {
            try await withRawServer(
                [.respond(Self.ok("good") + Self.ok("evil"))], [.respond(Self.ok("fresh"))]
            ) { server in
                #expect(try await transport.text(of: Exchange(server.url)) == "good")
                try await server.peerClosed(0)
                #expect(try await transport.text(of: Exchange(server.url)) == "fresh")
            }
        }

        /// Unsolicited bytes on an idle connection aren't used as the response to the next request.
        @Test(arguments: ["GET", "POST"])
        func anUnsolicitedResponseIsIgnored(_ method: String) async throws {
            let gate = RawServer.Gate()
            try await withRawServer(
                [.respond(Self.ok("good")), .hold(gate), .send(Self.ok("evil")), .mark("sent")],
                [.loop([.respond(Self.ok("fresh"))])]
            ) { server in
                #expect(try await transport.text(of: Exchange(server.url)) == "good")
                gate.open()
                try await server.reached("sent")
                let body: RequestBody = method == "GET" ? .none : ChunkSource.body([Data("ab".utf8)])
                let exchange = Exchange(server.url, try #require(HTTPRequest.Method(method)), body: body)
                let response = try await transport.send(exchange)
                #expect(try response.text == "fresh")
                #expect(response.report.transactions.first?.isReusedConnection == false)
                #expect(server.requests.filter { $0.hasPrefix(method) }.count == (method == "GET" ? 2 : 1))
                try await server.peerClosed(0)
            }
        }

        /// Blocks the transport's thread while `body` runs. Afterward, the thread processes all events that occurred
        /// meanwhile in one iteration of its loop.
        private func whileBusy(_ transport: any TestableTransport, _ body: () async throws -> Void) async throws {
            let isBusy = Deferred<Void>()
            let mayGoOn = Locked(false)
            let task = Task(executorPreference: try transport.taskExecutor) {
                isBusy.fulfill(())
                while !mayGoOn.withLock({ $0 }) { sched_yield() }
            }
            await isBusy.value
            defer { mayGoOn.withLock { $0 = true } }
            try await body()
            mayGoOn.withLock { $0 = true }
            await task.value
        }

        /// libcurl assigns a connection to the next request before it reports that the previous request is complete.
        @Test(arguments: ["GET", "POST"])
        func anUnsolicitedResponseInTheSameTurnIsIgnored(_ method: String) async throws {
            let gate = RawServer.Gate()
            let script: [RawServer.Step] = [
                .receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"), .mark("head"), .hold(gate),
                .send("good" + Self.ok("evil")), .mark("sent"),
            ]
            try await withRawServer(script, [.loop([.respond(Self.ok("fresh"))])]) { server in
                let head = Deferred<Void>()
                let first = Exchange(server.url, delivery: .stream())
                let good = Task {
                    let stream = try await transport.send(first).stream
                    head.fulfill(())
                    return try await collect(stream)
                }
                await head.value
                let method = try #require(HTTPRequest.Method(method))
                let body: RequestBody = method == .get ? .none : .data(Data("x".utf8))
                var next: Task<String, any Error>?
                try await whileBusy(transport) {
                    gate.open()
                    try await server.reached("sent")
                    next = Task.immediate { try await transport.text(of: Exchange(server.url, method, body: body)) }
                }
                #expect(try await good.value == Data("good".utf8))
                #expect(try await next?.value == "fresh")
            }
        }

        @Test func aReassignedConnectionIsInUseImmediately() async throws {
            let gate = RawServer.Gate()
            let hold = RawServer.Gate()
            let script: [RawServer.Step] = [
                .receiveHead, .mark("asked"), .hold(gate), .send(Self.ok("A")), .mark("answered"),
                .receiveHead, .mark("again"), .hold(hold), .send(Self.ok("B")),
            ]
            try await withRawServer(script) { server in
                let first = Task { try await transport.text(of: Exchange(server.url)) }
                try await server.reached("asked")
                var next: Task<String, any Error>?
                try await whileBusy(transport) {
                    gate.open()
                    try await server.reached("answered")
                    next = Task.immediate { try await transport.text(of: Exchange(server.url)) }
                }
                #expect(try await first.value == "A")
                try await server.reached("again")
                let statistics = try #require(await transport.connectionStatistics)
                #expect((statistics.inUse, statistics.idle) == (1, 0))
                hold.open()
                #expect(try await next?.value == "B")
            }
        }

        @Test func aConnectionClosedByTheServerIsRemoved() async throws {
            try await withRawServer([.respond(Self.ok("ok")), .close]) { server in
                _ = try await transport.send(Exchange(server.url))
                // A second later, libcurl closes the connection at the transport's request.
                while await transport.connectionStatistics?.open != 0 { try await Task.sleep(for: .milliseconds(10)) }
            }
        }

        // MARK: Limits

        @Test func aHostHasSixConnectionsAndOtherRequestsWait() async throws {
            let gate = RawServer.Gate()
            try await withRawServer([.receiveHead, .hold(gate), .send(Self.ok("")), .loop([.respond(Self.ok(""))])]) {
                server in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<20 {
                        let exchange = Exchange(server.url.appending(path: "\(number)"))
                        group.addTask { _ = try await transport.send(exchange) }
                    }
                    for connection in 0..<6 { try await server.head(0, connection: connection) }
                    #expect(server.connectionCount == 6)
                    #expect(server.requests.count == 6)
                    gate.open()
                    try await group.waitForAll()
                }
                #expect(server.connectionCount == 6)
                #expect(server.requests.count == 20)
            }
        }

        @Test func theLimitIsConfigurable() async throws {
            let transport = makeTransport { $0.maximumConnectionsPerHost = 2 }
            try await withServer { server in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<10 {
                        group.addTask { _ = try await transport.send(Exchange(server.url("/drip?seconds=0.02"))) }
                    }
                    try await group.waitForAll()
                }
                #expect(server.connectionCount == 2)
            }
        }

        @Test(arguments: [0, -1])
        func aLimitOfZeroIdleConnectionsKeepsNone(_ limit: Int) async throws {
            let transport = makeTransport { $0.maximumIdleConnections = limit }
            try await withRawServer([.loop([.respond(Self.ok("ok"))])]) { server in
                _ = try await transport.send(Exchange(server.url))
                try await server.peerClosed(0)
            }
        }

        @Test func theOldestIdleConnectionIsClosedForANewOne() async throws {
            let transport = Self.transport { $0.maximumIdleConnections = 1 }
            try await withRawServer([.loop([.respond(Self.ok("ok"))])]) { first in
                _ = try await transport.send(Exchange(first.url))
                try await withRawServer([.loop([.respond(Self.ok("ok"))])]) { second in
                    // libcurl compares connections' ages in milliseconds.
                    try await Task.sleep(for: .milliseconds(10))
                    _ = try await transport.send(Exchange(second.url))
                    try await first.peerClosed(0)
                }
            }
        }

        @Test func hundredsOfExchangesRunConcurrently() async throws {
            try await withServer { server in
                let sum = try await withThrowingTaskGroup(of: Int.self) { group in
                    for number in 0..<200 {
                        group.addTask {
                            let response = try await transport.send(Exchange(server.url("/large/\(number * 50)")))
                            #expect(try response.data == PatternBytes.bytes(number * 50))
                            return number
                        }
                    }
                    return try await group.reduce(0, +)
                }
                #expect(sum == 199 * 100)
                #expect(server.requestCount == 200)
                #expect(server.connectionCount <= 6)
            }
        }

        // MARK: Many connections

        private static func transport(
            _ change: (inout ConnectionConfiguration) -> Void
        ) -> any TestableTransport {
            makeTransport {
                $0.maximumThreads = 1
                change(&$0)
            }
        }

        private static let many = 500

        /// Makes the given number of requests. All are in flight before the first receives its response.
        private func gather(
            _ count: Int, on transport: any TestableTransport, at server: RawServer, _ gate: RawServer.Gate
        )
            async throws -> ConnectionStatistics?
        {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<count { group.addTask { _ = try await transport.send(Exchange(server.url)) } }
                for connection in 0..<count { try await server.head(0, connection: connection) }
                let statistics = await transport.connectionStatistics
                gate.open()
                try await group.waitForAll()
                return statistics
            }
        }

        @Test func manyConnectionsToAHostAreReused() async throws {
            let transport = Self.transport {
                $0.maximumConnectionsPerHost = Self.many
                $0.maximumIdleConnections = Self.many
            }
            let gate = RawServer.Gate()
            try await withRawServer([.receiveHead, .hold(gate), .send(Self.ok("")), .loop([.respond(Self.ok(""))])]) {
                server in
                let busy = try #require(try await gather(Self.many, on: transport, at: server, gate))
                #expect(busy.inUse == Self.many)
                #expect(busy.hosts.map(\.origin) == [server.url.absoluteString.dropLast().description])
                #expect(await transport.connectionStatistics?.idle == Self.many)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<Self.many { group.addTask { _ = try await transport.send(Exchange(server.url)) } }
                    try await group.waitForAll()
                }
                #expect(server.connectionCount == Self.many)
                transport.closeIdleConnections()
                #expect(await transport.connectionStatistics?.open == 0)
                for connection in 0..<Self.many { try await server.peerClosed(connection) }
            }
        }

        @Test func theLimitOfIdleConnectionsAppliesToAllPoolsTogether() async throws {
            let transport = Self.transport {
                $0.maximumConnectionsPerHost = Self.many
                $0.maximumIdleConnections = 100
            }
            let gate = RawServer.Gate()
            try await withRawServer([.receiveHead, .hold(gate), .send(Self.ok("")), .loop([.respond(Self.ok(""))])]) {
                server in
                _ = try await gather(Self.many, on: transport, at: server, gate)
                #expect(await transport.connectionStatistics?.idle == 100)
            }
        }

        @Test func waitingRequestsAreCounted() async throws {
            let transport = Self.transport { $0.maximumConnectionsPerHost = 2 }
            let gate = RawServer.Gate()
            try await withRawServer([.receiveHead, .hold(gate), .send(Self.ok("")), .loop([.respond(Self.ok(""))])]) {
                server in
                #expect(await transport.connectionStatistics?.open == 0)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<5 { group.addTask { _ = try await transport.send(Exchange(server.url)) } }
                    for connection in 0..<2 { try await server.head(0, connection: connection) }
                    // The queued requests may still be on their way to the transport.
                    try await waitWhile { await transport.connectionStatistics?.waiting != 3 }
                    #expect(await transport.connectionStatistics?.inUse == 2)
                    gate.open()
                    try await group.waitForAll()
                }
                let after = try #require(await transport.connectionStatistics)
                #expect((after.open, after.idle, after.waiting) == (2, 2, 0))
            }
        }

        @Test func hostsAreDistributedAcrossThreads() async throws {
            let transport = Self.transport { $0.maximumThreads = 4 }
            var servers: [RawServer] = []
            for _ in 0..<8 { servers.append(try await RawServer.start([.loop([.respond(Self.ok("ok"))])])) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for server in servers {
                    group.addTask {
                        for _ in 0..<3 { _ = try await transport.send(Exchange(server.url)) }
                    }
                }
                try await group.waitForAll()
            }
            #expect(servers.map(\.connectionCount) == Array(repeating: 1, count: 8))
            #expect(await transport.connectionStatistics?.hosts.map(\.idle) == Array(repeating: 1, count: 8))
            transport.closeIdleConnections()
            for server in servers {
                try await server.peerClosed(0)
                await server.stop()
            }
        }

        /// A host's name determines the thread of its connections. That thread also calls `decide` for the responses.
        @Test(arguments: [1, 4]) func theNumberOfThreadsIsConfigurable(_ count: Int) async throws {
            let transport = Self.transport { $0.maximumThreads = count }
            let threads = Locked<Set<pthread_t>>([])
            try await withServer { server in
                let port = try #require(server.url.port)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    // The probability that one of four threads has none of the hosts is 4e-8.
                    for number in 0..<64 {
                        var exchange = Exchange(try #require(URL(string: "http://host\(number).localhost:\(port)/get")))
                        exchange.decide = { _ in
                            _ = threads.withLock { $0.insert(pthread_self()) }
                            return .take()
                        }
                        group.addTask { [exchange] in _ = try await transport.send(exchange) }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(threads.withLock { $0.count } == count)
        }

        // MARK: Closing idle connections

        @Test func connectionsAreClosedAfterTheMaximumIdleTime() async throws {
            let transport = Self.transport { $0.maximumIdleTime = 1 }
            try await withRawServer([.loop([.respond(Self.ok("ok"))])]) { server in
                _ = try await transport.send(Exchange(server.url))
                #expect(await transport.connectionStatistics?.idle == 1)
                try await server.peerClosed(0)
                #expect(await transport.connectionStatistics?.open == 0)
                let response = try await transport.send(Exchange(server.url))
                #expect(response.report.transactions.first?.isReusedConnection == false)
            }
        }

        @Test(arguments: [0, -1, Int.min, Int.max])
        func limitsCanHaveAnyValue(_ limit: Int) async throws {
            let transport = Self.transport {
                $0.maximumConnectionsPerHost = limit
                $0.maximumIdleConnections = limit
                $0.maximumLookups = limit
                $0.maximumThreads = limit
            }
            try await withServer { server in
                for host in ["127.0.0.1", "localhost"] {
                    let text = server.url("/get").absoluteString.replacing("127.0.0.1", with: host)
                    let url = try #require(URL(string: text))
                    _ = try await transport.send(Exchange(url))
                }
            }
        }

        /// Using a connection resets its idle time.
        @Test func aConnectionInUseIsKept() async throws {
            let transport = Self.transport { $0.maximumIdleTime = 2 }
            try await withRawServer([.loop([.respond(Self.ok("ok"))])]) { server in
                for _ in 0..<6 {
                    _ = try await transport.send(Exchange(server.url))
                    try await Task.sleep(for: .milliseconds(500))
                }
                #expect(server.connectionCount == 1)
            }
        }

        @Test(arguments: [0, -1, .nan])
        func aMaximumIdleTimeOfZeroKeepsNoConnections(_ time: TimeInterval) async throws {
            let transport = Self.transport { $0.maximumIdleTime = time }
            try await withRawServer([.loop([.respond(Self.ok("ok"))])]) { server in
                _ = try await transport.send(Exchange(server.url))
                try await server.peerClosed(0)
            }
        }

        @Test func connectionsCanBeKeptIndefinitely() async throws {
            let transport = Self.transport { $0.maximumIdleTime = .infinity }
            try await withRawServer([.loop([.respond(Self.ok("ok"))])]) { server in
                for _ in 0..<2 { _ = try await transport.send(Exchange(server.url)) }
                #expect(server.connectionCount == 1)
            }
        }

        @Test func idleConnectionsAreClosed() async throws {
            try await withRawServer([.loop([.respond(Self.ok("ok"))])]) { server in
                _ = try await transport.send(Exchange(server.url))
                transport.closeIdleConnections()
                try await server.peerClosed(0)
                let response = try await transport.send(Exchange(server.url))
                #expect(response.report.transactions.first?.isReusedConnection == false)
                transport.closeIdleConnections()
                transport.closeIdleConnections()
                try await server.peerClosed(1)
            }
        }

        @Test func idleConnectionsAreClosedWhileOthersRun() async throws {
            let gate = RawServer.Gate()
            let slow: [RawServer.Step] = [
                .respond("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .hold(gate), .send("def"),
            ]
            try await withRawServer(slow, [.respond(Self.ok("idle"))], [.respond(Self.ok("new"))]) { server in
                let stream = try await transport.send(Exchange(server.url, delivery: .stream())).stream
                #expect(try await transport.text(of: Exchange(server.url)) == "idle")
                transport.closeIdleConnections()
                try await server.peerClosed(1)
                #expect(try await transport.text(of: Exchange(server.url)) == "new")
                gate.open()
                #expect(try await collect(stream) == Data("abcdef".utf8))
                try await server.peerClosed(0)
            }
        }

        @Test func aPausedExchangeKeepsItsConnection() async throws {
            try await withServer { server in
                let exchange = Exchange(server.url("/large/20000000"), delivery: .stream(highWaterMark: 1000))
                let stream = try await transport.send(exchange).stream
                transport.closeIdleConnections()
                _ = try await transport.send(Exchange(server.url("/get")))
                transport.closeIdleConnections()
                #expect(try await collect(stream) == PatternBytes.bytes(20_000_000))
            }
        }

        @Test func closingIdleConnectionsDoesNotAffectOthers() async throws {
            try await withServer { server in
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<100 {
                        group.addTask {
                            try await transport.send(Exchange(server.url("/drip?seconds=0.02&bytes=50"))).data.count
                        }
                        group.addTask {
                            transport.closeIdleConnections()
                            return 50
                        }
                    }
                    for try await count in group { #expect(count == 50) }
                }
            }
        }
    }
}
