import Afar
import AfarCore
import AfarTestServer
import AfarTransport
import Foundation
import TestServers
import Testing

/// Data that a server sends over TLS after a response isn't part of any response, regardless of where it is buffered.
@Suite(.timeLimit(.minutes(1))) struct UnsolicitedTLSDataTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates.shared.get() }

    private static func ok(_ body: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static let fresh: [RawServer.Step] = [.loop([.respond(ok("fresh"))])]

    /// Sends a head and, when the gate opens, the body and another response in one record.
    private static func smuggling(after gate: RawServer.Gate, _ status: String = "200 OK") -> [RawServer.Step] {
        [
            .receiveHead, .send("HTTP/1.1 \(status)\r\nLocation: /next\r\nContent-Length: 4\r\n\r\n"), .hold(gate),
            .send("good" + ok("evil")),
        ]
    }

    private func session(evaluators: [String: any ServerTrustEvaluating]? = nil) -> Session {
        var configuration = SessionConfiguration.default
        configuration.certificateBundle = certificates.authority
        return Session(
            configuration: configuration,
            serverTrustManager: evaluators.map { ServerTrustManager(allHostsMustBeEvaluated: false, evaluators: $0) })
    }

    private func text(_ request: DataRequest) async throws -> String { try await request.serializingString().value }

    @Test(arguments: [true, false], [0, 0.5])
    func aSecondResponseInARecordIsIgnored(isTLS13: Bool, pause: Double) async throws {
        let gate = RawServer.Gate()
        let server = try await RawServer.start(scripts: [Self.smuggling(after: gate), Self.fresh])
        let relay = try TLSRelay(to: server.port, certificates, isTLS13: isTLS13)
        let session = session()
        let first = session.request(relay.url).onHTTPResponse { _ in gate.open() }
        #expect(try await text(first) == "good")
        try await Task.sleep(for: .seconds(pause))
        #expect(try await text(session.request(relay.url)) == "fresh")
        #expect(server.connectionCount == 2)
    }

    @Test(arguments: [true, false])
    func aSecondResponseAfterARedirectIsIgnored(isTLS13: Bool) async throws {
        let gate = RawServer.Gate()
        let server = try await RawServer.start(scripts: [Self.smuggling(after: gate, "302 Found"), Self.fresh])
        let relay = try TLSRelay(to: server.port, certificates, isTLS13: isTLS13)
        let session = session()
        let request = session.request(relay.url).redirect(
            using: .modify { _, request, _ in
                gate.open()
                return request
            })
        #expect(try await text(request) == "fresh")
        #expect(server.requests.last?.hasPrefix("GET /next ") == true)
    }

    @Test(arguments: [true, false])
    func aSecondResponseWithAnEvaluatorIsIgnored(isTLS13: Bool) async throws {
        let gate = RawServer.Gate()
        let server = try await RawServer.start(scripts: [Self.smuggling(after: gate), Self.fresh])
        let relay = try TLSRelay(to: server.port, certificates, isTLS13: isTLS13)
        let session = session(evaluators: ["localhost": DisabledTrustEvaluator()])
        let first = session.request(relay.url).onHTTPResponse { _ in gate.open() }
        #expect(try await text(first) == "good")
        #expect(try await text(session.request(relay.url)) == "fresh")
    }

    /// Session tickets and key updates aren't part of a response, either. The connection remains usable.
    @Test(arguments: ["", TLSRelay.ticket, TLSRelay.keyUpdate, TLSRelay.ticket + TLSRelay.keyUpdate + TLSRelay.ticket])
    func aServerWithLateTicketsKeepsItsConnection(_ messages: String) async throws {
        let gate = RawServer.Gate()
        let server = try await RawServer.start([
            .respond(messages + Self.ok("first")), .respond(Self.ok("second") + messages), .hold(gate),
            .send(messages), .loop([.respond(Self.ok("more") + messages)]),
        ])
        let relay = try TLSRelay(to: server.port, certificates)
        let session = session()
        #expect(try await text(session.request(relay.url)) == "first")
        #expect(try await text(session.request(relay.url)) == "second")
        gate.open()
        for _ in 0..<20 {
            #expect(try await text(session.request(relay.url)) == "more")
            // Most messages arrive while no request is in progress.
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(server.connectionCount == 1)
    }

    @Test(arguments: [true, false], ["evil", TLSRelay.closeNotify, TLSRelay.halfRecord, TLSRelay.recordHeader])
    func aConnectionWithUnsolicitedDataIsClosedImmediately(isTLS13: Bool, _ data: String) async throws {
        let gate = RawServer.Gate()
        let server = try await RawServer.start(scripts: [
            [.respond(Self.ok("first")), .hold(gate), .send(data)], Self.fresh,
        ])
        let relay = try TLSRelay(to: server.port, certificates, isTLS13: isTLS13)
        let session = session()
        #expect(try await text(session.request(relay.url)) == "first")
        gate.open()
        try await server.peerClosed(0)
        #expect(try await text(session.request(relay.url)) == "fresh")
    }
}
