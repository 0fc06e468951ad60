import AfarTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Combinations of adapters, retriers and interceptors.
@Suite struct InterceptorTests {
    private struct Refused: Error {}

    /// Creates an adapter that appends a letter to the header `X-Trail`.
    private func trailAdapter(_ letter: String) -> Adapter {
        Adapter { request, _, completion in completion(.success(request.trailed(by: letter))) }
    }

    /// Creates a retrier that logs each call and returns a fixed result.
    private func loggingRetrier(_ name: String, in log: Log, answering result: RetryResult = .doNotRetry) -> Retrier {
        Retrier { _, _, _, completion in
            log.append(name)
            completion(result)
        }
    }

    @Test func closuresAdaptAndRetry() async {
        let transport = MockTransport { _ in .status(500) }
        let session = Session(
            interceptor: .interceptor(
                adapter: { request, _, completion in completion(.success(request.trailed(by: "a"))) },
                retrier: { request, _, _, completion in completion(request.retryCount < 2 ? .retry : .doNotRetry) }),
            transport: transport)
        _ = await session.request("http://mock/").validate().serializingResponse(using: Bytes()).response
        #expect(transport.trails == ["a", "a", "a"])
    }

    @Test func factoriesCanBePassedAsInterceptors() async {
        let log = Log()
        let transport = MockTransport { _ in .status(500) }
        let session = Session(
            interceptor: .adapter { request, _, completion in completion(.success(request.trailed(by: "s"))) },
            transport: transport)
        let request = session.request(
            "http://mock/",
            interceptor: .retrier { _, _, _, completion in
                log.append("asked")
                completion(.doNotRetry)
            }
        ).validate()
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(transport.trails == ["s"])
        #expect(log.entries == ["asked"])
    }

    @Test func adaptersAndRetriersRunBeforeInterceptors() async {
        let log = Log()
        let transport = MockTransport { _ in .status(500) }
        let interceptor = Interceptor(
            adapters: [trailAdapter("1"), trailAdapter("2")],
            retriers: [loggingRetrier("r", in: log)],
            interceptors: [trailAdapter("3"), loggingRetrier("i", in: log)])
        let session = Session(interceptor: interceptor, transport: transport)
        _ = await session.request("http://mock/").validate().serializingResponse(using: Bytes()).response
        #expect(transport.trails == ["123"])
        #expect(log.entries == ["r", "i"])
        #expect(interceptor.adapters.count == 4)
        #expect(interceptor.retriers.count == 3)
    }

    @Test func theFirstAdaptersErrorEndsTheChain() async {
        let log = Log()
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(
            interceptor: .interceptor(adapters: [
                Adapter { _, _, completion in completion(.failure(Refused())) },
                Adapter { request, _, completion in
                    log.append("second")
                    completion(.success(request))
                },
            ]), transport: transport)
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        #expect(response.error?.isRequestAdaptationError == true)
        #expect(response.error?.underlyingError is Refused)
        #expect(log.entries == [])
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: [RetryResult.retry, .retryWithDelay(0), .doNotRetryWithError(Refused())])
    func theFirstResultOtherThanDoNotRetryEndsTheChain(answer: RetryResult) async {
        let log = Log()
        let once = Retrier { request, _, _, completion in
            log.append("second")
            completion(request.retryCount == 0 ? answer : .doNotRetryWithError(Refused()))
        }
        let session = Session(
            interceptor: .interceptor(retriers: [
                loggingRetrier("first", in: log), once, loggingRetrier("third", in: log),
            ]),
            transport: MockTransport { _ in .status(500) })
        let request = session.request("http://mock/").validate()
        let response = await request.serializingResponse(using: Bytes()).response
        #expect(response.error?.isRequestRetryError == true)
        #expect(log.entries == Array(repeating: ["first", "second"], count: request.retryCount + 1).flatMap { $0 })
    }

