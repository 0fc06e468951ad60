import AfarTesting
import Foundation
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The timing and contents of curl descriptions, including their secrets.
@Suite struct CURLDescriptionTests {
    private let queue = DispatchQueue(label: "descriptions")

    /// Creates a session without default headers.
    private func session(_ interceptor: (any RequestInterceptor)? = nil) -> Session {
        var configuration = SessionConfiguration.default
        configuration.headers = ["User-Agent": "test"]
        return Session(
            configuration: configuration, interceptor: interceptor, transport: MockTransport { _ in .text("ok") })
    }

    @Test func noCommandExistsBeforeTheURLRequestIsCreated() async {
        let request = session().request("http://mock/")
        #expect(request.cURLDescription() == "# No curl command: the URLRequest has not been created.")
        request.cancel()
    }

    @Test func theCommandIsOneReadableLine() async {
        let session = session()
        let request = session.request("http://mock/a?b=c&d=e#f", method: .post, headers: ["X-It's": "mine"]) {
            $0.httpBody = Data("a=\"b\"".utf8)
        }
        _ = await request.serializingResponse(using: Bytes()).response
        let expected =
            #"curl -H 'User-Agent: test' -H 'X-It'\''s: mine' -H Content-Type: --data-raw 'a="b"' "#
            + "--location 'http://mock/a?b=c&d=e'"
        #expect(request.cURLDescription() == expected)
    }

    @Test func secretsAreHiddenOnRequest() async throws {
        let session = session()
        let request = session.request(
            "http://ada:hush1@mock/", headers: ["Authorization": "Bearer hush2", "Cookie": "a=hush3"])
        let reported = Deferred<String>()
        request.cURLDescription(on: queue, redactingSecrets: true) { reported.fulfill($0) }
        var iterator = request.cURLDescriptions(redactingSecrets: true).makeAsyncIterator()
        _ = await request.serializingResponse(using: Bytes()).response
        let hidden = request.cURLDescription(redactingSecrets: true)
        #expect(!hidden.contains("hush"))
        #expect(hidden.contains("Bearer ***"))
        #expect(hidden.contains("http://***@mock/"))
        #expect(await reported.value == hidden)
        #expect(await iterator.next() == hidden)
        for number in 1...3 { #expect(request.cURLDescription().contains("hush\(number)")) }
    }

    @Test func theCommandIncludesRedirectsAndCredentials() async throws {
        var configuration = SessionConfiguration.default
        configuration.headers = []
        configuration.maximumRedirects = 3
        let session = Session(configuration: configuration, transport: MockTransport { _ in .text("ok") })
        func command(_ request: DataRequest, redactingSecrets: Bool = false) async -> String {
            _ = await request.serializingResponse(using: Bytes()).response
            return request.cURLDescription(redactingSecrets: redactingSecrets)
        }
        let start = "curl -H User-Agent: "
        #expect(await command(session.request("http://mock/")) == start + "--location --max-redirs 3 http://mock/")
        #expect(
            await command(session.request("http://mock/").redirect(using: .doNotFollow)) == start + "http://mock/")
        let request = { session.request("http://mock/").redirect(using: .doNotFollow) }
        let known = request().authenticate(username: "ada", password: "it's hush")
        #expect(await command(known) == start + #"-u 'ada:it'\''s hush' http://mock/"#)
        #expect(await command(known, redactingSecrets: true) == start + "-u '***' http://mock/")
        #expect(await command(request().authenticate(username: "a:b", password: "c")) == start + "http://mock/")
    }

    @Test func everyClosureIsCalledOnceOnItsQueue() async {
        let interceptor = Scripted(
            adapting: { urlRequest, answer in
                var urlRequest = urlRequest
                urlRequest.setValue("yes", forHTTPHeaderField: "Adapted")
                answer(.success(urlRequest))
            },
            retrying: { request, answer in answer(request.retryCount == 0 ? .retry : .doNotRetry) })
        let session = session(interceptor)
        let reported = Locked<[String]>([])
        let request = session.request("http://mock/").validate(statusCode: [500])
        for _ in 0..<2 {
            request.cURLDescription(on: queue) { description in
                dispatchPrecondition(condition: .onQueue(queue))
                reported.withLock { $0.append(description) }
            }
        }
        request.cURLDescription { description in
            dispatchPrecondition(condition: .onQueue(session.rootQueue))
            reported.withLock { $0.append(description) }
        }
        let response = await request.serializingResponse(using: Bytes()).response
        #expect(response.error != nil)
        request.cURLDescription(on: queue) { description in reported.withLock { $0.append(description) } }
        queue.sync {}
        session.rootQueue.sync {}
        #expect(request.retryCount == 1)
        #expect(
            reported.withLock { $0 }
                == Array(repeating: "curl -H 'User-Agent: test' -H 'Adapted: yes' --location http://mock/", count: 4))
    }

    @Test func aStreamYieldsOneCommandPerAttempt() async {
        let attempts = Locked(0)
        let interceptor = Scripted(
            adapting: { urlRequest, answer in
                var urlRequest = urlRequest
                attempts.withLock { $0 += 1 }
                urlRequest.setValue("\(attempts.withLock { $0 })", forHTTPHeaderField: "Attempt")
                answer(.success(urlRequest))
            },
            retrying: { request, answer in answer(request.retryCount == 0 ? .retry : .doNotRetry) })
        let session = session(interceptor)
        let request = session.request("http://mock/").validate(statusCode: [500])
        var iterator = request.cURLDescriptions().makeAsyncIterator()
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(await iterator.next()?.contains("Attempt: 1") == true)
        #expect(await iterator.next()?.contains("Attempt: 2") == true)
        #expect(await iterator.next() == nil)
        for await late in request.cURLDescriptions() { #expect(late == request.cURLDescription()) }
    }

    @Test func aMissingURLRequestIsReported() async {
        let session = session()
        let (failing, cancelled) = (session.request(""), session.request("http://mock/"))
        let reported = [Deferred<String>(), Deferred<String>(), Deferred<String>()]
        failing.cURLDescription { reported[0].fulfill($0) }
        _ = await failing.serializingResponse(using: Bytes()).response
        cancelled.cURLDescription { reported[1].fulfill($0) }
        cancelled.cancel()
        #expect(await cancelled.cURLDescriptions().reduce(0) { count, _ in count + 1 } == 0)
        failing.cURLDescription { reported[2].fulfill($0) }
        for reported in reported { #expect(await reported.value.hasPrefix("# No curl command")) }
    }

    @Test func pendingDescriptionsDoNotRetainTheRequest() {
        let session = session()
        weak var weakRequest: Request?
        do {
            let request = session.request("http://mock/").cURLDescription { _ in }
            _ = request.cURLDescriptions().makeAsyncIterator()
            weakRequest = request
        }
        #expect(weakRequest == nil)
    }
}
