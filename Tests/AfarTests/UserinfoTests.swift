import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// A user name and a password in a URL.
@Suite struct UserinfoTests {
    @Test(
        arguments: TransportKind.allCases,
        ["us%3Aer:p", "us%00er:p", "user:p%0A", "user:p%0D%0AX-Evil:%201", "%C2%9B:p"])
    func whatBasicCannotCarryIsRefusedBeforeAnythingIsSent(kind: TransportKind, userinfo: String) async throws {
        let server = try await TestServer.start()
        let url = server.url("/get").absoluteString.replacing("://", with: "://\(userinfo)@")
        let session = kind.session()
        let request = session.request(url)
        let response = await request.serializingData().response
        // The error that authenticate(username:password:) brings for such a pair.
        guard case .sessionTaskFailed(let cause as URLError) = response.error else {
            Issue.record("\(String(describing: response.error))")
            return
        }
        #expect(cause.code == .userAuthenticationRequired)
        let error = try #require(cause.userInfo[NSUnderlyingErrorKey] as? TransportError)
        #expect(error.code == .invalidCredential)
        #expect(error.phase == .queued)
        #expect(!"\(response.error.debugDescription) \(cause)".contains(userinfo))
        #expect(server.lastRequest(path: "/get") == nil)
        #expect(request.cURLDescription().hasPrefix("# There is no curl command"))
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases, [("ada:p%3Aw%40%27", "ada:p:w@'"), ("%C3%BC:", "ü:"), ("ada", "ada:")])
    func whatItCanCarryIsSent(kind: TransportKind, case pair: (userinfo: String, sent: String)) async throws {
        let server = try await TestServer.start()
        let url = server.url("/get").absoluteString.replacing("://", with: "://\(pair.userinfo)@")
        let session = kind.session()
        _ = await session.request(url).serializingData().response
        let sent = try #require(server.lastRequest(path: "/get"))
        #expect(sent.headers["authorization"] == "Basic \(Data(pair.sent.utf8).base64EncodedString())")
        await server.stop()
    }

    @Test func aHeaderOfTheCallersCountsInstead() async throws {
        let server = try await TestServer.start()
        let url = server.url("/get").absoluteString.replacing("://", with: "://us%3Aer:p@")
        let session = TransportKind.curl.session()
        let response = await session.request(url, headers: [.authorization(bearerToken: "t")])
            .serializingData().response
        #expect(response.error == nil)
        #expect(server.lastRequest(path: "/get")?.headers["authorization"] == "Bearer t")
        await server.stop()
    }
}
