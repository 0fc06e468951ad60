import AfarTesting
import Foundation
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests with a credential.
struct RequestAuthenticationTests {
    private let answer = "Basic YWRhOnNlY3JldA=="

    /// Creates a transport that requires a credential for every request.
    private func locked() -> MockTransport {
        MockTransport { request in
            guard request["Authorization"] == nil else {
                return request.path == "/away" ? .redirect(307, to: "http://two/") : .text("in")
            }
            return .challenge("Basic realm=x")
        }
    }

    @Test func eachOverloadSetsTheCredential() async throws {
        let mock = locked()
        let session = Session(transport: mock)
        let credential = URLCredential(user: "ada", password: "secret", persistence: .none)
        let requests = [
            session.request("http://one/").authenticate(username: "ada", password: "secret"),
            session.request("http://one/").authenticate(username: "ada", password: "secret", persistence: .permanent),
            session.request("http://one/").authenticate(with: credential),
            session.request("http://one/").authenticate(username: "eve", password: "x").authenticate(with: credential),
        ]
        for request in requests {
            #expect(request.credential?.user == "ada")
            #expect(try await request.serializingResponse(using: Bytes()).value == Data("in".utf8))
            #expect(request.metrics?.transactionMetrics.count == 2)
            #expect(request.metrics?.redirectCount == 0)
        }
        #expect(mock.requests.map { $0["Authorization"] } == Array(repeating: [nil, answer], count: 4).flatMap { $0 })
        #expect(session.request("http://one/").credential == nil)
    }

    @Test func credentialsAreNotSentAfterACrossOriginRedirect() async throws {
        let mock = locked()
        let session = Session(transport: mock)
        let request = session.request("http://one/away").authenticate(username: "ada", password: "secret")
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(request.response?.statusCode == 401)
        #expect(mock.requests.map(\.url) == ["http://one/away", "http://one/away", "http://two/"])
        #expect(mock.requests.map { $0["Authorization"] } == [nil, answer, nil])
    }

    @Test func delegatesCannotSendTheCredentialElsewhere() async throws {
        for handsOver in [true, false] {
            let mock = locked()
            let delegate = SessionDelegate()
            let proposed = Locked<[String?]>([])
            delegate.taskDidReceiveChallenge = { _, _, challenge in
                proposed.withLock { $0.append(challenge.proposedCredential?.user) }
                return handsOver ? (.useCredential, challenge.proposedCredential) : (.performDefaultHandling, nil)
            }
            let session = Session(delegate: delegate, transport: mock)
            let request = session.request("http://one/away").authenticate(username: "ada", password: "secret")
            _ = await request.serializingResponse(using: Bytes()).response
            #expect(proposed.withLock { $0 } == ["ada", nil])
            #expect(mock.requests.map { $0["Authorization"] } == [nil, answer, nil])
            #expect(request.response?.statusCode == 401)
        }
    }

    @Test func aSameOriginRedirectIsAuthenticated() async throws {
        let mock = MockTransport { request in
            if request.path == "/a" { return .redirect(to: "/b") }
            return request["Authorization"] == nil ? .challenge("Basic realm=x") : .text("in")
        }
        let session = Session(transport: mock)
        let request = session.request("http://one/a").authenticate(username: "ada", password: "secret")
        #expect(try await request.serializingResponse(using: Bytes()).value == Data("in".utf8))
        #expect(request.metrics?.transactionMetrics.count == 3)
        #expect(request.metrics?.redirectCount == 1)
    }

    @Test func eachAttemptIsAnswered() async throws {
        let mock = locked()
        let session = Session(transport: mock)
        let interceptor = Scripted(retrying: { request, answer in
            answer(request.retryCount == 0 ? .retry : .doNotRetry)
        })
        let request = session.request("http://one/", interceptor: interceptor)
            .authenticate(username: "ada", password: "secret").validate(statusCode: [500])
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(mock.requests.map { $0["Authorization"] } == [nil, answer, nil, answer])
    }

    @Test func aUserNameWithAColonFailsTheRequest() async throws {
        let session = Session(transport: locked())
        let request = session.request("http://one/").authenticate(username: "a:b", password: "hush")
        let error = await request.serializingResponse(using: Bytes()).response.error
        #expect((error?.underlyingError as? URLError)?.code == .userAuthenticationRequired)
        #expect(error?.localizedDescription.contains("colon") == true)
        #expect(error?.localizedDescription.contains("hush") == false)
    }
}
