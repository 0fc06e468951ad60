import AfarTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarCore

@Suite struct AuthenticationInterceptorTests {
    private struct Offline: Error {}
    private typealias Tokens = AuthenticationInterceptor<TokenAuthenticator>

    /// Creates a service that responds with 401 unless the request contains the given token.
    private static func service(wants token: String) -> MockTransport {
        MockTransport { request in
            request.fields[.authorization] == "Bearer \(token)" ? .text("welcome") : .status(401)
        }
    }

    private func send(_ session: Session) async -> DataResponse<Data, AFError> {
        await session.request("http://mock/").validate().serializingResponse(using: Bytes()).response
    }

    // MARK: Before a request

    @Test func theCredentialIsAppliedToTheRequest() async {
        let authenticator = TokenAuthenticator { _, _ in }
        let interceptor = Tokens(authenticator: authenticator, credential: Token(text: "good"))
        let session = Session(interceptor: interceptor, transport: Self.service(wants: "good"))
        #expect(await send(session).value == Data("welcome".utf8))
        #expect(authenticator.refreshCount == 0)
    }

    @Test func withoutACredentialNothingIsSent() async {
        let transport = Self.service(wants: "good")
        let interceptor = Tokens(authenticator: TokenAuthenticator { _, _ in })
        let session = Session(interceptor: interceptor, transport: transport)
        let error = await send(session).error
        guard case .requestAdaptationFailed(AuthenticationError.missingCredential) = error else {
            Issue.record("not a missing credential: \(String(describing: error))")
            return
        }
        #expect(transport.requests.isEmpty)
        interceptor.credential = Token(text: "good")
        #expect(interceptor.credential?.text == "good")
        #expect(await send(session).value == Data("welcome".utf8))
    }

    @Test func aCredentialThatRequiresItIsRefreshedFirst() async {
        let authenticator = TokenAuthenticator { _, completion in completion(.success(Token(text: "good"))) }
        let interceptor = Tokens(
            authenticator: authenticator, credential: Token(text: "expired", requiresRefresh: true))
        let transport = Self.service(wants: "good")
        let session = Session(interceptor: interceptor, transport: transport)
        #expect(await send(session).value == Data("welcome".utf8))
        #expect(authenticator.refreshCount == 1)
        #expect(transport.requests.count == 1)
        #expect(interceptor.credential?.text == "good")
    }

    /// A service can issue credentials whose lifetime is shorter than the refresh margin.
    @Test func aFreshCredentialIsUsedEvenIfItRequiresARefresh() async {
        let authenticator = TokenAuthenticator { _, completion in
            completion(.success(Token(text: "good", requiresRefresh: true)))
        }
        let interceptor = Tokens(
            authenticator: authenticator, credential: Token(text: "expired", requiresRefresh: true))
        let session = Session(interceptor: interceptor, transport: Self.service(wants: "good"))
        #expect(await send(session).error == nil)
        #expect(authenticator.refreshCount == 1)
    }

    // Serialized, because two blocked tests could use up the cooperative pool.
    @Test(.serialized, arguments: [nil, DispatchQueue(label: "requests")])
    func aRefreshCanBlockOnARequestOfTheSameSession(requestQueue: DispatchQueue?) async {
        let transport = MockTransport { request in
            let isWelcome = request.path == "/token" || request.fields[.authorization] == "Bearer good"
            return isWelcome ? .text("welcome") : .status(401)
        }
        let session = Session(requestQueue: requestQueue, interceptor: Scripted(), transport: transport)
        let authenticator = TokenAuthenticator { _, completion in
            let isAnswered = DispatchSemaphore(value: 0)
            session.request("http://mock/token").response(queue: .global()) { _ in isAnswered.signal() }
            let isInTime = isAnswered.wait(timeout: .now() + 60) == .success
            completion(isInTime ? .success(Token(text: "good")) : .failure(Offline()))
        }
        let interceptor = Tokens(
            authenticator: authenticator, credential: Token(text: "expired", requiresRefresh: true))
        let response = await session.request("http://mock/", interceptor: interceptor).validate()
            .serializingResponse(using: Bytes()).response
        #expect(response.value == Data("welcome".utf8))
    }

