import Afar
import AfarTestServer
import Testing

/// Redirect handlers and credentials, as in code for Alamofire 5 and 4.x.
@Suite struct RedirectTests {
    final class StayHere: RedirectHandler {
        func task(
            _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
            completion: @escaping (URLRequest?) -> Void
        ) {
            completion(request.url?.host == response.url?.host ? request : nil)
        }
    }

    @Test func handlersCanBeSetOnSessionsAndRequests() async throws {
        let server = try await TestServer.start()
        let session = Session(redirectHandler: Redirector.doNotFollow)
        let url = server.url.appendingPathComponent("redirect/2")
        let refused = await session.request(url).serializingData(emptyResponseCodes: [302]).response
        #expect(refused.response?.statusCode == 302)
        #expect(session.redirectHandler is Redirector)
        let forms: [DataRequest] = [
            session.request(url).redirect(using: Redirector.follow), session.request(url).redirect(using: .follow),
            session.request(url).redirect(using: StayHere()),
            session.request(url).redirect(using: Redirector(behavior: .modify { task, request, response in request })),
            session.request(url).redirect(using: .modify { _, request, _ in request }),
        ]
        for request in forms {
            #expect(await request.validate().serializingData().response.response?.statusCode == 200)
        }
    }

    @Test func credentialsCanBeSetInEachForm() async throws {
        let server = try await TestServer.start()
        let url = server.url.appendingPathComponent("basic-auth/user/password")
        let credential = URLCredential(user: "user", password: "password", persistence: .forSession)
        let forms: [DataRequest] = [
            AF.request(url).authenticate(username: "user", password: "password"),
            AF.request(url).authenticate(username: "user", password: "password", persistence: .none),
            AF.request(url).authenticate(with: credential),
        ]
        for request in forms {
            #expect(request.credential == credential || request.credential?.user == "user")
            #expect(await request.validate().serializingData().response.response?.statusCode == 200)
        }
    }
}
