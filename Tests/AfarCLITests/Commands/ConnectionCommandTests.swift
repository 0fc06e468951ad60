import AfarTestServer
import Foundation
import TestServers
import Testing

/// Tests for `afar ws` and `afar connect`.
struct ConnectionCommandTests {
    @Test func linesAreSentAndMessagesArePrinted() async throws {
        let server = try await ServerChild.webSockets()
        let outcome = try await Tool.run(
            "ws", "ws://127.0.0.1:\(server.port)/echo", input: Data("one\ntwo\ngrüße".utf8))
        #expect(outcome.text == "one\ntwo\ngrüße\n", "\(outcome.errors)")
        #expect(outcome.status == 0)
        let short = try await Tool.run("ws", ":\(server.port)/echo", input: Data("x\n".utf8))
        #expect(short.text == "x\n", "\(short.errors)")
    }

    @Test func theRequestHasItsOptions() async throws {
        let server = try await ServerChild.webSockets()
        let outcome = try await Tool.run(
            "ws", ":\(server.port)/request", "--query", "a=b", "-H", "X-One: 1", "--protocol", "chat", "--bearer",
            "t0ken",
            input: Data())
        #expect(outcome.text.contains(#""path": "/request?a=b""#), "\(outcome.errors)")
        #expect(outcome.text.contains(#""x-one": "1""#))
        #expect(outcome.text.contains(#""sec-websocket-protocol": "chat""#))
        #expect(outcome.text.contains("Bearer t0ken"))
    }

    @Test func theServersCloseIsReported() async throws {
        let server = try await ServerChild.webSockets()
        let url = ":\(server.port)"
        #expect(try await Tool.run("ws", "\(url)/push?count=3", "--listen").text == "0 \n1 \n2 \n")
        let failed = try await Tool.run("ws", "\(url)/close?code=1011&reason=no+more+disk", "--listen")
        #expect(failed.status == 6)
        #expect(failed.errors == "afar: The server closed the WebSocket with code 1011: no more disk.\n")
        let missing = try await Tool.run("ws", "\(url)/missing", "--listen")
        #expect(missing.status == 4)
        #expect(missing.errors.contains("returned 404 Not Found instead of opening a WebSocket"), "\(missing.errors)")
        let closed = try ClosedPort()
        #expect(try await Tool.run("ws", ":\(closed.number)", "--listen").status == 3)
        let long = try await Tool.run("ws", "\(url)/push?count=1&size=100", "--listen", "--max-message", "50")
        #expect(long.status == 6, "\(long.errors)")
        #expect(try await Tool.run("ws", url, "--ping", "0").status == 2)
    }

    @Test func bytesAreSentInBothDirections() async throws {
        let server = try await RawServer.start([.receiveAll, .send([0xFF, 0, 0x41]), .close])
        let outcome = try await Tool.run("connect", "127.0.0.1:\(server.port)", input: Data([1, 0, 2]))
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output == Data([0xFF, 0, 0x41]))
        #expect(server.received(by: 0) == Data([1, 0, 2]))
    }

    @Test func aConnectionIsSecured() async throws {
        let certificates = try TestCertificates.shared.get()
        let server = try await SecureServer(certificates, ["site": .init("good")])
        let port = try #require(try server.url("site").port)
        let request = Data("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
        let outcome = try await Tool.run(
            "connect", "localhost:\(port)", "--tls", "--cacert", certificates.authority.path, input: request)
        #expect(outcome.text.hasPrefix("HTTP/1.1 200 OK"), "\(outcome.errors)")
        let refused = try await Tool.run("connect", "localhost:\(port)", "--tls", input: request)
        #expect(refused.status == 3)
        #expect(refused.errors.contains("is not trusted"), "\(refused.errors)")
    }

    @Test func anInvalidHostOrPortIsRejected() async throws {
        for place in ["localhost", "localhost:0", "localhost:70000", "localhost:x"] {
            let outcome = try await Tool.run("connect", place)
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("isn't a host and a port"), "\(outcome.errors)")
        }
        let closed = try ClosedPort()
        #expect(try await Tool.run("connect", ":\(closed.number)").status == 3)
    }
}
