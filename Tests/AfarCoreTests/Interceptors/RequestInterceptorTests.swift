import AfarTesting
import Foundation
import HTTPTypes
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct RequestInterceptorTests {
    @Test func theSessionsAdapterRunsBeforeTheRequests() async {
        let transport = MockTransport { _ in .text("ok") }
        func adding(_ letter: String) -> Scripted {
            Scripted(adapting: { request, answer in
                var request = request
                let before = request.value(forHTTPHeaderField: "X-Trail") ?? ""
                request.setValue(before + letter, forHTTPHeaderField: "X-Trail")
                answer(.success(request))
            })
        }
        let session = Session(interceptor: adding("S"), transport: transport)
        let request = session.request("http://mock/", interceptor: adding("R"))
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(transport.requests.first?.fields[HTTPField.Name("X-Trail") ?? .accept] == "SR")
        #expect(request.requests.count == 2)
        #expect(request.performedRequests.count == 1)
    }

    @Test func anAdaptersErrorStopsTheRequest() async {
        struct Refused: Error {}
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(
            interceptor: Scripted(adapting: { _, answer in answer(.failure(Refused())) }), transport: transport)
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        guard case .requestAdaptationFailed(let error) = response.error else {
            Issue.record("not the adapter's error: \(String(describing: response.error))")
            return
        }
        #expect(error is Refused)
        #expect(transport.requests.isEmpty)
    }

    @Test func aSecondCompletionIsIgnored() async {
        let transport = MockTransport { _ in .status(500) }
        let interceptor = Scripted(
            adapting: { request, answer in
                answer(.success(request))
                answer(.success(request))
            },
            retrying: { request, answer in
                answer(request.retryCount < 2 ? .retry : .doNotRetry)
                answer(.retry)
            })
        let session = Session(interceptor: interceptor, transport: transport)
        let request = session.request("http://mock/").validate()
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(transport.requests.count == 3)
        #expect(request.retryCount == 2)
    }

    @Test func aRetryRunsEverythingAgainAndKeepsTheHandlers() async {
        let attempts = Locked(0)
        let transport = MockTransport { _ in
            let attempt = attempts.withLock { count in
                count += 1
                return count
            }
            return attempt < 3 ? .status(503) : .text("third")
        }
        let session = Session(
            interceptor: Scripted(retrying: { _, answer in answer(.retryWithDelay(0.001)) }), transport: transport)
        let request = session.request("http://mock/").validate()
        let first = request.serializingResponse(using: Bytes())
        let second = request.serializingResponse(using: Bytes())
        #expect(await first.response.value == Data("third".utf8))
        #expect(await second.response.value == Data("third".utf8))
        #expect(request.error == nil)
        #expect(request.allMetrics.count == 3)
        #expect(request.performedRequests.count == 3)
    }

    @Test func aFailedSerializationCanBeRetried() async {
        struct Wrong: Error {}
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(
            interceptor: Scripted(retrying: { request, answer in
                answer(request.retryCount < 1 ? .retry : .doNotRetry)
            }), transport: transport)
        let calls = Locked(0)
        let serializer = ClosureResponseSerializer<Data> { _, _, data, _ in
            calls.withLock { $0 += 1 }
            guard calls.withLock({ $0 }) > 1 else { throw Wrong() }
            return data ?? Data()
        }
        let response = await session.request("http://mock/").serializingResponse(using: serializer).response
        #expect(response.value == Data("ok".utf8))
        #expect(transport.requests.count == 2)
    }

    @Test func aRetriersErrorIsReportedWithTheOriginalError() async {
        struct GivenUp: Error {}
        let session = Session(
            interceptor: Scripted(retrying: { _, answer in answer(.doNotRetryWithError(GivenUp())) }),
            transport: MockTransport { _ in .status(404) })
        let response = await session.request("http://mock/").validate().serializingResponse(using: Bytes()).response
        guard case .requestRetryFailed(let retryError, let originalError) = response.error else {
            Issue.record("not the retrier's error: \(String(describing: response.error))")
            return
        }
        #expect(retryError is GivenUp)
        #expect(originalError.asAFError?.responseCode == 404)
    }

    @Test func aRetriersErrorIsReportedAfterAFailedSerialization() async {
        struct Wrong: Error {}
        struct GivenUp: Error {}
        let session = Session(
            interceptor: Scripted(retrying: { _, answer in answer(.doNotRetryWithError(GivenUp())) }),
            transport: MockTransport { _ in .text("ok") })
        let serializer = ClosureResponseSerializer<Data> { _, _, _, _ in throw Wrong() }
        let request = session.request("http://mock/")
        let response = await request.serializingResponse(using: serializer).response
        guard case .requestRetryFailed(let retryError, let originalError) = response.error else {
            Issue.record("not the retrier's error: \(String(describing: response.error))")
            return
        }
        #expect(retryError is GivenUp)
        #expect(originalError.asAFError?.underlyingError is Wrong)
        #expect(request.error == nil)
    }

    @Test func aRetrierIsNotCalledForACancelledRequest() async {
        let requested = Deferred<Void>()
        let askedLater = Locked(false)
        let session = Session(
            interceptor: Scripted(retrying: { _, _ in requested.fulfill(()) }),
            transport: MockTransport { _ in .status(500) })
        let later = Scripted(retrying: { _, answer in
            askedLater.withLock { $0 = true }
            answer(.doNotRetry)
        })
        let request = session.request("http://mock/", interceptor: later).validate()
        let task = request.serializingResponse(using: Bytes())
        await requested.value
        request.cancel()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
        #expect(!askedLater.withLock { $0 })
    }

    @Test(arguments: [0, -1, -Double.infinity, Double.nan])
    func anInvalidDelayRetriesImmediately(seconds: TimeInterval) async {
        let session = Session(
            interceptor: Scripted(retrying: { request, answer in
                answer(request.retryCount == 0 ? .retryWithDelay(seconds) : .doNotRetry)
            }), transport: MockTransport { _ in .status(500) })
        let request = session.request("http://mock/").validate()
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(request.retryCount == 1)
    }

    @Test(arguments: [Double.infinity, .greatestFiniteMagnitude, 1e300])
    func anUnrepresentableDelayCanBeCancelled(seconds: TimeInterval) async {
        let requested = Deferred<Void>()
        let session = Session(
            interceptor: Scripted(retrying: { _, answer in
                answer(.retryWithDelay(seconds))
                requested.fulfill(())
            }), transport: MockTransport { _ in .status(500) })
        let request = session.request("http://mock/").validate()
        let task = request.serializingResponse(using: Bytes())
        await requested.value
        request.cancel()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
    }

    @Test func theSessionsRetrierRunsFirstAndTheFirstResultIsUsed() async {
        let requested = Locked<[String]>([])
        func retrier(_ name: String, _ result: RetryResult) -> Scripted {
            Scripted(retrying: { request, answer in
                requested.withLock { $0.append(name) }
                answer(request.retryCount == 0 ? result : .doNotRetry)
            })
        }
        let session = Session(interceptor: retrier("session", .retry), transport: MockTransport { _ in .status(500) })
        let request = session.request("http://mock/", interceptor: retrier("request", .retry)).validate()
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(requested.withLock { $0 } == ["session", "session", "request"])
    }

    @Test func aRetryDiscardsThePreviousResponse() async {
        let transport = MockTransport { request in
            request.fields[.accept] == "again" ? .failure(.connectionLost) : .text("first", status: 500)
        }
        let adapting: Scripted.Adapting = { request, answer in
            var request = request
            if request.value(forHTTPHeaderField: "Accept") == nil, transport.requests.count == 1 {
                request.setValue("again", forHTTPHeaderField: "Accept")
            }
            answer(.success(request))
        }
        let session = Session(
            interceptor: Scripted(
                adapting: adapting,
                retrying: { request, answer in answer(request.retryCount == 0 ? .retry : .doNotRetry) }),
            transport: transport)
        let request = session.request("http://mock/").validate(statusCode: 200..<300)
        let response = await request.serializingResponse(using: Bytes()).response
        #expect(response.error?.isSessionTaskError == true)
        #expect(response.data == nil)
        #expect(response.response == nil)
        #expect(request.requests.count == 4)
    }

    @Test func aHandlerAddedBetweenAttemptsReceivesTheLastResponseOnce() async {
        let transport = MockTransport { request in request.fields[.accept] == nil ? .status(500) : .text("second") }
        let added = Locked<DataTask<Data>?>(nil)
        let session = Session(
            interceptor: Scripted(
                adapting: { request, answer in
                    var request = request
                    if !transport.requests.isEmpty { request.setValue("text/plain", forHTTPHeaderField: "Accept") }
                    answer(.success(request))
                },
                retrying: { request, answer in
                    if let request = request as? DataRequest {
                        added.withLock { $0 = request.serializingResponse(using: Bytes()) }
                    }
                    answer(.retry)
                }),
            transport: transport)
        let first = session.request("http://mock/").validate().serializingResponse(using: Bytes())
        #expect(await first.response.value == Data("second".utf8))
        // Breaks the session's retain cycle through the task.
        let second = added.withLock { task in
            defer { task = nil }
            return task
        }
        #expect(await second?.response.value == Data("second".utf8))
        #expect(transport.requests.count == 2)
    }
}
