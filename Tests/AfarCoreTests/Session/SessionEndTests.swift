import AfarTesting
import Foundation
import Testing

@testable import AfarCore

/// Requests fail at every stage when their session is deallocated.
@Suite struct SessionEndTests {
    private let transport = MockTransport { _ in .status(500) }

    private func expectDeinitialized(
        _ task: DataTask<Data>?, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let error = await task?.response.error
        #expect(
            error?.isSessionDeinitializedError == true, "\(String(describing: error))", sourceLocation: sourceLocation)
    }

    @Test func releasedWhileAnAdapterNeverAnswers() async {
        let entered = Deferred<Void>()
        var session: Session? = Session(
            interceptor: Scripted(adapting: { _, _ in entered.fulfill(()) }), transport: transport)
        let task = session?.request("http://mock/").serializingResponse(using: Bytes())
        await entered.value
        session = nil
        await expectDeinitialized(task)
        #expect(transport.requests.isEmpty)
    }

    @Test func releasedWhileARetrierNeverAnswers() async {
        let requested = Deferred<Void>()
        var session: Session? = Session(
            interceptor: Scripted(retrying: { _, _ in requested.fulfill(()) }), transport: transport)
        let task = session?.request("http://mock/").validate().serializingResponse(using: Bytes())
        await requested.value
        session = nil
        await expectDeinitialized(task)
    }

    @Test func releasedBetweenAttempts() async {
        let requested = Deferred<Void>()
        var session: Session? = Session(
            interceptor: Scripted(retrying: { _, answer in
                answer(.retryWithDelay(60))
                requested.fulfill(())
            }), transport: transport)
        let task = session?.request("http://mock/").validate().serializingResponse(using: Bytes())
        await requested.value
        session = nil
        await expectDeinitialized(task)
        #expect(transport.requests.count == 1)
    }

    @Test func releasedWhileAHeadsHandlerNeverAnswers() async {
        let requested = Deferred<Void>()
        var session: Session? = Session(transport: transport)
        let task = session?.request("http://mock/")
            .onHTTPResponse(on: DispatchQueue(label: "heads")) { _, _ in requested.fulfill(()) }
            .serializingResponse(using: Bytes())
        await requested.value
        session = nil
        await expectDeinitialized(task)
    }

    @Test func invalidatedWhileARetrierDecides() async {
        struct Reason: Error {}
        let requested = Deferred<Void>()
        let session = Session(interceptor: Scripted(retrying: { _, _ in requested.fulfill(()) }), transport: transport)
        let task = session.request("http://mock/").validate().serializingResponse(using: Bytes())
        await requested.value
        session.invalidate(with: Reason())
        let error = await task.response.error
        #expect(error?.isSessionInvalidatedError == true, "\(String(describing: error))")
        #expect(error?.underlyingError is Reason)
    }

    @Test func invalidatedWhileSuspendedInFlight() async {
        let entered = Deferred<Void>()
        let session = Session(
            transport: MockTransport { _ in
                entered.fulfill(())
                return .text("never").delayed(by: .seconds(60))
            })
        let request = session.request("http://mock/")
        let task = request.serializingResponse(using: Bytes())
        await entered.value
        request.suspend()
        session.invalidate()
        #expect(await task.response.error?.isSessionInvalidatedError == true)
        #expect(request.isFinished)
    }

    @Test func aFinishedRequestIsNotChanged() async {
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let request = session.request("http://mock/")
        _ = await request.serializingResponse(using: Bytes()).response
        #expect(request.isFinished)
        request.end(with: .sessionDeinitialized)
        #expect(request.error == nil)
        #expect(await request.serializingResponse(using: Bytes()).response.value == Data("ok".utf8))
    }

    @Test func aCancellationIsNotOverwritten() async {
        let session = Session(startRequestsImmediately: false, transport: transport)
        let request = session.request("http://mock/").cancel()
        session.invalidate()
        #expect(await request.serializingResponse(using: Bytes()).response.error?.isExplicitlyCancelledError == true)
    }
}
