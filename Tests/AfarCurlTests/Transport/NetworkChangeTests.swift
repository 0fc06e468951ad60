import AfarCore
import AfarTestServer
import Foundation
import TestServers
import Testing

@testable import AfarCurl

extension TransportTests {
    /// Connections of a previous network aren't reused, and nothing else changes.
    @Suite struct NetworkChangeTests {
        private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

        private func transport(connectionsPerHost: Int) -> any TestableTransport {
            return makeTransport {
                $0.maximumConnectionsPerHost = connectionsPerHost
                $0.maximumIdleConnections = max(64, connectionsPerHost)
            }
        }

        // MARK: Sessions

        /// A provider whose value the test sets.
        private final class Network: ConnectivityProvider {
            private typealias Continuation = AsyncStream<Connectivity>.Continuation
            private let state = Locked((identity: 0, listeners: [Continuation]()))
            let isHeard = Deferred<Void>()

            var connectivity: Connectivity { Connectivity(.online, identity: state.withLock { $0.identity }) }

            func connectivityUpdates() -> AsyncStream<Connectivity> {
                let (stream, continuation) = AsyncStream.makeStream(of: Connectivity.self)
                continuation.yield(connectivity)
                state.withLock { $0.listeners.append(continuation) }
                isHeard.fulfill(())
                return stream
            }

            func change() {
                let listeners = state.withLock { state in
                    state.identity += 1
                    return state.listeners
                }
                for listener in listeners { listener.yield(connectivity) }
            }
        }

        private func isAnswered(_ request: DataRequest) async -> Bool {
            await withCheckedContinuation { continuation in
                request.response(queue: .global()) { continuation.resume(returning: $0.error == nil) }
            }
        }

        @Test func aNetworkChangeOpensNewConnections() async throws {
            try await withRawServer([.loop([.respond(Self.ok)])]) { server in
                let network = Network()
                let session = Session(transport: makeTransport(), connectivity: network)
                for _ in 0..<3 {
                    #expect(await isAnswered(session.request(server.url)))
                }
                #expect(server.connectionCount == 1)
                await network.isHeard.value
                network.change()
                try await server.peerClosed(0)
                #expect(await isAnswered(session.request(server.url)))
                #expect(server.connectionCount == 2)
                #expect(server.requests.count == 4)
            }
        }

        // MARK: Running and waiting exchanges

        @Test func runningExchangesContinue() async throws {
            let count = 64
            let gate = RawServer.Gate()
            let slow: [RawServer.Step] = [
                .respond("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), .hold(gate), .send("def"),
            ]
            let server = try await RawServer.start(
                scripts: Array(repeating: slow, count: count) + [[.loop([.respond(Self.ok)])]])
            let transport = transport(connectionsPerHost: count + 1)
            var streams: [ResponseBodyStream] = []
            for _ in 0..<count {
                streams.append(try await transport.send(Exchange(server.url, delivery: .stream())).stream)
            }
            for round in 0..<3 {
                transport.closeIdleConnections()
                #expect(try await transport.text(of: Exchange(server.url)) == "ok")
                #expect(server.connectionCount == count + 1 + round)
            }
            gate.open()
            for stream in streams { #expect(try await collect(stream) == Data("abcdef".utf8)) }
            for connection in 0..<(count + 2) { try await server.peerClosed(connection) }
            await server.stop()
        }

        @Test func queuedExchangesUseNewConnections() async throws {
            let gate = RawServer.Gate()
            let held: [RawServer.Step] = [.receiveHead, .hold(gate), .send(Self.ok), .loop([.respond(Self.ok)])]
            try await withRawServer(held, [.loop([.respond(Self.ok)])]) { server in
                let transport = transport(connectionsPerHost: 1)
                try await withThrowingTaskGroup(of: String.self) { group in
                    group.addTask { try await transport.text(of: Exchange(server.url)) }
                    try await server.head()
                    for _ in 0..<20 { group.addTask { try await transport.text(of: Exchange(server.url)) } }
                    transport.closeIdleConnections()
                    gate.open()
                    for try await text in group { #expect(text == "ok") }
                }
                try await server.peerClosed(0)
                #expect(server.requests.count == 21)
                #expect(server.connectionCount == 2)
            }
        }

        @Test func manyChangesUnderLoadLeaveNothingBehind() async {
            await #expect(processExitsWith: .success) { [transport = TestedTransport.current as TestedTransport] in
                try await TestedTransport.$current.withValue(transport) {
                    try await ReleaseTests.Resources.settle()
                    let server = try await TestServer.start()
                    let transport = makeTransport { $0.maximumConnectionsPerHost = 64 }
                    _ = try await transport.send(Exchange(server.url("/get")))
                    let before = ReleaseTests.Resources()
                    let isOver = Locked(false)
                    let sum = try await withThrowingTaskGroup(of: Int.self) { group in
                        for worker in 0..<64 {
                            group.addTask {
                                var count = 0
                                while !isOver.withLock({ $0 }) {
                                    let length = (worker * 997 + count * 131) % 100_000
                                    let response = try await transport.send(Exchange(server.url("/large/\(length)")))
                                    guard try response.data == PatternBytes.bytes(length) else { throw WrongKind() }
                                    count += 1
                                }
                                return count
                            }
                        }
                        for _ in 0..<100 {
                            transport.closeIdleConnections()
                            _ = try await transport.send(Exchange(server.url("/get")))
                        }
                        isOver.withLock { $0 = true }
                        return try await group.reduce(0, +)
                    }
                    #expect(sum >= 100)
                    transport.closeIdleConnections()
                    _ = try await transport.send(Exchange(server.url("/get")))
                    let areBack = try await before.areBack()
                    #expect(areBack, "\(before) \(ReleaseTests.Resources())")
                }
            }
        }

        // MARK: No network

        /// For TCP connections to such addresses, the kernel returns the same error as for addresses without a route.
        @Test(arguments: ["http://224.0.0.1/", "http://255.255.255.255/"])
        func unroutableAddressesAreNotConnected(url: String) async throws {
            let url = try #require(URL(string: url))
            let error = try await transportError { try await makeTransport().send(Exchange(url)) }
            #expect(error.code == .notConnected)
            #expect(error.phase == .connecting)
            #expect(error.systemError == ENETUNREACH)
            #expect(error.urlError.code == .notConnectedToInternet)
        }
    }
}