    @Test func aCompletionCalledTwiceRunsTheChainOnce() async {
        let log = Log()
        let twice = Interceptor(
            adaptHandler: { request, _, completion in
                completion(.success(request.trailed(by: "x")))
                completion(.success(request.trailed(by: "y")))
            },
            retryHandler: { _, _, _, completion in
                completion(.doNotRetry)
                completion(.retry)
            })
        let next = Interceptor(
            adapter: Adapter { request, _, completion in
                log.append("adapt")
                completion(.success(request))
            },
            retrier: loggingRetrier("retry", in: log))
        let transport = MockTransport { _ in .status(500) }
        let session = Session(interceptor: .interceptor(interceptors: [twice, next]), transport: transport)
        _ = await session.request("http://mock/").validate().serializingResponse(using: Bytes()).response
        #expect(log.entries == ["adapt", "retry"])
        #expect(transport.trails == ["x"])
    }

    @Test func cancellationSkipsLaterRetriers() async {
        let log = Log()
        let cancelling = Retrier { request, _, _, completion in
            request.cancel()
            completion(.doNotRetry)
        }
        let session = Session(
            interceptor: .interceptor(retriers: [cancelling, loggingRetrier("later", in: log)]),
            transport: MockTransport { _ in .status(500) })
        let response = await session.request("http://mock/").validate().serializingResponse(using: Bytes()).response
        #expect(response.error?.isExplicitlyCancelledError == true)
        #expect(log.entries == [])
    }

    @Test func theStateContainsTheRequestAndTheSession() async {
        struct LoggingInterceptor: RequestInterceptor {
            let log: Log

            func adapt(
                _ urlRequest: URLRequest, using state: RequestAdapterState,
                completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
            ) {
                log.append(state.requestID.uuidString + state.session.configuration.headers.count.description)
                completion(.success(urlRequest))
            }
        }
        let log = Log()
        let session = Session(
            interceptor: .interceptor(interceptors: [LoggingInterceptor(log: log)]),
            transport: MockTransport { _ in .text("ok") })
        let request = session.request("http://mock/", interceptor: LoggingInterceptor(log: log))
        _ = await request.serializingResponse(using: Bytes()).response
        let expected = request.id.uuidString + session.configuration.headers.count.description
        #expect(log.entries == [expected, expected])
    }

    @Test func theMethodWithASessionRunsTheChain() async throws {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let chain = Interceptor(adapters: [trailAdapter("1"), trailAdapter("2")])
        let urlRequest = URLRequest(url: try #require(URL(string: "http://mock/")))
        let adapted = Deferred<String?>()
        chain.adapt(urlRequest, for: session) { adapted.fulfill((try? $0.get())?.trail) }
        #expect(await adapted.value == "12")
    }

    @Test(.timeLimit(.minutes(1)), arguments: [true, false])
    func aStoredCompletionDoesNotRetainTheSession(adapts: Bool) async {
        let kept = Locked<[@Sendable () -> Void]>([])
        let isAsked = Deferred<Void>()
        let keep: @Sendable (@escaping @Sendable () -> Void) -> Void = { answer in
            kept.withLock { $0.append(answer) }
            isAsked.fulfill(())
        }
        let interceptor = Interceptor(
            adapters: [
                Adapter { urlRequest, _, completion in
                    adapts ? keep { completion(.success(urlRequest)) } : completion(.success(urlRequest))
                }
            ],
            retriers: [Retrier { _, _, _, completion in keep { completion(.doNotRetry) } }])
        var session: Session? = Session(transport: MockTransport { _ in .status(500) })
        let task = session?.request("http://mock/", interceptor: interceptor).validate()
            .serializingResponse(using: Bytes())
        await isAsked.value
        session = nil
        let error = await task?.response.error
        guard case .sessionDeinitialized = error else {
            Issue.record("not sessionDeinitialized: \(String(describing: error))")
            return
        }
        // Breaks the interceptor's retain cycle.
        for answer in kept.withLock({ Swift.exchange(&$0, with: []) }) { answer() }
    }
}
