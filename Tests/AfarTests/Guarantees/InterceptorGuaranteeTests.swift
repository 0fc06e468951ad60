import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// The number and order of calls to adapters and retriers, and the state that a retry preserves.
@Suite(.timeLimit(.minutes(1))) struct InterceptorGuaranteeTests {
    private struct Refused: Error {}

    private func adapter(_ name: String, _ steps: Steps) -> Adapter {
        Adapter { urlRequest, _, completion in
            steps.take(name)
            completion(.success(urlRequest))
        }
    }

    private func retrier(_ name: String, _ steps: Steps, retries: Int = 0) -> Retrier {
        Retrier { request, _, _, completion in
            steps.take(name)
            completion(request.retryCount < retries ? .retry : .doNotRetry)
        }
    }

    @Test(arguments: TransportKind.allCases)
    func adaptersRunOncePerAttemptAndNeverPerRedirect(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let steps = Steps()
        let session = kind.session(interceptor: adapter("adapted", steps))
        let request = session.request(server.url("/redirect/3"))
        let response = await request.serializingData().response
        #expect(response.response?.url == server.url("/get"))
        #expect(server.requestCount == 4)
        #expect(steps.taken == ["adapted"])
        #expect(request.performedRequests.count == 1)
        let retried = session.request(
            server.url("/unstable?failures=2&key=adapted"), interceptor: retrier("asked", steps, retries: 2)
        ).validate()
        #expect(await retried.serializingData().response.error == nil)
        #expect(steps.taken == ["adapted", "adapted", "asked", "adapted", "asked", "adapted"])
        await server.stop()
    }

    /// An interceptor with a counter but without a lock, as in user code.
    private final class Unlocked: RequestInterceptor, @unchecked Sendable {
        private(set) var isBusy = false
        private(set) var calls = 0
        private(set) var overlaps = 0
        let queue: DispatchQueue?

        init(on queue: DispatchQueue? = nil) { self.queue = queue }

        private func call() {
            if let queue { dispatchPrecondition(condition: .onQueue(queue)) }
            if isBusy { overlaps += 1 }
            isBusy = true
            calls += 1
            usleep(100)
            isBusy = false
        }

        func adapt(
            _ urlRequest: URLRequest, for session: Session,
            completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
        ) {
            call()
            completion(.success(urlRequest))
        }

        func retry(
            _ request: Request, for session: Session, dueTo error: any Error,
            completion: @escaping @Sendable (RetryResult) -> Void
        ) {
            call()
            completion(request.retryCount == 0 ? .retry : .doNotRetry)
        }
    }

    private func makeRequests(_ count: Int, of session: Session, _ url: URL) async {
        await withTaskGroup { group in
            for _ in 0..<count {
                group.addTask { _ = await session.request(url).validate().serializingData().response }
            }
        }
    }

    @Test(arguments: TransportKind.allCases)
    func interceptorsAreCalledSerially(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let interceptor = Unlocked()
        let session = kind.session(interceptor: interceptor)
        await makeRequests(50, of: session, server.url("/status/500"))
        #expect(interceptor.calls == 200)
        #expect(interceptor.overlaps == 0)
        await server.stop()
    }

    @Test func interceptorsAreCalledOnTheRequestQueue() async throws {
        let server = try await TestServer.start()
        let queue = DispatchQueue(label: "requests", attributes: .concurrent)
        let interceptor = Unlocked(on: queue)
        let session = Session(
            requestQueue: queue, interceptor: interceptor, transport: TransportKind.platform.make(.default))
        await makeRequests(20, of: session, server.url("/status/500"))
        #expect(interceptor.calls == 80)
        #expect(interceptor.overlaps == 0)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func theSessionsInterceptorsRunBeforeTheRequests(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let steps = Steps()
        let session = kind.session(
            interceptor: .interceptor(adapters: [adapter("1", steps)], retriers: [retrier("a", steps)]))
        let request = session.request(
            server.url("/status/500"),
            interceptor: .interceptor(adapters: [adapter("2", steps)], retriers: [retrier("b", steps)])
        )
        .adapt(using: adapter("3", steps)).retry(using: retrier("c", steps)).validate()
        #expect(await request.serializingData().response.error?.responseCode == 500)
        #expect(steps.taken == ["1", "2", "3", "a", "b", "c"])
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func theFirstAdaptersErrorStopsTheRequest(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let steps = Steps()
        let session = kind.session(interceptor: .adapter { _, _, completion in completion(.failure(Refused())) })
        let request = session.request(server.url("/get"), interceptor: adapter("second", steps))
        let response = await request.serializingData().response
        #expect(response.error?.isRequestAdaptationError == true)
        #expect(response.error?.underlyingError is Refused)
        #expect(steps.taken == [])
        #expect(server.connectionCount == 0)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func theFirstResultOtherThanDoNotRetryIsUsed(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let steps = Steps()
        let session = kind.session(interceptor: retrier("session's", steps))
        let request = session.request(
            server.url("/unstable?failures=1&key=decides"), interceptor: retrier("first", steps, retries: 1)
        ).retry(using: retrier("later", steps, retries: 9)).validate()
        #expect(await request.serializingData().response.error == nil)
        #expect(steps.taken == ["session's", "first"])
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aSerializersFailureCanBeRetried(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        server.route("/half-done") { _ in
            .text(server.requestCount(path: "/half-done") < 2 ? #"{"id": "# : #"{"id": 1}"#)
        }
        let session = kind.session()
        let request = session.request(server.url("/half-done"), interceptor: retrier("asked", Steps(), retries: 1))
        #expect(try await request.serializingDecodable([String: Int].self).value == ["id": 1])
        #expect(request.retryCount == 1)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aRetryResetsProgressAndErrorAndKeepsTheHandlers(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        server.route("/shorter") { _ in
            let isFirst = server.requestCount(path: "/shorter") < 2
            return .content(
                "application/octet-stream", Data(count: isFirst ? 5000 : 10), status: isFirst ? 500 : 200)
        }
        let session = kind.session()
        let figures = Locked<[Int64]>([])
        let errors = Locked<[Bool]>([])
        let request = session.request(server.url("/shorter"), interceptor: retrier("asked", Steps(), retries: 1))
        request.adapt(
            using: .adapter { [weak request] urlRequest, _, completion in
                errors.withLock { $0.append(request?.error != nil || request?.response != nil) }
                completion(.success(urlRequest))
            })
        let watcher = Task {
            for await progress in request.downloadProgress() {
                figures.withLock { $0.append(progress.completedUnitCount) }
            }
        }
        let counts = Locked<[Int?]>([])
        let handled = Signal()
        let first = request.validate().serializingData()
        request.response(queue: DispatchQueue(label: "handlers")) { response in
            counts.withLock { $0.append(response.data?.count) }
            handled.set()
        }
        #expect(await first.response.value?.count == 10)
        await handled.wait()
        await watcher.value
        #expect(counts.withLock { $0 } == [10])
        #expect(errors.withLock { $0 } == [false, false])
        #expect(figures.withLock { $0.last } == 10)
        #expect(request.error == nil)
        #expect(request.retryCount == 1)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aRetriersErrorIsRequestRetryFailed(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session(
            interceptor: .retrier { _, _, _, completion in completion(.doNotRetryWithError(Refused())) })
        let response = await session.request(server.url("/status/500")).validate().serializingData().response
        guard case .requestRetryFailed(let retryError, let originalError) = response.error else {
            Issue.record("not the retrier's error: \(response)")
            return
        }
        #expect(retryError is Refused)
        #expect(originalError.asAFError?.responseCode == 500)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aSecondCompletionIsIgnored(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session(
            interceptor: Interceptor(
                adaptHandler: { urlRequest, _, completion in
                    completion(.success(urlRequest))
                    completion(.failure(Refused()))
                },
                retryHandler: { request, _, _, completion in
                    completion(request.retryCount == 0 ? .retry : .doNotRetry)
                    completion(.retry)
                }))
        let response = await session.request(server.url("/status/500")).validate().serializingData().response
        #expect(response.error?.responseCode == 500)
        #expect(server.requestCount == 2)
        await server.stop()
    }
}
