import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import TestServers
import Testing

@testable import AfarCurl

extension TransportTests {
    /// A transport releases all its system resources. Each test runs in its own process, because it counts all of the
    /// process's descriptors and threads.
    @Suite struct ReleaseTests {
        struct Resources {
            /// The targets of all descriptors except timers.
            let descriptors: [String]
            /// Whether Dispatch has created a timer. It creates one per clock, on first use.
            let hasTimer: Bool
            let threads = Self.names().filter { $0 == "afar.curl" || $0 == "afar.http" }.count

            init() {
                let links = Self.links("/proc/self/fd")
                descriptors = links.filter { $0 != "anon_inode:[timerfd]" }
                hasTimer = descriptors.count < links.count
            }

            private static func links(_ folder: String) -> [String] {
                let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
                return names.compactMap { name in
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
                }
            }

            private static func names() -> [String] {
                let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
                return threads.compactMap {
                    try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8).trimmingCharacters(
                        in: .newlines)
                }
            }

            /// Creates and releases a transport, and sleeps. The first transport and the first sleep of a process
            /// create permanent resources.
            static func settle() async throws {
                try await withServer { server in _ = try await makeTransport().send(Exchange(server.url("/get"))) }
                var isSettled = false
                while !isSettled {
                    try await Task.sleep(for: .milliseconds(1))
                    let now = Resources()
                    // A sleep whose duration has already elapsed creates no timer.
                    isSettled = now.threads == 0 && now.hasTimer
                }
            }

            /// Returns whether all resources have been released. Threads exit shortly after they are stopped.
            func areBack() async throws -> Bool {
                for _ in 0..<200 {
                    let now = Resources()
                    if now.descriptors.count <= descriptors.count, now.threads <= threads { return true }
                    try await Task.sleep(for: .milliseconds(20))
                }
                return false
            }
        }

        @Test func transportsReleaseTheirResources() async {
            await #expect(processExitsWith: .success) { [transport = TestedTransport.current as TestedTransport] in
                try await TestedTransport.$current.withValue(transport) {
                    try await Resources.settle()
                    let server = try await TestServer.start()
                    let before = Resources()
                    for _ in 0..<50 {
                        let transport = makeTransport()
                        _ = try await transport.send(Exchange(server.url("/get")))
                    }
                    do { _ = (0..<50).map { _ in makeTransport() } }
                    let areBack = try await before.areBack()
                    #expect(areBack, "\(before) \(Resources())")
                }
            }
        }

        @Test func cancelledExchangesReleaseTheirResources() async {
            await #expect(processExitsWith: .success) { [transport = TestedTransport.current as TestedTransport] in
                try await TestedTransport.$current.withValue(transport) {
                    try await Resources.settle()
                    let server = try await TestServer.start()
                    let before = Resources()
                    var generator = SeededGenerator(seed: 5)
                    for round in 0..<3 {
                        let transport = makeTransport()
                        let tasks = (0..<100).map { number in
                            Task {
                                let delivery: ResponseDelivery =
                                    number % 2 == 0 ? .stream(highWaterMark: 1_000) : .collect()
                                let body = ChunkSource.body([Data(count: 100_000), Data(count: 100_000)])
                                let exchange = Exchange(
                                    server.url("/large/1000000"), .post, body: body, delivery: delivery)
                                let response = try await transport.send(exchange)
                                if case .stream(let stream) = response.body, round != 0 {
                                    _ = try await collect(stream)
                                }
                            }
                        }
                        for task in tasks {
                            try await Task.sleep(for: .microseconds(Int.random(in: 0...500, using: &generator)))
                            task.cancel()
                        }
                        for task in tasks { _ = await task.result }
                    }
                    let areBack = try await before.areBack()
                    #expect(areBack, "\(before) \(Resources())")
                }
            }
        }

        /// The producer of a request's body can outlive the exchange and even the transport.
        @Test func aBlockedProducerRetainsNothing() async {
            await #expect(processExitsWith: .success) { [transport = TestedTransport.current as TestedTransport] in
                try await TestedTransport.$current.withValue(transport) {
                    try await Resources.settle()
                    let answer = "HTTP/1.1 413 Too large\r\nContent-Length: 0\r\n\r\n"
                    let server = try await RawServer.start([.respond(answer), .receiveAll, .close])
                    let before = Resources()
                    let held = Locked<[UnsafeContinuation<Void, Never>]>([])
                    for _ in 0..<10 {
                        let body = RequestBodyStream(isReplayable: false) {
                            {
                                await withUnsafeContinuation { continuation in held.withLock { $0.append(continuation) }
                                }
                                return nil
                            }
                        }
                        _ = try await makeTransport().send(Exchange(server.url, .post, body: .stream(body)))
                    }
                    let areBack = try await before.areBack()
                    #expect(areBack, "\(before) \(Resources())")
                    for continuation in held.withLock({ $0 }) { continuation.resume() }
                    let areStillBack = try await before.areBack()
                    #expect(areStillBack)
                }
            }
        }

        @Test func aStreamThatOutlivesItsTransportReleasesItsResources() async {
            await #expect(processExitsWith: .success) { [transport = TestedTransport.current as TestedTransport] in
                try await TestedTransport.$current.withValue(transport) {
                    try await Resources.settle()
                    let server = try await TestServer.start()
                    let before = Resources()
                    var streams: [ResponseBodyStream] = []
                    for _ in 0..<10 {
                        let exchange = Exchange(server.url("/large/5000000"), delivery: .stream(highWaterMark: 1_000))
                        streams.append(try await makeTransport().send(exchange).stream)
                    }
                    #expect(Resources().threads >= 10)
                    streams = []
                    let areBack = try await before.areBack()
                    #expect(areBack, "\(before) \(Resources())")
                }
            }
        }
    }
}
