import AfarTestServer
import AfarTransport
import Foundation
import HTTPTypes
import Synchronization
import Testing

@testable import AfarHTTP

/// Requests that wait for `100 (Continue)` over HTTP/1.1.
@Suite(.timeLimit(.minutes(1))) struct ExpectationTests {
    /// The body is sent after a second without a response.
    @Test func aStreamIsSentAgainWithoutTheExpectationAfterPartOfItWasSent() async throws {
        let server = try await RawServer.start(scripts: [
            [
                .receiveHead, .receive(7), .send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n"),
                .waitForever,
            ],
            [.receiveHead, .receive(19), .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), .waitForever],
        ])
        let stream = RequestBodyStream(isReplayable: true) {
            let rest = Mutex([Data("ab".utf8), Data("cd".utf8)])
            return { rest.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
        }
        let request = HTTPRequest(
            method: .put, scheme: "http", authority: "127.0.0.1:\(server.port)", path: "/",
            headerFields: [.expect: "100-continue"])
        let response = try await HTTPTransport().send(Exchange(request: request, body: .stream(stream)))
        #expect(response.head.status == 200)
        #expect(server.requests.map { $0.contains("Expect: 100-continue") } == [true, false])
    }
}
