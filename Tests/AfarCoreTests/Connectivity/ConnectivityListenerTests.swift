import AfarTesting
import Testing

@testable import AfarCore

/// Sessions close their idle connections when the network changes.
@Suite struct ConnectivityListenerTests {
    /// A transport that counts the calls to close idle connections.
    private final class ClosingTransport: Transport {
        private let base = MockTransport { _ in .text("ok") }
        private let state = Locked((count: 0, waiting: [(count: Int, Deferred<Void>)]()))

        var capabilities: TransportCapabilities { base.capabilities }
        func send(_ exchange: Exchange) async throws -> TransportResponse { try await base.send(exchange) }

        var closings: Int { state.withLock { $0.count } }

        func closeIdleConnections() {
            let waiting = state.withLock { state in
                state.count += 1
                return state.waiting
            }
            for (count, deferred) in waiting where count <= closings { deferred.fulfill(()) }
        }

        func hasClosed(_ count: Int) async {
            let deferred = Deferred<Void>()
            state.withLock { $0.waiting.append((count, deferred)) }
            if closings >= count { deferred.fulfill(()) }
            await deferred.value
        }
    }

    private let provider = ManualConnectivity(.online)
    private let transport = ClosingTransport()

    private func session(_ change: (inout SessionConfiguration) -> Void = { _ in }) -> Session {
        var configuration = SessionConfiguration()
        change(&configuration)
        return Session(configuration: configuration, transport: transport, connectivity: provider)
    }

    private func send(over session: Session) async {
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        #expect(response.error == nil)
    }

    @Test func openingConnectionsInAdvanceIsEnough() async {
        let session = session()
        // A mock opens no connections.
        await #expect(throws: AFError.self) { try await session.preconnect(to: "http://mock/") }
        await provider.hasListeners(1)
        provider.set(.online, identity: 1)
        await transport.hasClosed(1)
    }

    @Test(arguments: [false, true])
    func connectionsOfAnotherNetworkAreClosed(waits: Bool) async {
        let session = session { $0.waitsForConnectivity = waits }
        await send(over: session)
        await provider.hasListeners(1)
        provider.set(.online, identity: 1)
        await transport.hasClosed(1)
        // The same identity means the same network.
        provider.set(.unknown, identity: 1)
        provider.set(.offline, identity: 2)
        await transport.hasClosed(2)
        provider.set(.online, identity: 2)
        await send(over: session)
        #expect(transport.closings == 2)
        withExtendedLifetime(session) {}
    }

    /// A provider of scripted values. It returns each value after the previous one has been processed.
    private struct ScriptedConnectivity: ConnectivityProvider {
        let values: [Connectivity]
        let isOver = Deferred<Void>()

        var connectivity: Connectivity { Connectivity(.online, identity: 1) }

        func connectivityUpdates() -> AsyncStream<Connectivity> {
            let left = Locked(values[...])
            return AsyncStream(unfolding: {
                let next = left.withLock { $0.popFirst() }
                if next == nil { isOver.fulfill(()) }
                return next
            })
        }
    }

    @Test func anUnknownNetworkIsNotAnotherNetwork() async {
        let provider = ScriptedConnectivity(values: [
            Connectivity(.online, identity: 1), Connectivity(.unknown, identity: 9), Connectivity(.online, identity: 1),
        ])
        let session = Session(transport: transport, connectivity: provider)
        await send(over: session)
        await provider.isOver.value
        #expect(transport.closings == 0)
        withExtendedLifetime(session) {}
    }

    @Test func theFirstRequestStartsTheOnlyListener() async {
        let session = session()
        #expect(session.connectivity is ManualConnectivity)
        #expect(provider.listenersSoFar == 0)
        await send(over: session)
        await provider.hasListeners(1)
        for _ in 0..<100 { await send(over: session) }
        #expect(provider.listenersSoFar == 1)
        #expect(transport.closings == 0)
        withExtendedLifetime(session) {}
    }

    @Test func aReleasedSessionStopsListening() async {
        weak var released: Session?
        do {
            let session = session()
            released = session
            await send(over: session)
            await provider.hasListeners(1)
        }
        #expect(released == nil)
        await provider.hasListeners(0)
    }

    @Test func anInvalidatedSessionStopsListeningPermanently() async {
        let session = session()
        await send(over: session)
        await provider.hasListeners(1)
        session.invalidate()
        await provider.hasListeners(0)
        _ = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        #expect(provider.listenersSoFar == 1)
    }

    @Test func aSessionThatEndedBeforeItsFirstRequestNeverListens() async {
        let session = session()
        session.invalidate()
        let response = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        #expect(response.error?.isSessionInvalidatedError == true)
        #expect(provider.listenersSoFar == 0)
    }

    @Test func aFinishedProviderEndsTheListener() async {
        let session = session()
        await send(over: session)
        await provider.hasListeners(1)
        provider.finish()
        await provider.hasListeners(0)
        await send(over: session)
        #expect(provider.listenersSoFar == 1)
        #expect(transport.closings == 0)
        withExtendedLifetime(session) {}
    }
}
