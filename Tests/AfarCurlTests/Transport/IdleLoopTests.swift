import AfarCore
import AfarTestServer
import AfarTransport
import Foundation
import HTTPTypes
import Synchronization
import TestServers
import Testing

extension TransportTests {
    /// Requests to a transport that has nothing else to do. The caller's thread may send them.
    @Suite struct IdleLoopTests {
        private let transport = makeTransport()

        private static func ok(_ body: String) -> String {
            "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        }

        /// The loop waits for an event that is far away when the request with the short timeout begins.
        @Test(.timeLimit(.minutes(1))) func aShortTimeoutFollowsALongOne() async throws {
            let script: [RawServer.Step] = [.receiveHead, .send(Self.ok("A")), .receiveHead, .receiveAll]
            try await withRawServer(script) { server in
                #expect(try await transport.text(of: Exchange(server.url)) == "A")
                let silent = Exchange(server.url).with { $0.idleTimeout = 0.2 }
                let start = ContinuousClock.now
                let error = try await transportError { try await transport.send(silent) }
                #expect(error.code == .timedOut)
                #expect(start.duration(to: .now) < .seconds(10))
                #expect(server.connectionCount == 1)
            }
        }

        @Test(.timeLimit(.minutes(1))) func aRequestIsCancelledRightAfterItsStart() async throws {
            let script: [RawServer.Step] = [
                .receiveHead, .send(Self.ok("A")), .receiveHead, .mark("asked"), .receiveAll,
            ]
            try await withRawServer(script) { server in
                #expect(try await transport.text(of: Exchange(server.url)) == "A")
                let silent = Task { try await transport.send(Exchange(server.url)) }
                try await server.reached("asked")
                silent.cancel()
                #expect(try await transportError { try await silent.value }.code == .cancelled)
            }
        }

        /// The request must not overtake the message to close connections.
        @Test func aRequestAfterClosingUsesANewConnection() async throws {
            try await withRawServer([.loop([.respond(Self.ok("A"))])]) { server in
                for count in 1...100 {
                    let text = try await transport.text(of: Exchange(server.url))
                    #expect(text == "A")
                    #expect(server.connectionCount == count)
                    transport.closeIdleConnections()
                }
            }
        }

        /// The cancellation precedes the start of the exchange.
        @Test func aCancelledTaskSendsNothing() async throws {
            try await withRawServer([.loop([.respond(Self.ok("A"))])]) { server in
                for count in 1...50 {
                    _ = try await transport.send(Exchange(server.url))
                    let post = Exchange(server.url, .post, body: .data(Data("value".utf8)))
                    let canceled = Task {
                        withUnsafeCurrentTask { $0?.cancel() }
                        return try await transport.send(post)
                    }
                    #expect(try await transportError { try await canceled.value }.code == .cancelled)
                    #expect(server.requests.count == count)
                }
            }
        }

        private final class Observer: ExchangeObserver {
            let threads = Mutex<[pthread_t]>([])

            private func note() {
                let thread = pthread_self()
                threads.withLock { $0.append(thread) }
            }

            func exchangeDidSend(bytes: Int64, expected: Int64?) { note() }
            func exchangeDidReceiveHead(_ head: ResponseHead) { note() }
        }

        /// The caller can hold a lock that the observer requires.
        @Test func observersAreNotCalledByTheCaller() async throws {
            try await withServer { server in
                for body in [RequestBody.none, .data(Data("value".utf8)), .none, .data(Data("value".utf8))] {
                    let observer = Observer()
                    var exchange = Exchange(server.url("/post"), .post, body: body)
                    exchange.observer = observer
                    let prepared = try transport.prepare(Hop(exchange))
                    let status = Deferred<Int>()
                    let caller = await withCheckedContinuation { continuation in
                        DispatchQueue.global().async {
                            prepared.start { status.fulfill((try? $0.get().head.status) ?? 0) }
                            continuation.resume(returning: pthread_self())
                        }
                    }
                    #expect(await status.value == 200)
                    let threads = observer.threads.withLock { $0 }
                    #expect(!threads.isEmpty && !threads.contains(caller))
                }
            }
        }

        @Test func manyCallersShareOneLoop() async throws {
            try await withServer { server in
                let count = try await withThrowingTaskGroup(of: Int.self) { group in
                    for caller in 0..<8 {
                        group.addTask {
                            var count = 0
                            for number in 0..<60 {
                                if (number + caller).isMultiple(of: 7) { try await Task.sleep(for: .milliseconds(1)) }
                                let body: RequestBody = number.isMultiple(of: 3) ? .data(Data("value".utf8)) : .none
                                let exchange = Exchange(server.url("/post"), .post, body: body)
                                if try await transport.send(exchange).head.status == 200 { count += 1 }
                            }
                            return count
                        }
                    }
                    return try await group.reduce(0, +)
                }
                #expect(count == 480)
            }
        }
    }
}
