import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import TestServers
import TestSupport
import Testing

@testable import AfarCurl

extension TransportTests {
    @Suite struct SuspensionTests {
        private let transport = makeTransport()

        private class Counter: ExchangeObserver, @unchecked Sendable {
            // Sendable because locks guard all mutable state.
            private let counts = Locked((sent: Int64(0), received: Int64(0)))

            var sent: Int64 { counts.withLock { $0.sent } }
            var received: Int64 { counts.withLock { $0.received } }

            func exchangeDidSend(bytes: Int64, expected: Int64?) { counts.withLock { $0.sent = bytes } }
            func exchangeDidReceive(bytes: Int64, expected: Int64?) { counts.withLock { $0.received = bytes } }
        }

        /// Suspends the exchange when the first bytes arrive, before any other event.
        private final class Suspender: Counter, @unchecked Sendable {
            let suspended = Deferred<Void>()
            private let control: ExchangeControl

            init(_ control: ExchangeControl) { self.control = control }

            override func exchangeDidReceive(bytes: Int64, expected: Int64?) {
                super.exchangeDidReceive(bytes: bytes, expected: expected)
                guard bytes == 3 else { return }
                control.suspend()
                suspended.fulfill(())
            }
        }

        @Test(arguments: [ResponseDelivery.collect(), .stream()])
        func aSuspendedExchangePausesAndContinues(_ delivery: ResponseDelivery) async throws {
            let gate = RawServer.Gate()
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"
            try await withRawServer([.respond(head + "abc"), .hold(gate), .send("def"), .mark("sent")]) { server in
                var exchange = Exchange(server.url, delivery: delivery).with { $0.idleTimeout = 0.3 }
                let suspender = Suspender(exchange.control)
                exchange.observer = suspender
                let running = exchange
                let task = Task {
                    let response = try await transport.send(running)
                    if case .stream(let stream) = response.body { return try await collect(stream) }
                    return try response.data
                }
                await suspender.suspended.value
                gate.open()
                try await server.reached("sent")
                // The suspended exchange's idle timer would have fired before this one.
                try await transport.passIdleTimeout(of: 0.6)
                #expect(suspender.received == 3)
                exchange.control.resume()
                #expect(try await task.value == Data("abcdef".utf8))
            }
        }

        @Test func anExchangeSuspendedFromTheStartWaits() async throws {
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabcdef"
            try await withRawServer([.respond(answer), .mark("sent")]) { server in
                var exchange = Exchange(server.url).with { $0.idleTimeout = 0.3 }
                let counter = Counter()
                exchange.observer = counter
                exchange.control.suspend()
                let waiting = exchange
                let task = Task { try await transport.text(of: waiting) }
                // libcurl sends the head of the request anyway.
                if TestedTransport.current == .curl { try await server.reached("sent") }
                try await transport.passIdleTimeout(of: 0.6)
                #expect(counter.received == 0)
                exchange.control.resume()
                #expect(try await task.value == "abcdef")
            }
        }

