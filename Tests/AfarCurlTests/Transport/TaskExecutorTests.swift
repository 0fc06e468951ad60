import AfarCore
import AfarTestServer
import Foundation
import TestServers
import TestSupport
import Testing

@testable import AfarCurl

extension TransportTests {
    @Suite struct TaskExecutorTests {
        private static var threadName: String {
            let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            return name?.trimmingCharacters(in: .newlines) ?? ""
        }

        @Test func tasksRunOnTheConnectionsThread() async throws {
            let transport = makeTransport()
            try await withServer { server in
                try await withTaskExecutorPreference(transport.taskExecutor) {
                    #expect(Self.threadName == "afar.\(TestedTransport.current)")
                    for _ in 0..<3 {
                        _ = try await transport.send(Exchange(server.url("/get")))
                        #expect(Self.threadName == "afar.\(TestedTransport.current)")
                    }
                }
                #expect(Self.threadName != "afar.\(TestedTransport.current)")
            }
        }

        @Test func manyTasksShareTheThread() async throws {
            let transport = makeTransport()
            try await withServer { server in
                let count = try await withTaskExecutorPreference(transport.taskExecutor) {
                    try await withThrowingTaskGroup(of: Int.self) { group in
                        for number in 0..<50 {
                            group.addTask {
                                let response = try await transport.send(Exchange(server.url("/large/\(number)")))
                                try await Task.sleep(for: .milliseconds(1))
                                await Task.yield()
                                return try response.data.count
                            }
                        }
                        return try await group.reduce(0, +)
                    }
                }
                #expect(count == 49 * 25)
            }
        }

        @Test func tasksResumeOnTheThread() async throws {
            let transport = makeTransport { $0.maximumThreads = 4 }
            let servers = try await [TestServer.start(), TestServer.start(), TestServer.start()]
            try await withTaskExecutorPreference(transport.taskExecutor) {
                for server in servers {
                    for _ in 0..<2 { _ = try await transport.send(Exchange(server.url("/get"))) }
                    #expect(Self.threadName == "afar.\(TestedTransport.current)")
                }
                #expect(await transport.connectionStatistics?.idle == 3)
            }
            for server in servers { await server.stop() }
        }

        @Test func aCancelledTaskEndsOnTheThread() async throws {
            let transport = makeTransport()
            try await withServer { server in
                let task = Task(executorPreference: try transport.taskExecutor) {
                    _ = try await transport.send(Exchange(server.url("/delay/60")))
                }
                task.cancel()
                await #expect(throws: TransportError.self) { try await task.value }
            }
        }

        @Test func streamsAreReadOnTheThread() async throws {
            let transport = makeTransport()
            try await withServer { server in
                try await withTaskExecutorPreference(transport.taskExecutor) {
                    let exchange = Exchange(server.url("/large/3000000"), delivery: .stream(highWaterMark: 1000))
                    let body = try await collect(transport.send(exchange).stream)
                    #expect(body == PatternBytes.bytes(3_000_000))
                }
            }
        }

        @Test func theExecutorRetainsItsThread() async throws {
            weak var released: (any TestableTransport)?
            do {
                let executor = try {
                    let transport = makeTransport()
                    released = transport
                    return try transport.taskExecutor
                }()
                let name = try await withTaskExecutorPreference(executor) {
                    try await Task.sleep(for: .milliseconds(1))
                    return Self.threadName
                }
                #expect(name == "afar.\(TestedTransport.current)")
                #expect(released != nil)
            }
            // The thread releases the transport after the last step of the last task.
            try await waitWhile { released != nil }
        }
    }
}
