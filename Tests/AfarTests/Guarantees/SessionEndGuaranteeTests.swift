import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// Requests of deallocated sessions, and canceled tasks.
@Suite(.timeLimit(.minutes(1))) struct SessionEndGuaranteeTests {
    @Test(arguments: TransportKind.allCases)
    func aReleasedSessionFailsItsActiveRequests(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let entered = server.neverAnswers("/never")
        var session: Session? = kind.session()
        let tasks = (0..<5).map { _ in session?.request(server.url("/never")).serializingData() }
        await entered.wait()
        session = nil
        for task in tasks { #expect(await task?.response.error?.isSessionDeinitializedError == true) }
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func anInvalidatedSessionFailsActiveAndNewRequests(kind: TransportKind) async throws {
        struct Reason: Error {}
        let server = try await TestServer.start()
        let entered = server.neverAnswers("/never")
        let session = kind.session()
        let active = session.request(server.url("/never")).serializingData()
        await entered.wait()
        session.invalidate(with: Reason())
        for response in [await active.response, await session.request(server.url("/get")).serializingData().response] {
            #expect(response.error?.isSessionInvalidatedError == true)
            #expect(response.error?.underlyingError is Reason)
        }
        #expect(server.requestCount == 1)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func cancellingTheTaskCancelsTheRequest(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let entered = server.neverAnswers("/never")
        let session = kind.session()
        let request = session.request(server.url("/never"))
        let task = Task { await request.serializingData().response }
        await entered.wait()
        task.cancel()
        #expect(await task.value.error?.isExplicitlyCancelledError == true)
        #expect(request.state == .cancelled)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func cancellingTheRequestEndsTheWait(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let entered = server.neverAnswers("/never")
        let session = kind.session()
        let request = session.request(server.url("/never"))
        let task = Task { try await request.serializingData().value }
        await entered.wait()
        request.cancel()
        let result = await task.result
        #expect(throws: AFError.self) { try result.get() }
        #expect(!task.isCancelled)
        await server.stop()
    }
}