    @Test func requestsWaitForARunningRefresh() async {
        let asked = Deferred<@Sendable (Result<Token, any Error>) -> Void>()
        let authenticator = TokenAuthenticator { _, completion in asked.fulfill(completion) }
        let interceptor = Tokens(
            authenticator: authenticator, credential: Token(text: "expired", requiresRefresh: true))
        let transport = Self.service(wants: "good")
        let session = Session(interceptor: interceptor, transport: transport)
        let tasks = (0..<20).map { _ in
            session.request("http://mock/").validate().serializingResponse(using: Bytes())
        }
        let answer = await asked.value
        #expect(transport.requests.isEmpty)
        answer(.success(Token(text: "good")))
        for task in tasks { #expect(await task.response.error == nil) }
        #expect(authenticator.refreshCount == 1)
        #expect(transport.requests.count == 20)
    }

    @Test func aFailedRefreshFailsAllWaitingRequests() async {
        let asked = Deferred<@Sendable (Result<Token, any Error>) -> Void>()
        let authenticator = TokenAuthenticator { _, completion in asked.fulfill(completion) }
        let interceptor = Tokens(
            authenticator: authenticator, credential: Token(text: "expired", requiresRefresh: true))
        let transport = Self.service(wants: "good")
        let session = Session(interceptor: interceptor, transport: transport)
        let tasks = (0..<20).map { _ in
            session.request("http://mock/").validate().serializingResponse(using: Bytes())
        }
        await asked.value(.failure(Offline()))
        for task in tasks {
            let error = await task.response.error
            #expect(error?.isRequestAdaptationError == true)
            #expect(error?.underlyingError is Offline)
        }
        #expect(authenticator.refreshCount == 1)
        #expect(transport.requests.isEmpty)
    }

    // MARK: After a rejection

    @Test func aRejectedCredentialIsRefreshedAndTheRequestRetried() async {
        let authenticator = TokenAuthenticator { old, completion in completion(.success(Token(text: old.text + "!"))) }
        let interceptor = Tokens(authenticator: authenticator, credential: Token(text: "good"))
        let transport = Self.service(wants: "good!")
        let session = Session(transport: transport)
        let request = session.request("http://mock/", interceptor: interceptor).validate()
        #expect(await request.serializingResponse(using: Bytes()).response.value == Data("welcome".utf8))
        #expect(request.retryCount == 1)
        #expect(authenticator.refreshCount == 1)
    }

    @Test func otherFailuresAreIgnored() async {
        let authenticator = TokenAuthenticator { _, _ in }
        let interceptor = Tokens(authenticator: authenticator, credential: Token(text: "good"))
        let session = Session(interceptor: interceptor, transport: MockTransport { _ in .status(403) })
        #expect(await send(session).error?.responseCode == 403)
        let unreachable = Session(interceptor: interceptor, transport: MockTransport { _ in .failure(.cannotConnect) })
        #expect(await send(unreachable).error?.isSessionTaskError == true)
        #expect(authenticator.refreshCount == 0)
    }

    @Test func aRefreshThatFailsIsTheRetriersError() async {
        let authenticator = TokenAuthenticator { _, completion in completion(.failure(Offline())) }
        let interceptor = Tokens(authenticator: authenticator, credential: Token(text: "bad"))
        let session = Session(interceptor: interceptor, transport: Self.service(wants: "good"))
        let error = await send(session).error
        guard case .requestRetryFailed(let retryError, let originalError) = error else {
            Issue.record("not the retrier's error: \(String(describing: error))")
            return
        }
        #expect(retryError is Offline)
        #expect(originalError.asAFError?.responseCode == 401)
    }

    @Test func aRequestWithAnOutdatedCredentialIsRetriedImmediately() async {
        let asked = Deferred<Void>()
        let door = Deferred<Void>()
        let transport = MockTransport { request in
            guard request.fields[.authorization] != "Bearer good" else { return .text("welcome") }
            asked.fulfill(())
            await door.value
            return .status(401)
        }
        let authenticator = TokenAuthenticator { _, _ in }
        let interceptor = Tokens(authenticator: authenticator, credential: Token(text: "old"))
        let session = Session(interceptor: interceptor, transport: transport)
        let request = session.request("http://mock/").validate()
        let task = request.serializingResponse(using: Bytes())
        await asked.value
        interceptor.credential = Token(text: "good")
        door.fulfill(())
        #expect(await task.response.value == Data("welcome".utf8))
        #expect(request.retryCount == 1)
        #expect(authenticator.refreshCount == 0)
    }

    /// A request lacks the credential if an adapter after the interceptor replaced it, or if the request wasn't
    /// adapted.
    @Test func aRequestWithoutTheCredentialIsRetriedOnceBeforeARefresh() async {
        let asked = Locked(0)
        let transport = MockTransport { request in
            request.fields[.authorization] == "Bearer good" ? .text("welcome") : .status(401)
        }
        let authenticator = TokenAuthenticator { _, completion in completion(.success(Token(text: "fresh"))) }
        let interceptor = Tokens(authenticator: authenticator, credential: Token(text: "good"))
        let forgetful = Adapter { urlRequest, _, completion in
            var urlRequest = urlRequest
            let isFirst = asked.withLock { count in
                count += 1
                return count == 1
            }
            if isFirst { urlRequest.headers.remove(name: "Authorization") }
            completion(.success(urlRequest))
        }
        let session = Session(interceptor: interceptor, transport: transport)
        let request = session.request("http://mock/").adapt(using: forgetful).validate()
        #expect(await request.serializingResponse(using: Bytes()).response.value == Data("welcome".utf8))
        #expect(request.retryCount == 1)
        #expect(authenticator.refreshCount == 0)
        #expect(interceptor.credential?.text == "good")
    }

    @Test func aRetryByAnotherRetrierDoesNotCauseARefresh() async {
        let asked = Deferred<Void>()
        let door = Deferred<Void>()
        let count = Locked(0)
        let transport = MockTransport { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number > 1 else { return .status(503) }
            guard request.fields[.authorization] != "Bearer good" else { return .text("welcome") }
            asked.fulfill(())
            await door.value
            return .status(401)
        }
        let authenticator = TokenAuthenticator { old, completion in completion(.success(Token(text: old.text + "!"))) }
        let interceptor = Tokens(authenticator: authenticator, credential: Token(text: "old"))
        let policy = RetryPolicy(retryLimit: 1, exponentialBackoffScale: 0.001)
        let session = Session(
            interceptor: Interceptor(interceptors: [policy, interceptor]), transport: transport)
        let request = session.request("http://mock/").validate()
        let task = request.serializingResponse(using: Bytes())
        await asked.value
        interceptor.credential = Token(text: "good")
        door.fulfill(())
        #expect(await task.response.value == Data("welcome".utf8))
        #expect(request.retryCount == 2)
        #expect(authenticator.refreshCount == 0)
    }

    /// After a failed refresh, an older request whose credential is rejected fails with the refresh's error, even if
    /// another retrier has retried that request in between.
    @Test func aRetryByAnotherRetrierKeepsAFailedRefresh() async {
        let held = Deferred<Void>()
        let door = Deferred<Void>()
        let count = Locked(0)
        let transport = MockTransport { request in
            guard request.url == "http://mock/slow" else { return .status(401) }
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number == 1 else { return .status(401) }
            held.fulfill(())
            await door.value
            return .status(503)
        }
        let authenticator = TokenAuthenticator { _, completion in completion(.failure(Offline())) }
        let interceptor = Tokens(authenticator: authenticator, credential: Token(text: "bad"))
        let policy = RetryPolicy(retryLimit: 1, exponentialBackoffScale: 0.001)
        let session = Session(
            interceptor: Interceptor(interceptors: [policy, interceptor]), transport: transport)
        let slow = session.request("http://mock/slow").validate()
        let task = slow.serializingResponse(using: Bytes())
        await held.value
        #expect(await send(session).error?.isRequestRetryError == true)
        door.fulfill(())
        #expect(await task.response.error?.isRequestRetryError == true)
        #expect(slow.retryCount == 1)
        #expect(authenticator.refreshCount == 1)
    }

    /// A request that failed with the error of a refresh can start another refresh if another retrier retries it.
    @Test func aRetrierCanRepeatAFailedRefresh() async {
        let isBack = Locked(false)
        let authenticator = TokenAuthenticator { _, completion in
            let answer: Result<Token, any Error> = isBack.withLock { isBack in
                defer { isBack = true }
                return isBack ? .success(Token(text: "good")) : .failure(URLError(.networkConnectionLost))
            }
            completion(answer)
        }
        let interceptor = Tokens(
            authenticator: authenticator, credential: Token(text: "expired", requiresRefresh: true))
        let policy = RetryPolicy(retryLimit: 1, exponentialBackoffScale: 0.001)
        let session = Session(
            interceptor: Interceptor(interceptors: [interceptor, policy]), transport: Self.service(wants: "good"))
        #expect(await send(session).value == Data("welcome".utf8))
        #expect(authenticator.refreshCount == 2)
    }

    @Test func aServiceThatRejectsEveryNewCredentialExhaustsTheLimit() async {
        let authenticator = TokenAuthenticator { old, completion in completion(.success(Token(text: old.text + "!"))) }
        let interceptor = Tokens(
            authenticator: authenticator, credential: Token(text: "bad"),
            refreshWindow: .init(interval: 600, maximumAttempts: 3))
        let session = Session(interceptor: interceptor, transport: MockTransport { _ in .status(401) })
        let request = session.request("http://mock/").validate()
        let error = await request.serializingResponse(using: Bytes()).response.error
        guard case .requestRetryFailed(AuthenticationError.excessiveRefresh, _) = error else {
            Issue.record("not too many refreshes: \(String(describing: error))")
            return
        }
        #expect(authenticator.refreshCount == 3)
        #expect(request.retryCount == 3)
    }

    @Test func anAuthenticatorThatNeverRecognizesItsCredentialExhaustsTheLimit() async {
        let authenticator = TokenAuthenticator(recognizes: false) { old, completion in completion(.success(old)) }
        let interceptor = Tokens(authenticator: authenticator, credential: Token(text: "bad"))
        let session = Session(interceptor: interceptor, transport: MockTransport { _ in .status(401) })
        let error = await send(session).error
        guard case .requestRetryFailed(AuthenticationError.excessiveRefresh, _) = error else {
            Issue.record("not too many refreshes: \(String(describing: error))")
            return
        }
        #expect(authenticator.refreshCount == 5)
    }

    @Test func tooManyRefreshesAlsoFailARequestBeforeItIsSent() async {
        let authenticator = TokenAuthenticator { _, completion in completion(.failure(Offline())) }
        let interceptor = Tokens(
            authenticator: authenticator, credential: Token(text: "expired", requiresRefresh: true),
            refreshWindow: .init(interval: 600, maximumAttempts: 0))
        let session = Session(interceptor: interceptor, transport: Self.service(wants: "good"))
        let error = await send(session).error
        guard case .requestAdaptationFailed(AuthenticationError.excessiveRefresh) = error else {
            Issue.record("not too many refreshes: \(String(describing: error))")
            return
        }
        #expect(authenticator.refreshCount == 0)
    }

    @Test func withoutAWindowThereIsNoLimit() async {
        let authenticator = TokenAuthenticator { old, completion in completion(.success(Token(text: old.text + "!"))) }
        let interceptor = Tokens(
            authenticator: authenticator, credential: Token(text: "bad"), refreshWindow: nil)
        let session = Session(interceptor: interceptor, transport: Self.service(wants: "bad!!!!!!!!"))
        #expect(await send(session).error == nil)
        #expect(authenticator.refreshCount == 8)
    }

    // MARK: Repeated completions and released sessions

    @Test func aSecondCompletionOfARefreshIsIgnored() async {
        let authenticator = TokenAuthenticator { _, completion in
            completion(.success(Token(text: "good")))
            completion(.failure(Offline()))
            completion(.success(Token(text: "other")))
        }
        let interceptor = Tokens(authenticator: authenticator, credential: Token(text: "bad"))
        let session = Session(interceptor: interceptor, transport: Self.service(wants: "good"))
        #expect(await send(session).error == nil)
        #expect(interceptor.credential?.text == "good")
    }

    @Test(arguments: [true, false])
    func aCancelledRequestNeitherWaitsNorDelaysOthers(requiresRefresh: Bool) async {
        let asked = Deferred<@Sendable (Result<Token, any Error>) -> Void>()
        let authenticator = TokenAuthenticator { _, completion in asked.fulfill(completion) }
        let interceptor = Tokens(
            authenticator: authenticator, credential: Token(text: "bad", requiresRefresh: requiresRefresh))
        let session = Session(interceptor: interceptor, transport: Self.service(wants: "good"))
        let first = session.request("http://mock/").validate().serializingResponse(using: Bytes())
        let answer = await asked.value
        let second = session.request("http://mock/").validate().serializingResponse(using: Bytes())
        first.cancel()
        #expect(await first.response.error?.isExplicitlyCancelledError == true)
        answer(.success(Token(text: "good")))
        #expect(await second.response.error == nil)
        #expect(authenticator.refreshCount == 1)
    }

    @Test(arguments: [true, false])
    func cancellationAndInvalidationEndAWaitForARefresh(requiresRefresh: Bool) async {
        let asked = Deferred<Void>()
        let authenticator = TokenAuthenticator { _, _ in asked.fulfill(()) }
        let interceptor = Tokens(
            authenticator: authenticator, credential: Token(text: "bad", requiresRefresh: requiresRefresh))
        var session: Session? = Session(interceptor: interceptor, transport: Self.service(wants: "good"))
        let first = session?.request("http://mock/").validate().serializingResponse(using: Bytes())
        let second = session?.request("http://mock/").validate().serializingResponse(using: Bytes())
        await asked.value
        first?.cancel()
        #expect(await first?.response.error?.isExplicitlyCancelledError == true)
        session = nil
        #expect(await second?.response.error?.isSessionDeinitializedError == true)
    }

    @Test func anUnansweredRefreshIsReleasedWithItsInterceptor() async {
        weak var credential: Ticket?
        do {
            let ticket = Ticket()
            credential = ticket
            let office = TicketOffice()
            let session = Session(
                interceptor: AuthenticationInterceptor(authenticator: office, credential: ticket),
                transport: MockTransport { _ in .status(401) })
            let task = session.request("http://mock/").validate().serializingResponse(using: Bytes())
            await office.requested.value
            task.cancel()
            _ = await task.response
        }
        for _ in 0..<5_000 where credential != nil { try? await Task.sleep(for: .milliseconds(1)) }
        #expect(credential == nil)
    }

    @Test func settingACredentialReleasesWaitingRequests() async {
        let asked = Deferred<@Sendable (Result<Token, any Error>) -> Void>()
        let authenticator = TokenAuthenticator { _, completion in asked.fulfill(completion) }
        let interceptor = Tokens(authenticator: authenticator, credential: Token(text: "bad"))
        let session = Session(interceptor: interceptor, transport: Self.service(wants: "good"))
        let task = session.request("http://mock/").validate().serializingResponse(using: Bytes())
        let answer = await asked.value
        interceptor.credential = Token(text: "good")
        #expect(await task.response.error == nil)
        answer(.success(Token(text: "late")))
        #expect(interceptor.credential?.text == "good")
    }

    @Test func signingOutDuringARefreshFailsWaitingRequestsPermanently() async {
        let asked = Deferred<@Sendable (Result<Token, any Error>) -> Void>()
        let authenticator = TokenAuthenticator { _, completion in asked.fulfill(completion) }
        let interceptor = Tokens(authenticator: authenticator, credential: Token(text: "bad"))
        let session = Session(interceptor: interceptor, transport: Self.service(wants: "good"))
        let task = session.request("http://mock/").validate().serializingResponse(using: Bytes())
        let answer = await asked.value
        interceptor.credential = nil
        guard case .requestRetryFailed(AuthenticationError.missingCredential, _) = await task.response.error else {
            Issue.record("not a missing credential")
            return
        }
        answer(.success(Token(text: "late")))
        #expect(interceptor.credential == nil)
    }

    @Test func aReplacedCredentialIsReleasedOutsideTheLock() async {
        let interceptor = AuthenticationInterceptor(authenticator: TicketOffice())
        let didLook = Deferred<Bool>()
        interceptor.credential = Ticket(probe: DeinitProbe(didLook) { _ = interceptor.credential })
        interceptor.credential = Ticket()
        #expect(await didLook.value)
    }
}
