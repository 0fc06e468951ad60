import AfarTesting
import Foundation
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Notifications about the `URLRequest`s of a request.
@Suite struct RequestURLRequestTests {
    private let queue = DispatchQueue(label: "requests")

    /// Creates a session whose adapter numbers the attempts. The first attempt fails.
    private func retryingSession() -> Session {
        let attempts = Locked(0)
        let interceptor = Scripted(
            adapting: { urlRequest, answer in
                var urlRequest = urlRequest
                let number = attempts.withLock { attempts in
                    attempts += 1
                    return attempts
                }
                urlRequest.setValue("\(number)", forHTTPHeaderField: "Attempt")
                answer(.success(urlRequest))
            },
            retrying: { request, answer in answer(request.retryCount == 0 ? .retry : .doNotRetry) })
        let transport = MockTransport { _ in
            attempts.withLock { $0 } == 1 ? .failure(.connectionLost) : .text("ok")
        }
        return Session(interceptor: interceptor, transport: transport)
    }

    @Test func eachAttemptReportsTheAdaptedRequest() async {
        let session = retryingSession()
        let reported = Locked<[String?]>([])
        let request = session.request("http://mock/").onURLRequestCreation(on: queue) { urlRequest in
            reported.withLock { $0.append(urlRequest.value(forHTTPHeaderField: "Attempt")) }
        }
        var iterator = request.urlRequests().makeAsyncIterator()
        let task = request.serializingResponse(using: Bytes())
        var streamed: [String?] = []
        while let urlRequest = await iterator.next() {
            streamed.append(urlRequest.value(forHTTPHeaderField: "Attempt"))
        }
        #expect(await task.response.error == nil)
        queue.sync {}
        #expect(streamed == ["1", "2"])
        #expect(reported.withLock { $0 } == ["1", "2"])
        #expect(request.requests.count == 4)
    }

    @Test func withoutAdaptersTheOriginalRequestIsReported() async {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let reported = Deferred<URLRequest>()
        let request = session.request("http://mock/a", headers: ["X": "y"])
            .onURLRequestCreation { urlRequest in
                dispatchPrecondition(condition: .onQueue(.main))
                reported.fulfill(urlRequest)
            }
        #expect(await request.serializingResponse(using: Bytes()).response.error == nil)
        let urlRequest = await reported.value
        #expect(urlRequest.url?.path == "/a")
        #expect(urlRequest.value(forHTTPHeaderField: "X") == "y")
    }

    @Test func onlyTheLastClosureIsCalled() async {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let reported = Locked<[String]>([])
        let request = session.request("http://mock/")
            .onURLRequestCreation(on: queue) { _ in reported.withLock { $0.append("replaced") } }
            .onURLRequestCreation(on: queue) { _ in reported.withLock { $0.append("last") } }
        _ = await request.serializingResponse(using: Bytes()).response
        queue.sync {}
        #expect(reported.withLock { $0 } == ["last"])
    }

    @Test func aLateClosureReceivesTheLastRequestImmediately() async {
        let session = retryingSession()
        let request = session.request("http://mock/")
        _ = await request.serializingResponse(using: Bytes()).response
        let reported = Locked<[String?]>([])
        request.onURLRequestCreation(on: queue) { urlRequest in
            reported.withLock { $0.append(urlRequest.value(forHTTPHeaderField: "Attempt")) }
        }
        queue.sync {}
        #expect(reported.withLock { $0 } == ["2"])
        for await urlRequest in request.urlRequests() {
            #expect(urlRequest.value(forHTTPHeaderField: "Attempt") == "2")
        }
    }

    @Test func aClosureAddedBetweenAttemptsReceivesBothRequests() async {
        let requested = Deferred<Void>()
        let proceed = Deferred<Void>()
        let interceptor = Scripted(retrying: { _, answer in
            requested.fulfill(())
            Task {
                await proceed.value
                answer(.retry)
            }
        })
        let attempts = Locked(0)
        let session = Session(
            interceptor: interceptor,
            transport: MockTransport { _ in
                attempts.withLock { attempts in
                    attempts += 1
                    return attempts == 1 ? .failure(.connectionLost) : .text("ok")
                }
            })
        let request = session.request("http://mock/")
        let task = request.serializingResponse(using: Bytes())
        await requested.value
        var iterator = request.urlRequests().makeAsyncIterator()
        #expect(await iterator.next() == request.lastRequest)
        #expect(request.requests.count == 2)
        proceed.fulfill(())
        #expect(await iterator.next() != nil)
        #expect(await iterator.next() == nil)
        #expect(await task.response.error == nil)
    }

    @Test func aClosureAddedDuringAdaptationReceivesTheAdaptedRequest() async {
        let adapting = Deferred<Void>()
        let proceed = Deferred<Void>()
        let interceptor = Scripted(adapting: { urlRequest, answer in
            adapting.fulfill(())
            Task {
                await proceed.value
                var urlRequest = urlRequest
                urlRequest.setValue("yes", forHTTPHeaderField: "Adapted")
                answer(.success(urlRequest))
            }
        })
        let session = Session(interceptor: interceptor, transport: MockTransport { _ in .text("ok") })
        let request = session.request("http://mock/")
        let task = request.serializingResponse(using: Bytes())
        await adapting.value
        let adapted = Locked<[String?]>([])
        let commands = Locked<[String]>([])
        request.onURLRequestCreation(on: queue) { urlRequest in
            adapted.withLock { $0.append(urlRequest.value(forHTTPHeaderField: "Adapted")) }
        }
        request.cURLDescription(on: queue) { command in commands.withLock { $0.append(command) } }
        proceed.fulfill(())
        #expect(await task.response.error == nil)
        queue.sync {}
        #expect(adapted.withLock { $0 } == ["yes"])
        #expect(commands.withLock { $0.count(where: { $0.contains("Adapted: yes") }) } == 1)
    }

    @Test func anInvalidRequestIsNotReported() async {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let request = session.request("")
        let stream = request.urlRequests()
        let response = await request.serializingResponse(using: Bytes()).response
        #expect(response.error?.isInvalidURLError == true)
        #expect(await stream.reduce(0) { count, _ in count + 1 } == 0)
    }
}
