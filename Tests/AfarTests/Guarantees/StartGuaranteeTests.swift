import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// The start of requests, and the transitions between their states.
@Suite struct StartGuaranteeTests {
    /// Records the creation of a `URLRequest`.
    private struct RecordingConvertible: URLRequestConvertible {
        let url: URL
        let steps: Steps

        func asURLRequest() throws -> URLRequest {
            steps.take("made")
            return URLRequest(url: url)
        }
    }

    private func session(_ kind: TransportKind, startRequestsImmediately: Bool) -> Session {
        Session(startRequestsImmediately: startRequestsImmediately, transport: kind.make(.default))
    }

    /// The request's setting overrides the session's.
    @Test(
        arguments: TransportKind.allCases,
        [(true, nil, true), (false, nil, false), (true, false, false), (false, true, true)] as [(Bool, Bool?, Bool)])
    func theFirstHandlerStartsAnAutomaticRequest(
        kind: TransportKind, setting: (session: Bool, request: Bool?, starts: Bool)
    ) async throws {
        let server = try await TestServer.start()
        let session = session(kind, startRequestsImmediately: setting.session)
        let request = session.request(server.url("/get"), shouldAutomaticallyResume: setting.request)
        #expect(request.isInitialized)
        let task = request.serializingData()
        #expect(request.isInitialized == !setting.starts)
        request.resume()
        #expect(await task.response.error == nil)
        #expect(server.requestCount == 1)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aLazyRequestCreatesNothingBeforeItsStart(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = session(kind, startRequestsImmediately: false)
        let steps = Steps()
        let request = session.request(
            RecordingConvertible(url: server.url("/get"), steps: steps),
            interceptor: .adapter { urlRequest, _, completion in
                steps.take("adapted")
                completion(.success(urlRequest))
            })
        let task = request.serializingData()
        let other = session.request(server.url("/json"))
        other.resume()
        _ = await other.serializingData().response
        #expect(steps.taken == [])
        #expect(request.requests.isEmpty)
        request.resume()
        #expect(await task.response.error == nil)
        #expect(steps.taken == ["made", "adapted"])
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func cancelledAndFinishedAreFinalForTheCaller(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let finished = session.request(server.url("/get"))
        _ = await finished.serializingData().response
        finished.cancel().resume().suspend()
        #expect(finished.state == .finished)
        #expect(finished.error == nil)
        let cancelled = session.request(server.url("/get")).cancel()
        cancelled.resume().suspend().resume()
        #expect(cancelled.state == .cancelled)
        #expect(await cancelled.serializingData().response.error?.isExplicitlyCancelledError == true)
        #expect(server.requestCount == 1)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func lifeCycleCallsAreSafeFromAnyThread(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        for cancels in [false, true] {
            for _ in 0..<10 {
                let request = session.request(server.url("/bytes/1000"))
                let calls = Locked(0)
                let task = request.serializingData()
                await withTaskGroup(of: Void.self) { group in
                    for index in 0..<30 {
                        group.addTask {
                            switch index % 3 {
                            case 0: request.suspend()
                            case 1 where cancels && index == 16: request.cancel()
                            default: request.resume()
                            }
                            calls.withLock { $0 += 1 }
                        }
                    }
                }
                request.resume()
                let response = await task.response
                #expect(calls.withLock { $0 } == 30)
                let wasCancelled = cancels && response.error?.isExplicitlyCancelledError == true
                #expect(response.value?.count == 1000 || wasCancelled)
            }
        }
        await server.stop()
    }
}
