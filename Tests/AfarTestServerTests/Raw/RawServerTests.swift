import Foundation
import Testing

@testable import AfarTestServer

@Suite(.timeLimit(.minutes(1)))
struct RawServerTests {
    static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    @Test func respondsWithTheBytesGiven() async throws {
        let server = try await RawServer.start([.respond(Self.ok)])
        let answer = try await Curl.get(server.url, "-H", "X-Test: 1")
        #expect(answer.text == "ok")
        #expect(server.requests.count == 1)
        #expect(try await server.head().contains("X-Test: 1\r\n"))
        #expect(server.requests[0].hasSuffix("\r\n\r\n"))
        try await server.peerClosed(0)
        #expect(server.connectionCount == 1)
        await server.stop()
    }

    @Test func playsAScriptForEachConnection() async throws {
        let server = try await RawServer.start(scripts: [[.receiveHead, .close], [.respond(Self.ok)]])
        await #expect(throws: Curl.Failed.self) { try await Curl.get(server.url) }
        for _ in 0..<2 { #expect(try await Curl.get(server.url).status == 200) }
        #expect(server.connectionCount == 3)
        await server.stop()
    }

    @Test func loopsOverRequestsOfOneConnection() async throws {
        let server = try await RawServer.start([.loop([.respond(Self.ok)])])
        let url = server.url.absoluteString
        #expect(try await Curl.run([url, url, url]) == Data("okokok".utf8))
        #expect(server.connectionCount == 1)
        #expect(try await server.head(2).hasPrefix("GET / "))
        await server.stop()
    }

    @Test func receivesBodies() async throws {
        let server = try await RawServer.start([.receiveHead, .receive(5), .send(Self.ok), .close])
        #expect(try await Curl.get(server.url, "-d", "hello").text == "ok")
        #expect(server.received(by: 0).suffix(5) == Data("hello".utf8))
        #expect(server.received(by: 1).isEmpty)
        await server.stop()
    }

    @Test func readsToTheEndAndCanStillAnswer() async throws {
        let server = try await RawServer.start([.receiveAll, .wait(0.01), .send("bye"), .close])
        let text = try await onThread {
            let client = try Client(port: Int(server.port))
            try client.send("hello")
            client.socket.finishWriting()
            return try client.readAll()
        }
        #expect(text == "bye")
        #expect(server.received(by: 0) == Data("hello".utf8))
        await server.stop()
    }

    @Test func holdsUntilTheGateOpens() async throws {
        let gate = RawServer.Gate()
        let server = try await RawServer.start([.receiveHead, .hold(gate), .send(Self.ok)])
        async let first = Curl.get(server.url)
        try await server.head()
        gate.open()
        #expect(try await first.text == "ok")
        #expect(try await Curl.get(server.url).text == "ok")
        await server.stop()
    }

    @Test func aMarkIsReachedWhenTheStepsBeforeItAreDone() async throws {
        let server = try await RawServer.start([.send("all"), .mark("sent"), .receive(1), .mark("received")])
        let client = try Client(port: Int(server.port))
        try await server.reached("sent")
        // All sent bytes have arrived, so reading doesn't need to block.
        client.socket.disableBlocking()
        var buffer = [UInt8](repeating: 0, count: 9)
        #expect(try buffer.withUnsafeMutableBytes { try client.socket.read(into: $0) } == 3)
        try client.send("x")
        try await server.reached("received")
        #expect(server.received(by: 0) == Data("x".utf8))
        await server.stop()
        await #expect(throws: RawServer.Stopped.self) { try await server.reached("another") }
    }

    @Test(arguments: [RawServer.Step.waitForever, .wait(3600), .hold(RawServer.Gate()), .receive(99)])
    func detectsThatThePeerClosed(step: RawServer.Step) async throws {
        let server = try await RawServer.start([step])
        let client = try Client(port: Int(server.port))
        try client.send("unread")
        try await server.connection(0)
        client.socket.close()
        try await server.peerClosed(0)
        await server.stop()
    }

    @Test func detectsAResetByThePeer() async throws {
        let server = try await RawServer.start([.waitForever])
        let client = try Client(port: Int(server.port))
        try await server.connection(0)
        client.socket.reset()
        try await server.peerClosed(0)
        await server.stop()
    }

    @Test func resets() async throws {
        let server = try await RawServer.start([.receiveHead, .send("HTTP/1.1 200 OK\r\n"), .reset])
        let failure = await #expect(throws: Curl.Failed.self) { try await Curl.get(server.url) }
        #expect(failure?.message.localizedCaseInsensitiveContains("reset") == true)
        await server.stop()
    }

    @Test func halfClosesAndContinuesReading() async throws {
        let server = try await RawServer.start([.send("hi"), .halfClose, .receive(3)])
        try await onThread {
            let client = try Client(port: Int(server.port))
            #expect(try client.readAll() == "hi")
            try client.send("abc")
        }
        try await server.peerClosed(0)
        #expect(server.received(by: 0) == Data("abc".utf8))
        await server.stop()
    }

    @Test func repeatsBytes() async throws {
        let script: [RawServer.Step] = [.repeat("ab", every: 0.01, times: 3), .repeat([33], every: 0, times: 2)]
        let server = try await RawServer.start(script + [.close])
        #expect(try await Client.exchange(port: Int(server.port), "") == "ababab!!")
        await server.stop()
    }

    @Test func stopEndsScriptsAndFailsWaiters() async throws {
        let server = try await RawServer.start([.waitForever])
        let client = try Client(port: Int(server.port))
        try await server.connection(0)
        let waiter = Task { try await server.peerClosed(0) }
        await server.stop()
        await #expect(throws: RawServer.Stopped.self) { try await waiter.value }
        #expect(try await onThread { try client.readAll() }.isEmpty)
        await #expect(throws: RawServer.Stopped.self) { try await server.connection(5) }
    }

    @Test func waitingEndsWhenTheTaskIsCancelled() async throws {
        let server = try await RawServer.start([])
        let waiter = Task { try await server.connection(0) }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        await server.stop()
    }
}
