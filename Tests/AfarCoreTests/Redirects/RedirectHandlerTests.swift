import AfarTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Redirect handlers, and the redirect information in requests.
@Suite(.timeLimit(.minutes(1))) struct RedirectHandlerTests {
    /// A redirect handler that calls a closure.
    private struct Handler: RedirectHandler {
        typealias Answer = @Sendable (URLRequest?) -> Void
        let decide: @Sendable (URLSessionTask, URLRequest, HTTPURLResponse, @escaping Answer) -> Void

        func task(
            _ task: URLSessionTask, willBeRedirectedTo request: URLRequest, for response: HTTPURLResponse,
            completion: @escaping Answer
        ) {
            decide(task, request, response, completion)
        }
    }

    private static let chain: MockTransport.Handler = { request in
        switch request.path {
        case "/a": .redirect(302, to: "/b")
        case "/b": .redirect(307, to: "http://two/c")
        default: .text("there")
        }
    }

    private func session(
        _ transport: MockTransport, interceptor: (any RequestInterceptor)? = nil,
        redirectHandler: (any RedirectHandler)? = nil, configure: (inout SessionConfiguration) -> Void = { _ in }
    ) -> Session {
        var configuration = SessionConfiguration.default
        configure(&configuration)
        return Session(
            configuration: configuration, interceptor: interceptor, redirectHandler: redirectHandler,
            transport: transport)
    }

    @Test func aRequestReturnsOnlyItsOwnHandler() async {
        let session = session(MockTransport(Self.chain), redirectHandler: Redirector.doNotFollow)
        let request = session.request("http://one/a")
        #expect(request.redirectHandler == nil)
        request.redirect(using: Redirector.follow)
        let isFollowing = if case .follow = (request.redirectHandler as? Redirector)?.behavior { true } else { false }
        #expect(isFollowing)
        #expect(await request.serializingResponse(using: Bytes()).response.value == Data("there".utf8))
    }

    @Test(arguments: [true, false])
    func redirectsAreFollowed(isPlain: Bool) async throws {
        let mock = MockTransport(Self.chain)
        let session = session(mock, interceptor: isPlain ? nil : Scripted())
        let request = session.request("http://one/a#part")
        let response = await request.serializingResponse(using: Bytes()).response
        #expect(response.value == Data("there".utf8))
        #expect(request.response?.url?.absoluteString == "http://two/c#part")
        #expect(request.metrics?.redirectCount == 2)
        #expect(request.metrics?.transactionMetrics.count == 3)
        #expect(request.performedRequests.count == 1)
        let task = try #require(request.task)
        #expect(task.originalRequest?.url?.absoluteString == "http://one/a#part")
        #expect(task.currentRequest?.url?.absoluteString == "http://two/c#part")
    }

    @Test func aTaskDescribesTheCurrentHop() async throws {
        let (arrived, mayAnswer) = (Deferred<Bool>(), Deferred<Bool>())
        let mock = MockTransport { request in
            if request.path == "/c" {
                arrived.fulfill(true)
                _ = await mayAnswer.value
            }
            return try await Self.chain(request)
        }
        let session = session(mock)
        let request = session.request("http://one/a").onURLSessionTaskCreation(on: .global()) { _ in }
        let response = request.serializingResponse(using: Bytes())
        request.resume()
        _ = await arrived.value
        #expect(request.task?.currentRequest?.url?.absoluteString == "http://two/c")
        mayAnswer.fulfill(true)
        #expect(await response.response.value == Data("there".utf8))
    }

    @Test func adaptersRunOncePerAttemptAndNeverPerHop() async throws {
        let mock = MockTransport(Self.chain)
        let count = Locked(0)
        let adapter = Scripted(
            adapting: { urlRequest, answer in
                count.withLock { $0 += 1 }
                var urlRequest = urlRequest
                urlRequest.setValue("Bearer hush", forHTTPHeaderField: "Authorization")
                answer(.success(urlRequest))
            },
            retrying: { request, answer in answer(request.retryCount == 0 ? .retry : .doNotRetry) })
        let session = session(mock)
        let request = session.request("http://one/a", interceptor: adapter).validate(statusCode: [500])
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(request.retryCount == 1)
        #expect(count.withLock { $0 } == 2)
        #expect(mock.requests.map(\.path) == ["/a", "/b", "/c", "/a", "/b", "/c"])
        let authorizations = mock.requests.map { $0["Authorization"] }
        #expect(authorizations == ["Bearer hush", "Bearer hush", nil, "Bearer hush", "Bearer hush", nil])
        #expect(request.allMetrics.map(\.redirectCount) == [2, 2])
    }

    @Test func theConfigurationsRulesApply() async throws {
        let mock = MockTransport { request in
            request.exchange.request.scheme == "https" ? .redirect(to: "http://one/") : .text("there")
        }
        let strict = session(mock) { $0.maximumRedirects = 0 }
        let error = await strict.request("https://one/").serializingResponse(using: Bytes()).response.error
        #expect((error?.underlyingError as? URLError)?.code == .httpTooManyRedirects)
        let open = session(mock) {
            $0.allowsInsecureRedirects = true
            $0.sensitiveHeaders = ["x-KEY"]
            $0.headers.add(name: "X-Key", value: "hush")
        }
        let value = try await open.request("https://one/").serializingResponse(using: Bytes()).value
        #expect(value == Data("there".utf8))
        #expect(mock.requests.suffix(2).map { $0["X-Key"] } == ["hush", nil])
    }

    @Test(arguments: [true, false])
    func cancellationBetweenTwoHopsEndsTheRequest(isPlain: Bool) async throws {
        let arrived = Deferred<Bool>()
        let mock = MockTransport { request in
            guard request.path == "/c" else { return try await Self.chain(request) }
            arrived.fulfill(true)
            try await Task.sleep(for: .seconds(60))
            return .text("late")
        }
        let session = session(mock, interceptor: isPlain ? nil : Scripted())
        let request = session.request("http://one/a")
        async let response = request.serializingResponse(using: Bytes(), automaticallyCancelling: false).response
        _ = await arrived.value
        request.cancel()
        let error = await response.error
        #expect(error?.isExplicitlyCancelledError == true)
        #expect(request.metrics?.redirectCount == 2)
    }

    @Test func cancellationEndsEachRequestOnce() async throws {
        let session = session(MockTransport(Self.chain))
        let queue = DispatchQueue(label: "handlers")
        let calls = Locked(Array(repeating: 0, count: 300))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<300 {
                group.addTask {
                    let request = session.request("http://one/a")
                        .response(queue: queue, responseSerializer: Bytes()) { _ in calls.withLock { $0[number] += 1 } }
                    async let response = request.serializingResponse(using: Bytes(), automaticallyCancelling: false)
                        .response
                    for _ in 0..<(number % 20) { await Task.yield() }
                    request.cancel()
                    let (error, value) = (await response.error, await response.value)
                    #expect(error?.isExplicitlyCancelledError ?? (value == Data("there".utf8)))
                }
            }
        }
        // A request leaves the session's list after its handlers have been enqueued.
        await session.whenIdle()
        #expect(session.state.running.isEmpty)
        queue.sync {}
        #expect(calls.withLock { $0 } == Array(repeating: 1, count: 300))
    }

    @Test func aRequestsHandlerOverridesTheSessions() async throws {
        let session = session(MockTransport(Self.chain), redirectHandler: .doNotFollow)
        let request = session.request("http://one/a")
        let response = await request.serializingResponse(using: Bytes()).response
        #expect(request.response?.statusCode == 302)
        #expect(response.value == Data("moved".utf8))
        #expect(request.metrics?.redirectCount == 0)
        let other = session.request("http://one/a").redirect(using: .doNotFollow).redirect(using: .follow)
        #expect(try await other.serializingResponse(using: Bytes()).value == Data("there".utf8))
    }

    @Test func aHandlerReceivesTheTaskAndTheProposedRequest() async throws {
        let log = Log()
        let mock = MockTransport(Self.chain)
        let session = session(mock)
        let request = session.request("http://one/a#part", method: .post, headers: ["Authorization": "hush"]) {
            $0.httpBody = Data("body".utf8)
            $0.timeoutInterval = 7
        }
        request.redirect(
            using: Handler { [weak request] task, urlRequest, response, answer in
                #expect(task === request?.task)
                #expect(urlRequest.timeoutInterval == 7)
                log.append("\(response.statusCode) \(response.url?.absoluteString ?? "")")
                log.append("\(urlRequest.httpMethod ?? "") \(urlRequest.url?.absoluteString ?? "")")
                #expect(urlRequest.httpBody == nil)
                log.append(urlRequest.value(forHTTPHeaderField: "Authorization") ?? "none")
                answer(urlRequest)
            })
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(
            log.entries == [
                "302 http://one/a#part", "GET http://one/b#part", "hush", "307 http://one/b#part",
                "GET http://two/c#part", "none",
            ])
    }

    @Test func aHandlerReceivesTheBodyOfAResentRequest() async throws {
        let mock = MockTransport { request in
            request.path == "/a" ? .redirect(307, to: "/b") : .text("there")
        }
        let session = session(mock)
        let bodies = Locked<[Data?]>([])
        let handler = Handler { _, urlRequest, _, answer in
            bodies.withLock { $0.append(urlRequest.httpBody) }
            answer(urlRequest)
        }
        let request = session.request("http://one/a", method: .post) { $0.httpBody = Data("body".utf8) }
        _ = await request.redirect(using: handler).serializingResponse(using: Bytes()).response
        #expect(bodies.withLock { $0 } == [Data("body".utf8)])
        let file = FileManager.default.temporaryDirectory.appending(path: "redirect-\(UUID().uuidString)")
        try Data("file".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let upload = session.upload(file, to: "http://one/a").redirect(using: handler)
        _ = await upload.serializingResponse(using: Bytes()).response
        #expect(bodies.withLock { $0 } == [Data("body".utf8), nil])
        #expect(mock.requests.map(\.body) == ["body", "body", "file", "file"].map { Data($0.utf8) })
    }

    @Test func aHandlerCanChangeTheRequestButNotLeakSecrets() async throws {
        let mock = MockTransport(Self.chain)
        let session = session(mock)
        let modifying = Redirector.modify { _, request, _ in
            var request = request
            if request.url?.path == "/b" {
                request.url = URL(string: "http://ada:hush@three/d")
                request.httpMethod = "PUT"
                request.httpBody = Data("mine".utf8)
            }
            request.setValue("hush", forHTTPHeaderField: "Authorization")
            request.setValue("text/x", forHTTPHeaderField: "Content-Type")
            request.setValue("yes", forHTTPHeaderField: "X-Mine")
            return request
        }
        let request = session.request("http://one/a").redirect(using: modifying)
        _ = await request.serializingResponse(using: Bytes()).response
        let sent = try #require(mock.requests.last)
        #expect(sent.url == "http://three/d")
        #expect(sent.method == .put)
        #expect(sent.body == Data("mine".utf8))
        #expect(sent["Content-Type"] == "text/x")
        #expect(sent["X-Mine"] == "yes")
        #expect(sent["Authorization"] == nil)
    }

    @Test func aHandlerCannotRestoreASecretOnALaterHop() async throws {
        let mock = MockTransport { request in
            switch request.url {
            case "http://one/a": .redirect(302, to: "http://two/b")
            case "http://two/b": .redirect(302, to: "/c")
            case "http://two/c": .redirect(302, to: "http://one/d")
            default: .text("there")
            }
        }
        let restoring = Redirector.modify { task, request, _ in
            var request = request
            request.headers = task.originalRequest?.headers ?? [:]
            return request
        }
        let session = session(mock)
        let request = session.request("http://one/a", headers: ["Authorization": "hush", "X-Mine": "yes"])
        _ = await request.redirect(using: restoring).serializingResponse(using: Bytes()).response
        #expect(mock.requests.map(\.url) == ["http://one/a", "http://two/b", "http://two/c", "http://one/d"])
        #expect(mock.requests.map { $0["Authorization"] } == ["hush", nil, nil, nil])
        #expect(mock.requests.map { $0["X-Mine"] } == ["yes", "yes", "yes", "yes"])
    }

    @Test func aHandlerCanKeepAPOST() async throws {
        let mock = MockTransport { request in request.path == "/a" ? .redirect(302, to: "/b") : .text("there") }
        let session = session(mock)
        let handler = Redirector.modify { task, request, _ in
            var kept = task.originalRequest
            kept?.url = request.url
            return kept
        }
        let request = session.request("http://one/a", method: .post, headers: ["Content-Type": "text/x"]) {
            $0.httpBody = Data("body".utf8)
        }
        _ = await request.redirect(using: handler).serializingResponse(using: Bytes()).response
        #expect(mock.requests.map(\.method) == [.post, .post])
        #expect(mock.requests.map(\.body) == [Data("body".utf8), Data("body".utf8)])
        #expect(mock.requests.last?["Content-Type"] == "text/x")
    }

    @Test func aHandlersRequestIsValidated() async throws {
        let session = session(MockTransport(Self.chain))
        let changes: [@Sendable (inout URLRequest) -> Void] = [
            { $0.url = URL(string: "ftp://one/") }, { $0.httpMethod = "NO WAY" }, { $0.httpBody = Data("x".utf8) },
            { $0.setValue("a\r\nb: c", forHTTPHeaderField: "X") }, { $0.url = nil },
        ]
        for (number, change) in changes.enumerated() {
            let handler = Redirector.modify { _, request, _ in
                var request = request
                change(&request)
                return request
            }
            let request = session.request("http://one/a").redirect(using: handler)
            let error = await request.serializingResponse(using: Bytes()).response.error
            let cause = (error?.underlyingError as? URLError)?.userInfo[NSUnderlyingErrorKey] as? TransportError
            // Foundation drops the header of change 3, because the value contains a line break.
            #expect(cause?.code == .invalidRedirect || number == 3, "\(number): \(error as Any)")
        }
    }

    @Test func aSecondCompletionIsIgnored() async throws {
        let session = session(MockTransport(Self.chain))
        let handler = Handler { _, request, _, answer in
            answer(nil)
            answer(request)
        }
        let request = session.request("http://one/a").redirect(using: handler)
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(request.response?.statusCode == 302)
    }

    @Test func cancellationEndsTheWaitForAHandler() async throws {
        let requested = Deferred<Bool>()
        let session = session(MockTransport(Self.chain))
        let request = session.request("http://one/a").redirect(using: Handler { _, _, _, _ in requested.fulfill(true) })
        async let response = request.serializingResponse(using: Bytes(), automaticallyCancelling: false).response
        _ = await requested.value
        request.cancel()
        #expect(await response.error?.isExplicitlyCancelledError == true)
    }

    @Test(arguments: ["myapp://callback?code=1", "mailto:ada", "http:two", "/a\\b"])
    func anInvalidLocationIsIgnoredIfNotFollowed(location: String) async throws {
        let session = session(MockTransport { _ in .redirect(to: location) })
        let request = session.request("http://one/a").redirect(using: .doNotFollow)
        let response = await request.serializingResponse(using: Bytes()).response
        #expect(response.error == nil)
        #expect(request.response?.statusCode == 302)
    }

    @Test func aHandlerIsCalledForOtherSchemes() async throws {
        let log = Log()
        let session = session(MockTransport { _ in .redirect(to: "myapp://callback?code=1") })
        let handler = Redirector.modify { _, request, _ in
            log.append(request.url?.absoluteString ?? "none")
            return nil
        }
        let request = session.request("http://one/a").redirect(using: handler)
        #expect(await request.serializingResponse(using: Bytes()).response.error == nil)
        #expect(log.entries == ["myapp://callback?code=1"])
    }

    @Test func aHandlerDoesNotRetainTheRequest() async throws {
        let session = session(MockTransport(Self.chain))
        weak var weakRequest: Request?
        do {
            let request = session.request("http://one/a").redirect(using: .modify { _, request, _ in request })
            weakRequest = request
            _ = await request.serializingResponse(using: Bytes()).response
        }
        try await waitWhile { weakRequest != nil }
        #expect(weakRequest == nil)
    }
}
