import Afar
import AfarOAuth
import AfarTestServer
import Foundation
import TestServers
import Testing

/// The listener for the browser's redirect.
@Suite(.timeLimit(.minutes(5)))
struct LoopbackListenerTests {
    private static func client(_ server: TestServer) -> OAuthClient {
        server.route("/token") { request in
            try .json(["access_token": formMembers(request)["code"] ?? "none", "token_type": "Bearer"])
        }
        return OAuthClient(
            id: "tool",
            server: OAuthServer(
                tokenEndpoint: server.url("/token"), authorizationEndpoint: server.url("/authorize")),
            session: Session())
    }

    private static func status(_ url: URL, method: HTTPMethod = .get, host: String? = nil) async -> Int? {
        var headers = HTTPHeaders()
        if let host { headers.add(name: "Host", value: host) }
        let session = Session()
        defer { withExtendedLifetime(session) {} }
        return await session.request(url, method: method, headers: headers).serializingData().response.response?
            .statusCode
    }

    private static func redirect(_ authorization: OAuthAuthorization, code: String) throws -> URL {
        let state = query(authorization.url)["state"] ?? ""
        return try #require(URL(string: "\(authorization.redirectURI)?code=\(code)&state=\(state)"))
    }

    @Test func aUserSignsInWithABrowser() async throws {
        let server = try await AuthlibServer()
        let listener = try OAuthLoopbackListener()
        let client = try await server.client("public")
        let authorization = try await client.authorization(redirectURI: listener.redirectURI, scope: "files")
        async let token = authorization.token(from: listener)
        // Follows the redirect to the listener.
        let page = try await server.session.request(authorization.url).validate().serializingString().value
        #expect(page == OAuthAuthorization.defaultPage)
        #expect(try await token.scope == "files")
    }

    @Test(arguments: [OAuthLoopbackListener.Address.ipv4, .ipv6])
    func otherRequestsAreAnswered(_ address: OAuthLoopbackListener.Address) async throws {
        let server = try await TestServer.start()
        let listener = try OAuthLoopbackListener(path: "/done", address: address)
        let authorization = try await Self.client(server).authorization(redirectURI: listener.redirectURI)
        async let token = authorization.token(from: listener)
        let redirect = try Self.redirect(authorization, code: "right")
        let base = try #require(URL(string: "/", relativeTo: listener.redirectURI))
        #expect(await Self.status(base.appending(path: "favicon.ico")) == 404)
        #expect(await Self.status(base.appending(path: "done/2")) == 404)
        #expect(await Self.status(redirect, method: .post) == 405)
        #expect(await Self.status(redirect, host: "evil.example") == 400)
        let forged = try #require(URL(string: "\(listener.redirectURI)?code=wrong&state=wrong"))
        #expect(await Self.status(forged) == 400)
        #expect(await Self.status(redirect) == 200)
        #expect(try await token.accessToken == "right")
        // The listener is closed.
        #expect(await Self.status(redirect) == nil)
        await #expect(throws: OAuthError.self) { _ = try await authorization.token(from: listener) }
        await server.stop()
    }

    @Test func hostileConnectionsDoNotPreventTheRedirect() async throws {
        let server = try await TestServer.start()
        let listener = try OAuthLoopbackListener()
        let authorization = try await Self.client(server).authorization(redirectURI: listener.redirectURI)
        let port = UInt16(try #require(listener.redirectURI.port))
        let hostile = [
            Data(repeating: 65, count: 100_000), Data("GET /callback".utf8), Data(),
            Data("\r\n\r\n".utf8), Data([0xFF, 0xFE, 0, 13, 10, 13, 10]), Data("GET /callback HTTP/1.1\r\n\r\n".utf8),
            Data("GET http://evil.example/callback HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n".utf8),
        ]
        let connections = hostile.map { data in
            let connection = Self.connect(port)
            data.withUnsafeBytes {
                _ = send(
                    connection.file.fileDescriptor, $0.baseAddress, $0.count,
                    Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            return connection
        }
        async let token = authorization.token(from: listener)
        #expect(await Self.status(try Self.redirect(authorization, code: "right")) == 200)
        #expect(try await token.accessToken == "right")
        withExtendedLifetime(connections) {}
        await server.stop()
    }

    private static func connect(_ port: UInt16, address: UInt32 = 0x7F00_0001) -> Connection {
        let socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = port.bigEndian
        target.sin_addr.s_addr = address.bigEndian
        let result = withUnsafePointer(to: &target) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return Connection(file: FileHandle(fileDescriptor: socket, closeOnDealloc: true), isConnected: result == 0)
    }

    private struct Connection {
        let file: FileHandle
        let isConnected: Bool
    }

    @Test func aWaitTimesOut() async throws {
        let server = try await TestServer.start()
        let listener = try OAuthLoopbackListener()
        let authorization = try await Self.client(server).authorization(redirectURI: listener.redirectURI)
        let error = await #expect(throws: OAuthError.self) {
            _ = try await authorization.token(from: listener, timeout: .milliseconds(50))
        }
        guard case .redirectTimedOut = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(await Self.status(try Self.redirect(authorization, code: "late")) == nil)
        await server.stop()
    }

    @Test func aWaitCanBeCanceledOrClosed() async throws {
        let server = try await TestServer.start()
        for isClosed in [false, true] {
            let listener = try OAuthLoopbackListener()
            let authorization = try await Self.client(server).authorization(redirectURI: listener.redirectURI)
            let task = Task { try await authorization.token(from: listener) }
            if isClosed { listener.close() } else { task.cancel() }
            let error = await #expect(throws: OAuthError.self) { _ = try await task.value }
            switch error {
            case .cancelled where !isClosed, .listenerFailed where isClosed: break
            default: Issue.record("\(String(describing: error))")
            }
        }
        await server.stop()
    }

    @Test func aPortInUseIsAnError() throws {
        let listener = try OAuthLoopbackListener()
        let port = UInt16(try #require(listener.redirectURI.port))
        #expect(throws: OAuthError.self) { _ = try OAuthLoopbackListener(port: port) }
        #expect(throws: OAuthError.self) { _ = try OAuthLoopbackListener(path: "callback") }
        // A socket that is bound to all addresses accepts connections to this one, too.
        #expect(Self.connect(port).isConnected)
        #expect(!Self.connect(port, address: 0x7F00_0002).isConnected)
        withExtendedLifetime(listener) {}
    }
}
