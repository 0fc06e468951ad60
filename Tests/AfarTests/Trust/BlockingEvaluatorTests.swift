import Afar
import AfarCore
import AfarTestServer
import Foundation
import TestServers
import Testing

/// Evaluators that block their thread. Tests that need all evaluator threads run in their own process.
@Suite(.timeLimit(.minutes(2))) struct BlockingEvaluatorTests {
    /// An evaluator that blocks until its door opens.
    private final class Blocking: ServerTrustEvaluating {
        let door = DispatchSemaphore(value: 0)
        let isAsked = Deferred<Void>()

        func evaluate(_ trust: ServerTrust, forHost host: String) throws {
            isAsked.fulfill(())
            door.wait()
        }
    }

    /// An evaluator that blocks until a task has run.
    private struct WaitingForATask: ServerTrustEvaluating {
        func evaluate(_ trust: ServerTrust, forHost host: String) throws {
            let hasRun = DispatchSemaphore(value: 0)
            Task { hasRun.signal() }
            hasRun.wait()
        }
    }

    private static func session(_ evaluator: any ServerTrustEvaluating) -> Session {
        Session(serverTrustManager: ServerTrustManager(evaluators: ["localhost": evaluator]))
    }

    private static func server() async throws -> SecureServer {
        try await SecureServer(try TestCertificates.shared.get(), ["good": .init("good")])
    }

    @Test func blockingEvaluatorsDelayOnlyWaitingRequests() async {
        await #expect(processExitsWith: .success) {
            let server = try await Self.server()
            let url = try server.url("good")
            let plain = try await TestServer.start()
            let evaluators = (0..<16).map { _ in Blocking() }
            let sessions = evaluators.map { Self.session($0) }
            let tasks = sessions.map { $0.request(url).serializingString() }
            for evaluator in evaluators { await evaluator.isAsked.value }
            #expect(await AF.request(plain.url("/get")).serializingData().response.error == nil)
            // All threads are in use. Other requests wait within their timeouts.
            let last = Blocking()
            let lastSession = Self.session(last)
            let late = await lastSession.request(url).options { $0.connectTimeout = 1 }.serializingString().response
            #expect((late.error?.underlyingError as? URLError)?.code == .timedOut)
            #expect(late.error?.localizedDescription.contains("16 other evaluators") == true)
            let total = await lastSession.request(url).options { $0.totalTimeout = 0.2 }.serializingString().response
            #expect((total.error?.underlyingError as? URLError)?.code == .timedOut)
            let waiting = lastSession.request(url).serializingString()
            // The evaluator of a canceled request continues to run and keeps its thread.
            tasks[0].cancel()
            #expect(await tasks[0].response.error?.isExplicitlyCancelledError == true)
            for evaluator in evaluators { evaluator.door.signal() }
            await last.isAsked.value
            last.door.signal()
            #expect(await waiting.response.error == nil)
            for task in tasks.dropFirst() { #expect(await task.response.error == nil) }
            withExtendedLifetime((sessions, server)) {}
        }
    }

    @Test func manyEvaluatorsCanWaitForTasks() async {
        await #expect(processExitsWith: .success) {
            let server = try await Self.server()
            let url = try server.url("good")
            let sessions = (0..<40).map { _ in Self.session(WaitingForATask()) }
            let tasks = sessions.map { $0.request(url).serializingString() }
            for task in tasks { #expect(await task.response.error == nil) }
            withExtendedLifetime((sessions, server)) {}
        }
    }

    @Test func theTotalTimeoutEndsARequestWhoseEvaluatorRuns() async throws {
        let server = try await Self.server()
        let evaluator = Blocking()
        let session = Self.session(evaluator)
        let response = await session.request(try server.url("good")).options { $0.totalTimeout = 2 }
            .serializingString().response
        evaluator.door.signal()
        #expect((response.error?.underlyingError as? URLError)?.code == .timedOut)
        #expect(response.error?.localizedDescription.contains("total timeout") == true)
    }

    @TaskLocal private static var caller = "nobody"

    private final class Curious: ServerTrustEvaluating {
        let callers = Locked<[String]>([])

        func evaluate(_ trust: ServerTrust, forHost host: String) throws {
            callers.withLock { $0.append(BlockingEvaluatorTests.caller) }
        }
    }

    @Test func taskLocalValuesReachEvaluators() async throws {
        let server = try await Self.server()
        let (alone, composed) = (Curious(), Curious())
        for evaluator in [alone, .composite(evaluators: [composed])] as [any ServerTrustEvaluating] {
            let session = Self.session(evaluator)
            let request = try Self.$caller.withValue("somebody") { session.request(try server.url("good")).resume() }
            #expect(await request.serializingString().response.error == nil)
        }
        #expect(alone.callers.withLock { $0 } == ["somebody"] && composed.callers.withLock { $0 } == ["somebody"])
    }
}
