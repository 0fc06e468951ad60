import AfarTesting
import Foundation
import TestSupport
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Interceptors that are added to an existing request.
@Suite struct AddedInterceptorTests {
    private func trailAdapter(_ letter: String) -> Adapter {
        Adapter { request, _, completion in completion(.success(request.trailed(by: letter))) }
    }

    private func loggingRetrier(_ name: String, in log: Log) -> Retrier {
        Retrier { _, _, _, completion in
            log.append(name)
            completion(.doNotRetry)
        }
    }

    @Test func addedInterceptorsRunAfterTheSessionsAndTheRequests() async {
        let log = Log()
        let transport = MockTransport { _ in .status(500) }
        let session = Session(
            interceptor: .interceptor(adapters: [trailAdapter("s")], retriers: [loggingRetrier("session", in: log)]),
            transport: transport)
        let request = session.request(
            "http://mock/",
            interceptor: .interceptor(adapters: [trailAdapter("r")], retriers: [loggingRetrier("request", in: log)])
        )
        .interceptor(.interceptor(adapters: [trailAdapter("1")], retriers: [loggingRetrier("first", in: log)]))
        .adapt(using: trailAdapter("2"))
        .retry(using: loggingRetrier("second", in: log))
        .interceptor(.interceptor(adapters: [trailAdapter("3")], retriers: [loggingRetrier("third", in: log)]))
        .adapt(using: .adapter { request, _, completion in completion(.success(request.trailed(by: "4"))) })
        .retry(
            using: .retrier { _, _, _, completion in
                log.append("fourth")
                completion(.doNotRetry)
            }
        )
        .validate()
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(transport.trails == ["sr1234"])
        #expect(log.entries == ["session", "request", "first", "second", "third", "fourth"])
    }

    @Test func interceptorsCanBeAddedToARequestWithoutOne() async {
        let transport = MockTransport { _ in .status(500) }
        let session = Session(transport: transport)
        let request = session.request("http://mock/").validate().adapt(using: trailAdapter("a"))
            .retry(
                using: .retrier { request, _, _, completion in
                    completion(request.retryCount == 0 ? .retry : .doNotRetry)
                })
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(transport.trails == ["a", "a"])
        #expect(request.retryCount == 1)
    }

    @Test func theInterceptorCanBeRead() {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let policy = RetryPolicy()
        #expect(session.request("http://mock/").interceptor == nil)
        #expect(session.request("http://mock/", interceptor: policy).interceptor as? RetryPolicy === policy)
        #expect(session.request("http://mock/").interceptor(policy).interceptor as? RetryPolicy === policy)
        let both = session.request("http://mock/", interceptor: policy).adapt(using: trailAdapter("a"))
        let combined = both.interceptor as? Interceptor
        #expect(combined?.adapters.count == 2)
        #expect(combined?.retriers.first as? RetryPolicy === policy)
    }

    @Test func everyKindOfRequestSupportsAddedInterceptors() async {
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(transport: transport)
        let upload = session.upload(Data("up".utf8), to: "http://mock/up").adapt(using: trailAdapter("u"))
        _ = await upload.serializingResponse(using: Bytes()).response
        let download = session.download("http://mock/down").adapt(using: trailAdapter("d"))
        _ = await download.serializingDownloadedFileURL().response
        let stream = session.streamRequest("http://mock/stream").adapt(using: trailAdapter("s"))
        for await _ in stream.streamTask().streamingData() {}
        #expect(transport.trails == ["u", "d", "s"])
    }
}
