import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Cancellation at each stage. A canceled request stays canceled, calls its handlers, keeps its metrics, and isn't
/// retried.
@Suite(.timeLimit(.minutes(1))) struct CancellationGuaranteeTests {
    /// Creates a retrier that retries everything and records its calls.
    private func eager(_ steps: Steps, seconds: TimeInterval? = nil) -> Retrier {
        Retrier { _, _, _, completion in
            completion(seconds.map { .retryWithDelay($0) } ?? .retry)
            steps.take("asked")
        }
    }

    /// Cancels a request and checks the outcome.
    ///
    /// - Parameter reached: Returns when the request has reached the stage at which to cancel it.
    private func expectCancelled(
        _ request: DataRequest, sourceLocation: SourceLocation = #_sourceLocation, when reached: () async -> Void
    ) async {
        let calls = Locked(0)
        let task = request.serializingData()
        let handled = Signal()
        request.response(queue: DispatchQueue(label: "handlers")) { response in
            calls.withLock { $0 += 1 }
            #expect(response.error?.isExplicitlyCancelledError == true, sourceLocation: sourceLocation)
            handled.set()
        }
        await reached()
        request.cancel()
        let response = await task.response
        await handled.wait()
        #expect(response.error?.isExplicitlyCancelledError == true, sourceLocation: sourceLocation)
        #expect(request.error?.isExplicitlyCancelledError == true, sourceLocation: sourceLocation)
        #expect(request.state == .cancelled, sourceLocation: sourceLocation)
        #expect(request.retryCount == 0, sourceLocation: sourceLocation)
        #expect(calls.withLock { $0 } == 1, sourceLocation: sourceLocation)
    }

    @Test(arguments: TransportKind.allCases)
    func beforeTheStart(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let steps = Steps()
        let session = kind.session(interceptor: eager(steps))
        await expectCancelled(session.request(server.url("/get"), shouldAutomaticallyResume: false)) {}
        #expect(server.connectionCount == 0)
        #expect(steps.taken == [])
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func inAnAdapterThatNeverAnswers(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let entered = Signal()
        let steps = Steps()
        let session = kind.session(
            interceptor: .interceptor(adapters: [Adapter { _, _, _ in entered.set() }], retriers: [eager(steps)]))
        await expectCancelled(session.request(server.url("/get"))) { await entered.wait() }
        #expect(server.connectionCount == 0)
        #expect(steps.taken == [])
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func beforeTheServerResponds(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let entered = server.neverAnswers("/never")
        let steps = Steps()
        let session = kind.session(interceptor: eager(steps))
        let request = session.request(server.url("/never"))
        await expectCancelled(request) { await entered.wait() }
        if kind.measures { #expect(request.metrics != nil) }
        #expect(server.requestCount == 1)
        #expect(steps.taken == [])
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func whileTheBodyArrives(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let steps = Steps()
        let session = kind.session(interceptor: eager(steps))
        let request = session.request(server.url("/drip?bytes=100000&seconds=600"))
        let arriving = Signal()
        request.downloadProgress(queue: DispatchQueue(label: "progress")) { progress in
            if progress.completedUnitCount > 0 { arriving.set() }
        }
        await expectCancelled(request) { await arriving.wait() }
        if kind.measures { #expect(request.metrics != nil) }
        #expect(steps.taken == [])
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func inARetrierThatNeverAnswers(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let requested = Signal()
        let session = kind.session(interceptor: .retrier { _, _, _, _ in requested.set() })
        let request = session.request(server.url("/status/503")).validate()
        await expectCancelled(request) { await requested.wait() }
        #expect(request.metrics != nil || !kind.measures)
        #expect(server.requestCount == 1)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func whileWaitingForARetry(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let requested = Signal()
        let session = kind.session(
            interceptor: .retrier { _, _, _, completion in
                completion(.retryWithDelay(600))
                requested.set()
            })
        await expectCancelled(session.request(server.url("/status/503")).validate()) { await requested.wait() }
        #expect(server.requestCount == 1)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func inASerializer(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let entered = Signal()
        let door = DispatchSemaphore(value: 0)
        let serializer = ClosureResponseSerializer<String> { _, _, _, _ in
            entered.set()
            door.wait()
            return "serialized"
        }
        let session = Session(
            serializationQueue: DispatchQueue(label: "serialization"), transport: kind.make(.default))
        let request = session.request(server.url("/get"))
        let task = request.serializingResponse(using: serializer)
        await entered.wait()
        request.cancel()
        door.signal()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
        #expect(request.state == .cancelled)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func afterTheEndCancellationHasNoEffect(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let request = session.request(server.url("/get"))
        _ = await request.serializingData().response
        request.cancel()
        #expect(request.state == .finished)
        #expect(request.error == nil)
        #expect(await request.serializingData().response.error == nil)
        await server.stop()
    }
}
