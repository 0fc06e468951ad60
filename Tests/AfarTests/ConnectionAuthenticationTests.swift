import Afar
import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// NTLM over one connection with scripted servers: the messages on the wire, and the handling of malicious servers.
@Suite(.timeLimit(.minutes(1))) struct ConnectionAuthenticationTests {
    // MARK: The script

    private static let offer = refusal("NTLM", body: "offer")

    private static func refusal(_ challenge: String, body: String, more: String = "") -> String {
        """
        HTTP/1.1 401 Unauthorized\r
        WWW-Authenticate: \(challenge)\r
        \(more)Content-Length: \(body.utf8.count)\r
        \r
        \(body)
        """
    }

    /// The server's Type 2 message, which requests a Unicode response that includes the target information.
    private static var question: String {
        var message = Array("NTLMSSP\0".utf8) + [2, 0, 0, 0]
        message += [0, 0, 0, 0, 48, 0, 0, 0]
        message += [0x01, 0x82, 0x88, 0x00]
        message += [1, 2, 3, 4, 5, 6, 7, 8] + Array(repeating: 0, count: 8)
        let information: [UInt8] = [2, 0, 8, 0] + Array("WORK".utf8).flatMap { [$0, 0] } + [0, 0, 0, 0]
        message += [UInt8(information.count), 0, UInt8(information.count), 0, 48, 0, 0, 0] + information
        return "NTLM " + Data(message).base64EncodedString()
    }

    private static let welcome = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nin"

    /// Returns the decoded message in a request's `Authorization` header.
    private func message(in head: String) -> [UInt8] {
        let line = head.split(separator: "\r\n").first { $0.hasPrefix("Authorization: NTLM ") } ?? ""
        return Array(Data(base64Encoded: String(line.dropFirst("Authorization: NTLM ".count))) ?? Data())
    }

    /// Returns a text field of a client's Type 3 message. The field's length is stored at the given position.
    private func field(at place: Int, of message: [UInt8]) -> String? {
        guard message.count > place + 8 else { return nil }
        let (count, start) = (Int(message[place]), Int(message[place + 4]) + 256 * Int(message[place + 5]))
        guard message.count >= start + count else { return nil }
        return String(bytes: message[start..<start + count], encoding: .utf16LittleEndian)
    }

    private func request(_ server: RawServer, _ session: Session, user: String = "WORK\\ada") -> DataRequest {
        session.request(server.url).authenticate(username: user, password: "l0ve-lace")
    }

    // MARK: The messages

    @Test(arguments: [CurlTransport(), TransportKind.platform.make(.default)] as [any Transport])
    func aThreeMessageHandshakeSucceeds(over transport: any Transport) async throws {
        let server = try await RawServer.start(scripts: [
            [.respond(Self.offer), .receiveAll],
            [
                .respond(Self.refusal(Self.question, body: "provisional")), .respond(Self.welcome), .receiveAll,
            ],
        ])
        let statuses = Locked<[Int]>([])
        let monitor = ClosureEventMonitor()
        monitor.dataTaskDidReceiveResponse = { _, _, response in
            statuses.withLock { $0.append((response as? HTTPURLResponse)?.statusCode ?? 0) }
        }
        let session = Session(eventMonitors: [monitor], transport: transport)
        let request = request(server, session)
        #expect(try await request.validate().serializingString().value == "in")
        try await waitWhile { statuses.withLock({ $0.isEmpty }) }
        #expect(statuses.withLock { $0 } == [200])
        let heads = server.requests
        #expect(heads.count == 3)
        #expect(!heads[0].contains("Authorization"))
        #expect(Array(message(in: heads[1]).prefix(12)) == Array("NTLMSSP\0".utf8) + [1, 0, 0, 0])
        let last = message(in: heads[2])
        #expect(Array(last.prefix(12)) == Array("NTLMSSP\0".utf8) + [3, 0, 0, 0])
        #expect(field(at: 28, of: last) == "WORK" && field(at: 36, of: last) == "ada")
        // An NTLMv2 response includes the time and the target information.
        #expect(last[20] > 24)
        #expect(!heads.joined().contains("l0ve"))
        await server.stop()
    }

    @Test func httpTransportRefusesToAuthenticateConnections() async throws {
        let server = try await RawServer.start([.receiveAll])
        let request = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(server.port)", path: "/")
        var exchange = Exchange(request: request)
        exchange.options.connectionAuthentication = ConnectionAuthentication(
            .ntlm, user: "ada", password: "l0ve-lace", origin: Origin(request))
        let error = await #expect(throws: TransportError.self) { _ = try await HTTPTransport().send(exchange) }
        #expect(error?.code == .unsupportedByTransport)
        #expect(error?.message.contains("NTLM") == true)
        #expect(server.connectionCount == 0)
        await server.stop()
    }

    @Test func aBodyIsSentWithTheLastMessage() async throws {
        let body = Data(repeating: UInt8(ascii: "b"), count: 200_000)
        let server = try await RawServer.start(scripts: [
            [.receiveHead, .receive(body.count), .send(Self.offer), .receiveAll],
            [
                .respond(Self.refusal(Self.question, body: "provisional")), .receiveHead, .receive(body.count),
                .send(Self.welcome), .receiveAll,
            ],
        ])
        let session = Session(transport: CurlTransport())
        let request = session.upload(body, to: server.url)
            .authenticate(username: "WORK\\ada", password: "l0ve-lace")
        #expect(try await request.validate().serializingString().value == "in")
        #expect(server.requests.map { $0.contains("Content-Length: 200000") } == [true, false, true])
        await server.stop()
    }

    @Test func aFinalRejectionIsTheResponse() async throws {
        let server = try await RawServer.start(scripts: [
            [.respond(Self.offer), .receiveAll],
            [
                .respond(Self.refusal(Self.question, body: "provisional")),
                .respond(Self.refusal("NTLM", body: "who are you?")), .receiveAll,
            ],
        ])
        let session = Session(transport: CurlTransport())
        let request = request(server, session)
        #expect(try await request.serializingString().value == "who are you?")
        #expect(request.response?.statusCode == 401)
        #expect(server.requests.count == 3)
        let report =
            "\(request) \(request.cURLDescription(redactingSecrets: true)) \(String(describing: request.metrics))"
        #expect(!report.contains("l0ve-lace"))
        await server.stop()
    }

    // MARK: Connections

    @Test func theConnectionIsNotShared() async throws {
        let bound: [RawServer.Step] = [
            .respond(Self.refusal(Self.question, body: "provisional")), .respond(Self.welcome), .receiveAll,
        ]
        // A request with a credential begins on the shared connection and continues on its own connection.
        let server = try await RawServer.start(scripts: [
            [.respond(Self.offer), .respond(Self.welcome), .respond(Self.offer), .receiveAll], bound, bound,
        ])
        let session = Session(transport: CurlTransport())
        _ = try await request(server, session).validate().serializingString().value
        try await server.peerClosed(1)
        _ = try await session.request(server.url).validate().serializingString().value
        _ = try await request(server, session, user: "grace").validate().serializingString().value
        #expect(server.connectionCount == 3)
        let plain = String(decoding: server.received(by: 0), as: UTF8.self)
        #expect(!plain.contains("Authorization"))
        let users = try [1, 2].map { connection -> String? in
            let heads = String(decoding: server.received(by: connection), as: UTF8.self).components(
                separatedBy: "\r\n\r\n")
            return field(at: 36, of: message(in: try #require(heads.dropFirst().first)))
        }
        #expect(users == ["ada", "grace"])
        await server.stop()
    }

    @Test func aRedirectSendsNoCredentials() async throws {
        let other = try await TestServer.start()
        let moved = "HTTP/1.1 302 Found\r\nLocation: \(other.url("/get"))\r\nContent-Length: 0\r\n\r\n"
        let server = try await RawServer.start(scripts: [
            [.respond(Self.offer), .receiveAll],
            [.respond(Self.refusal(Self.question, body: "provisional")), .respond(moved), .receiveAll],
        ])
        let session = Session(transport: CurlTransport())
        _ = try await request(server, session).validate().serializingData().value
        #expect(other.lastRequest(path: "/get")?.headers["Authorization"] == nil)
        #expect(other.requestCount == 1)
        await server.stop()
        await other.stop()
    }

    // MARK: Malicious servers

    /// The server sends raw bytes, because a library would reject such a header.
    @Test(arguments: [
        "Digest realm=\"a\u{0}b\", nonce=n, qop=auth", "Digest realm=r, nonce=\"a\u{1}\", qop=auth",
        "Digest realm=r, nonce=\"a\rSet-Cookie: b\", qop=auth", "Digest realm=r, nonce=n, qop=auth, opaque=\"\u{7F}\"",
    ])
    func controlCharactersInAChallengeAreHandled(challenge: String) async throws {
        let server = try await RawServer.start(scripts: [
            [.respond(Self.refusal(challenge, body: "hostile")), .respond(Self.refusal("Basic realm=r", body: "no"))]
        ])
        let session = Session(transport: CurlTransport())
        let request = request(server, session)
        let response = await request.serializingString().response
        #expect(response.error != nil || response.response?.statusCode == 401)
        // A line break becomes a space. A challenge with another control character isn't answered.
        #expect(server.requests.count <= (challenge.contains("Set-Cookie") ? 2 : 1))
        #expect(!server.requests.joined().contains("\rSet-Cookie"))
        await server.stop()
    }

    @Test func repeatedChallengesAreLimited() async throws {
        let server = try await RawServer.start(scripts: [
            [.respond(Self.offer), .receiveAll],
            [.loop([.respond(Self.refusal(Self.question, body: "again"))])],
        ])
        let session = Session(transport: CurlTransport())
        let response = await request(server, session).serializingString().response
        let error = (response.error?.underlyingError as? URLError)?.userInfo[NSUnderlyingErrorKey] as? TransportError
        #expect(error?.code == .malformedResponse)
        #expect(error?.message.contains("messages to authenticate") == true)
        #expect(server.requests.count == 9)
        #expect(!"\(String(describing: response.error))".contains("l0ve-lace"))
        await server.stop()
    }

    @Test(arguments: [
        "NTLM AAAA", "NTLM TlRMTVNTUAACAAAA", "NTLM !!!!", "NTLM " + String(repeating: "A", count: 100_000),
        "Basic realm=x",
    ])
    func aMalformedMessageEndsInTheRejection(challenge: String) async throws {
        let server = try await RawServer.start(scripts: [
            [.respond(Self.offer), .receiveAll],
            [
                .respond(Self.refusal(challenge, body: "broken")),
                .loop([.respond(Self.refusal("NTLM", body: "again"))]),
            ],
        ])
        let session = Session(transport: CurlTransport())
        let request = request(server, session)
        let response = await request.serializingString().response
        #expect(request.response?.statusCode == 401 || response.error != nil)
        #expect(server.requests.count <= 9)
        await server.stop()
    }

    @Test func aConnectionClosedBetweenMessagesFails() async throws {
        let server = try await RawServer.start(scripts: [
            [.respond(Self.offer), .receiveAll],
            [.respond(Self.refusal(Self.question, body: "provisional")), .receiveHead, .close],
        ])
        let session = Session(transport: CurlTransport())
        let response = await session.request(server.url, method: .post, parameters: ["a": "b"])
            .authenticate(username: "ada", password: "l0ve-lace").serializingString().response
        #expect(response.error != nil || response.response?.statusCode == 401)
        #expect(server.requests.count <= 9)
        await server.stop()
    }
}