        @Test func theIdleTimerContinuesAfterResumption() async throws {
            try await withRawServer([.respond("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .waitForever]) {
                server in
                var exchange = Exchange(server.url).with { $0.idleTimeout = 0.2 }
                let suspender = Suspender(exchange.control)
                exchange.observer = suspender
                let running = exchange
                let task = Task { try await transport.send(running) }
                await suspender.suspended.value
                // Without this step, the transport might miss the suspension.
                try await transport.catchUp()
                running.control.resume()
                let error = try await transportError { try await task.value }
                #expect(error.code == .timedOut)
                #expect(error.message.contains("idle"))
            }
        }

        @Test func theTotalTimerRunsWhileSuspended() async throws {
            try await withServer { server in
                let exchange = Exchange(server.url("/large/100000")).with { $0.totalTimeout = 0.3 }
                exchange.control.suspend()
                let error = try await transportError { try await transport.send(exchange) }
                #expect(error.message.contains("total"))
            }
        }

        @Test func aSuspendedUploadStopsSending() async throws {
            let body = PatternBytes.bytes(3_000_000)
            let answer = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"
            try await withRawServer([.receiveHead, .receive(body.count), .send(answer)]) { server in
                var exchange = Exchange(server.url, .post, body: .data(body))
                let counter = Counter()
                exchange.observer = counter
                exchange.control.suspend()
                let waiting = exchange
                let task = Task { try await transport.send(waiting) }
                try await server.connection(0)
                let isCurl = TestedTransport.current == .curl
                if isCurl { _ = try await server.head() }
                try await transport.catchUp()
                #expect(counter.sent == 0)
                if !isCurl { #expect(server.received(by: 0).isEmpty) }
                exchange.control.resume()
                let head = try await server.head()
                #expect(try await task.value.head.status == 201)
                #expect(server.received(by: 0).dropFirst(head.utf8.count) == body)
            }
        }

        @Test func randomSuspensionPreservesTheBody() async throws {
            try await withServer { server in
                var generator = SeededGenerator(seed: 7)
                for delivery in [ResponseDelivery.collect(), .stream(highWaterMark: 10_000)] {
                    let exchange = Exchange(server.url("/large/20000000"), delivery: delivery)
                    let task = Task {
                        let response = try await transport.send(exchange)
                        if case .stream(let stream) = response.body { return try await collect(stream) }
                        return try response.data
                    }
                    for _ in 0..<200 {
                        exchange.control.suspend()
                        try await Task.sleep(for: .microseconds(Int.random(in: 0...300, using: &generator)))
                        exchange.control.resume()
                        try await Task.sleep(for: .microseconds(Int.random(in: 0...100, using: &generator)))
                    }
                    #expect(try await task.value == PatternBytes.bytes(20_000_000))
                }
            }
        }

        /// libcurl can read while a transfer is suspended. It then delivers all lines of a head at once.
        @Test(arguments: [ResponseDelivery.collect(), .stream()])
        func aHeadThatArrivesBetweenSuspensionsIsRead(delivery: ResponseDelivery) async throws {
            let steps = [RawServer.Step.loop([.respond("HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 4\r\n\r\nbody")])]
            try await withRawServer(steps) { server in
                for _ in 0..<100 {
                    let exchange = Exchange(server.url, delivery: delivery)
                    let task = Task { () async throws -> Data in
                        let response = try await transport.send(exchange)
                        if case .stream(let stream) = response.body { return try await collect(stream) }
                        return try response.data
                    }
                    for _ in 0..<100 {
                        exchange.control.suspend()
                        exchange.control.resume()
                        await Task.yield()
                    }
                    let body = try await task.value
                    #expect(body == Data("body".utf8))
                }
            }
        }

        /// After a redirect, the next exchange uses the same control as the previous one, and can start as soon as the
        /// previous body ends.
        @Test func theNextExchangeKeepsItsControl() async throws {
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
            let gate = RawServer.Gate()
            try await withRawServer([.loop([.respond(answer), .hold(gate), .send("body")])]) { server in
                let isNextSuspended = Locked(false)
                let exchange = Exchange(server.url, delivery: .stream())
                // With this executor, the transport's completion also runs the code after the end of the body.
                try await withTaskExecutorPreference(CallersThread()) {
                    let stream = try await transport.send(exchange).stream
                    gate.open()
                    _ = try await collect(stream)
                    exchange.control.attach { isSuspended in isNextSuspended.withLock { $0 = isSuspended } }
                }
                // Once another exchange completes, the first one's completion has been processed.
                _ = try await collect(transport.send(Exchange(server.url, delivery: .stream())).stream)
                exchange.control.suspend()
                #expect(isNextSuspended.withLock { $0 })
            }
        }

        /// If two threads suspend and resume an exchange concurrently, the transport can receive their messages in any
        /// order. The control's final state decides.
        @Test func theLastChangeOfTheControlIsUsed() async throws {
            let block = [UInt8](repeating: 1, count: 10_000)
            try await withRawServer([.respond("HTTP/1.1 200 OK\r\n\r\n"), .loop([.send(block)])]) { server in
                var exchange = Exchange(server.url, delivery: .stream())
                let counter = Counter()
                exchange.observer = counter
                let stream = try await transport.send(exchange).stream
                let reader = Task { for try await _ in stream {} }
                let control = exchange.control
                for _ in 0..<100 {
                    DispatchQueue.concurrentPerform(iterations: 1_000) { index in
                        if index.isMultiple(of: 2) { control.suspend() } else { control.resume() }
                    }
                    try await transport.catchUp()
                    let before = counter.received
                    if control.isSuspended {
                        try await transport.catchUp()
                        #expect(counter.received == before)
                    } else {
                        try await waitWhile { counter.received == before }
                    }
                }
                reader.cancel()
                await #expect(throws: TransportError.self) { try await reader.value }
            }
        }

        @Test func aWriteErrorAfterResumptionFailsImmediately() async throws {
            let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
            defer { close(full) }
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
            try await withRawServer([.respond(head + "abc"), .waitForever]) { server in
                let exchange = Exchange(server.url, delivery: .file(descriptor: full))
                exchange.control.suspend()
                let task = Task { try await transport.send(exchange) }
                try await waitWhile { server.connectionCount == 0 }
                exchange.control.resume()
                let error = try await transportError { try await task.value }
                #expect(error.code == .deliveryFailed)
                try await server.peerClosed(0)
            }
        }

        @Test func theDensestBombWaitsWhileSuspended() async throws {
            let bomb = DeflatedZeros.data(runs: 400_000)
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: \(bomb.count)\r\n\r\n"
            try await withRawServer([.receiveHead, .send(Data(head.utf8) + bomb), .mark("sent")]) { server in
                let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
                defer { close(null) }
                let exchange = Exchange(server.url, delivery: .file(descriptor: null))
                exchange.control.suspend()
                let task = Task { try await transport.send(exchange) }
                if TestedTransport.current == .curl { try await server.reached("sent") }
                try await transport.catchUp()
                exchange.control.resume()
                guard case .file(let count) = try await task.value.body else { throw WrongKind() }
                #expect(count == 1 + 400_000 * 258)
            }
        }
    }
}

/// Runs a task on the thread that resumes it.
private final class CallersThread: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
}

/// A pseudorandom number generator with a fixed sequence.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
