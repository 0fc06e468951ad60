import AfarTesting
import Foundation
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Adapters and retriers written with `async`.
@Suite struct AsyncInterceptorTests {
    private struct Refused: Error {}

    private struct TrailAdapter: AsyncRequestAdapter {
        let letter: String

        func adapt(_ urlRequest: URLRequest, for session: Session) async throws -> URLRequest {
            await Task.yield()
            return urlRequest.trailed(by: letter)
        }
    }

    private struct ClosureRetrier: AsyncRequestRetrier {
        let decide: @Sendable (Request) async throws -> RetryResult

        func retry(_ request: Request, for session: Session, dueTo error: any Error) async throws -> RetryResult {
            try await decide(request)
        }
    }

    /// A type that is an interceptor, an async adapter and an async retrier.
    private struct TrailInterceptor: RequestInterceptor, AsyncRequestAdapter, AsyncRequestRetrier {
        func adapt(_ urlRequest: URLRequest, using state: RequestAdapterState) async throws -> URLRequest {
            try await adapt(urlRequest, for: state.session).trailed(by: "+")
        }

        func adapt(_ urlRequest: URLRequest, for session: Session) async throws -> URLRequest {
            urlRequest.trailed(by: "b")
        }

        func retry(_ request: Request, for session: Session, dueTo error: any Error) async throws -> RetryResult {
            request.retryCount == 0 ? .retry : .doNotRetry
        }
    }

    /// An interceptor that waits until it is canceled and then records the cancellation.
    private struct WaitingInterceptor: RequestInterceptor, AsyncRequestAdapter, AsyncRequestRetrier {
        let adapts: Bool
        let entered = Deferred<Void>()
        let wasCancelled = Deferred<Void>()

        func adapt(_ urlRequest: URLRequest, for session: Session) async throws -> URLRequest {
            if adapts { await waitUntilCancelled() }
            return urlRequest
        }

        func retry(_ request: Request, for session: Session, dueTo error: any Error) async throws -> RetryResult {
            await waitUntilCancelled()
            return .retry
        }

        private func waitUntilCancelled() async {
            entered.fulfill(())
            try? await Task.sleep(for: .seconds(600))
            if Task.isCancelled { wasCancelled.fulfill(()) }
        }
    }

    @Test func asyncInterceptorsAdaptAndRetry() async {
        let transport = MockTransport { _ in .status(500) }
        let session = Session(
            interceptor: .interceptor(
                adapters: [TrailAdapter(letter: "1"), TrailAdapter(letter: "2")], interceptors: [TrailInterceptor()]),
            transport: transport)
        _ = await session.request("http://mock/").validate().serializingResponse(using: Bytes()).response
        #expect(transport.trails == ["12b+", "12b+"])
    }

    @Test func thrownErrorsEndTheRequest() async {
        struct FailingAdapter: AsyncRequestAdapter {
            func adapt(_ urlRequest: URLRequest, for session: Session) async throws -> URLRequest { throw Refused() }
        }
        let session = Session(transport: MockTransport { _ in .status(500) })
        let adapted = await session.request("http://mock/").adapt(using: FailingAdapter())
            .serializingResponse(using: Bytes()).response
        #expect(adapted.error?.isRequestAdaptationError == true)
        #expect(adapted.error?.underlyingError is Refused)
        let retried = await session.request("http://mock/").retry(using: ClosureRetrier { _ in throw Refused() })
            .validate()
            .serializingResponse(using: Bytes()).response
        guard case .requestRetryFailed(let retryError, let originalError) = retried.error else {
            Issue.record("not the retrier's error: \(retried)")
            return
        }
        #expect(retryError is Refused)
        #expect(originalError.asAFError?.responseCode == 500)
    }

    @Test(arguments: [true, false], [true, false])
    func cancellingTheRequestCancelsTheInterceptorsTask(adapts: Bool, isInAChain: Bool) async {
        let patient = WaitingInterceptor(adapts: adapts)
        let session = Session(
            interceptor: isInAChain ? Interceptor(interceptors: [patient]) : patient,
            transport: MockTransport { _ in .status(500) })
        let request = session.request("http://mock/").validate()
        let task = request.serializingResponse(using: Bytes())
        await patient.entered.value
        request.cancel()
        await patient.wasCancelled.value
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
    }

    @Test func anInterceptorThatIgnoresCancellationDoesNotBlock() async {
        let entered = Deferred<Void>()
        let door = Deferred<Void>()
        let stubborn = ClosureRetrier { _ in
            entered.fulfill(())
            await door.value
            return .retry
        }
        let transport = MockTransport { _ in .status(500) }
        let session = Session(transport: transport)
        let request = session.request("http://mock/").retry(using: stubborn).validate()
        let task = request.serializingResponse(using: Bytes())
        await entered.value
        request.cancel()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
        door.fulfill(())
        #expect(transport.requests.count == 1)
    }

    @Test func theCompletionMethodsCanBeCalledDirectly() async throws {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let urlRequest = URLRequest(url: try #require(URL(string: "http://mock/")))
        for adapter in [TrailAdapter(letter: "b"), TrailInterceptor()] as [any RequestAdapter] {
            let adapted = Deferred<String?>()
            adapter.adapt(urlRequest, for: session) { adapted.fulfill((try? $0.get())?.trail) }
            #expect(await adapted.value == "b")
        }
    }
}
