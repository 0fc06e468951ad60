import Afar
import AfarTestServer
import Testing

/// What a request tells of itself while it lives, as people ask for Alamofire 5.
@Suite struct LifeCycleTests {
    @Test func aRequestKnowsItsStateAndItsPast() async throws {
        let server = try await TestServer.start()
        let request = AF.request(
            server.url("/unstable?failures=1&key=life"), interceptor: RetryPolicy(exponentialBackoffScale: 0.001))
        #expect(request.isInitialized && !request.isResumed && !request.isSuspended)
        request.suspend()
        #expect(request.isSuspended && request.state == .suspended)
        let task = request.validate().serializingString()
        request.resume()
        _ = try await task.value
        #expect(request.isFinished && !request.isCancelled)
        #expect(request.retryCount == 1)
        #expect(request.firstRequest?.url == request.lastRequest?.url)
        #expect(request.performedRequests.count == 2)
        #expect(request.requests.count >= 2)
        #expect(request.request?.httpMethod == "GET")
        #expect(request.allMetrics.count == 2)
        #expect(request.firstMetrics != request.lastMetrics)
        #expect(request.metrics?.transactionMetrics.last?.networkProtocolName == "http/1.1")
        #expect(request.tasks.count == 2 && request.firstTask !== request.lastTask)
        #expect(request.response?.statusCode == 200 && request.error == nil)
        let requests: Set<Request> = [request, request]
        #expect(requests.count == 1)
        await server.stop()
    }

    @Test func credentialsAnswerAChallenge() async throws {
        let server = try await TestServer.start()
        let url = server.url("/basic-auth/ada/lovelace")
        let request = AF.request(url).authenticate(username: "ada", password: "lovelace", persistence: .forSession)
        #expect(request.credential?.user == "ada")
        #expect(await request.validate().serializingData().response.error == nil)
        let credential = URLCredential(user: "ada", password: "lovelace", persistence: .forSession)
        let other = AF.request(url).authenticate(with: credential)
        #expect(await other.validate().serializingData().response.error == nil)
        await server.stop()
    }

    @Test func redirectsAreHandled() async throws {
        let server = try await TestServer.start()
        let url = server.url("/redirect/1")
        #expect(await AF.request(url).serializingData().response.response?.statusCode == 200)
        let followed = AF.request(url).redirect(using: Redirector(behavior: .follow))
        #expect(await followed.serializingData().response.response?.statusCode == 200)
        let left = AF.request(url).redirect(using: .doNotFollow)
        #expect(await left.serializingData(emptyResponseCodes: [302]).response.response?.statusCode == 302)
        let changed = AF.request(url).redirect(
            using: .modify { task, request, response in
                var request = request
                request.headers.add(name: "X-From", value: "\(response.statusCode)")
                return request
            })
        let echo = try await changed.serializingDecodable(Echo.self).value
        #expect(echo.headers["x-from"] == "302")
        let session = Session(redirectHandler: Redirector.doNotFollow)
        let response = await session.request(url).serializingData(emptyResponseCodes: [302]).response
        #expect(response.response?.statusCode == 302)
        await server.stop()
    }

    @Test func headsAndTasksAreAwaited() async throws {
        let server = try await TestServer.start()
        let request = AF.request(server.url("/get"))
            .onHTTPResponse { response in print(response.statusCode) }
        let heads = request.httpResponses()
        let tasks = request.urlSessionTasks()
        _ = try await request.serializingData().value
        for await head in heads { #expect(head.statusCode == 200) }
        var identifiers: [Int] = []
        for await task in tasks { identifiers.append(task.taskIdentifier) }
        #expect(identifiers.count == 1)
        await server.stop()
    }

    @Test func aSessionsRequestsAreEndedTogether() async throws {
        let server = try await TestServer.start()
        let session = Session()
        let requests = (1...3).map { _ in session.request(server.url("/delay/30")) }
        let tasks = requests.map { $0.serializingData() }
        await withCheckedContinuation { continuation in
            session.withAllRequests { running in
                #expect(running.count == 3)
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            session.cancelAllRequests(completingOnQueue: .global()) { continuation.resume() }
        }
        for task in tasks { #expect(await task.response.error?.isExplicitlyCancelledError == true) }
        #expect(requests.allSatisfy { $0.isCancelled })
        await server.stop()
    }

    @Test func theModuleSaysWhatItIs() {
        #expect(AFInfo.version.contains("."))
        #expect(AF === Session.default)
        #expect(AF.rootQueue.label.isEmpty == false)
    }
}
