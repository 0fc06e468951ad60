import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// User names and passwords in URLs.
@Suite struct UserinfoTests {
    /// Expects the error of `authenticate(username:password:)` for credentials that Basic doesn't support.
    private func expectRefusal(_ error: AFError?, sourceLocation: SourceLocation = #_sourceLocation) throws {
        guard case .sessionTaskFailed(let cause as URLError) = error else {
            Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
            return
        }
        #expect(cause.code == .userAuthenticationRequired, sourceLocation: sourceLocation)
        let error = try #require(cause.userInfo[NSUnderlyingErrorKey] as? TransportError)
        #expect(error.code == .invalidCredential, sourceLocation: sourceLocation)
        #expect(error.phase == .queued, sourceLocation: sourceLocation)
    }

    @Test(
        arguments: TransportKind.allCases,
        ["us%3Aer:p", "us%00er:p", "user:p%0A", "user:p%0D%0AX-Evil:%201", "%C2%9B:p"])
    func unencodableUserinfoIsRejectedBeforeSending(kind: TransportKind, userinfo: String) async throws {
        let server = try await TestServer.start()
        let url = server.url("/get").absoluteString.replacing("://", with: "://\(userinfo)@")
        let session = kind.session()
        let request = session.request(url)
        let response = await request.serializingData().response
        try expectRefusal(response.error)
        #expect(!"\(response.error.debugDescription)".contains(userinfo))
        #expect(server.lastRequest(path: "/get") == nil)
        #expect(request.cURLDescription().hasPrefix("# No curl command"))
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases, [("ada:p%3Aw%40%27", "ada:p:w@'"), ("%C3%BC:", "ü:"), ("ada", "ada:")])
    func encodableUserinfoIsSent(kind: TransportKind, case pair: (userinfo: String, sent: String)) async throws {
        let server = try await TestServer.start()
        let url = server.url("/get").absoluteString.replacing("://", with: "://\(pair.userinfo)@")
        let session = kind.session()
        _ = await session.request(url).serializingData().response
        let sent = try #require(server.lastRequest(path: "/get"))
        #expect(sent.headers["authorization"] == "Basic \(Data(pair.sent.utf8).base64EncodedString())")
        await server.stop()
    }

    @Test(
        arguments: TransportKind.allCases,
        [("us:er", "hush"), ("us\0er", "hush"), ("user", "hush\r\n"), ("user", "\u{9B}hush")])
    func aHeaderWithUnencodableUserinfoIsRejected(
        kind: TransportKind, pair: (user: String, password: String)
    ) async throws {
        let server = try await TestServer.start()
        let header = HTTPHeader.authorization(username: pair.user, password: pair.password)
        #expect(header.value == "Basic")
        let url = server.url("/get")
        let (session, other) = (kind.session(), kind.session { $0.headers.update(header) })
        let requested = session.request(url, headers: [header])
        let adapted = session.request(
            url,
            interceptor: Adapter { request, _, completion in
                var request = request
                request.headers.update(header)
                completion(.success(request))
            })
        for request in [requested, adapted, other.request(url)] {
            try expectRefusal(await request.serializingData().response.error)
            #expect(request.cURLDescription().hasPrefix("# No curl command"))
        }
        let error = #expect(throws: AFError.self) { try URLRequest(url: url, method: .get, headers: [header]) }
        try expectRefusal(error)
        #expect(server.lastRequest(path: "/get") == nil)
        await server.stop()
    }

    @Test func theCallersHeaderTakesPrecedence() async throws {
        let server = try await TestServer.start()
        let url = server.url("/get").absoluteString.replacing("://", with: "://us%3Aer:p@")
        let session = TransportKind.platform.session()
        let response = await session.request(url, headers: [.authorization(bearerToken: "t")])
            .serializingData().response
        #expect(response.error == nil)
        #expect(server.lastRequest(path: "/get")?.headers["authorization"] == "Bearer t")
        await server.stop()
    }
}
