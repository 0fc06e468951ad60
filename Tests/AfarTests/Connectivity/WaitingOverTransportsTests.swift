import Afar
import AfarCore
import AfarTestServer
import Foundation
import TestSupport
import Testing

/// Requests that wait for a network, over the real transports.
@Suite(.timeLimit(.minutes(1))) struct WaitingOverTransportsTests {
    @Test(arguments: [HTTPTransport(), CurlTransport()] as [any Transport])
    func aWaitingRequestOpensNoConnectionAndIsReportedOnce(over transport: any Transport) async throws {
        let server = try await RawServer.start([.respond("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")])
        let (provider, waits) = (SwitchedConnectivity(), Locked(0))
        let monitor = ClosureEventMonitor()
        monitor.taskIsWaitingForConnectivity = { _, _ in waits.withLock { $0 += 1 } }
        var configuration = SessionConfiguration.default
        configuration.waitsForConnectivity = true
        // Requests to a local name don't wait.
        configuration.exchangeOptions.network.connectTo = ["a.example:80": "127.0.0.1:\(server.port)"]
        let session = Session(
            configuration: configuration, eventMonitors: [monitor], transport: transport, connectivity: provider)
        let task = session.request("http://a.example/").serializingString()
        try await waitWhile { waits.withLock({ $0 }) == 0 }
        #expect(server.connectionCount == 0)
        provider.switchOn()
        #expect(try await task.value == "done")
        #expect(waits.withLock { $0 } == 1)
        #expect(server.connectionCount == 1)
    }
}

/// A provider without a network until the test switches it on.
private final class SwitchedConnectivity: ConnectivityProvider {
    private struct State {
        var connectivity = Connectivity(.offline, identity: 0)
        var listeners: [AsyncStream<Connectivity>.Continuation] = []
    }

    private let state = Locked(State())

    var connectivity: Connectivity { state.withLock { $0.connectivity } }

    func connectivityUpdates() -> AsyncStream<Connectivity> {
        let (stream, continuation) = AsyncStream.makeStream(of: Connectivity.self)
        state.withLock { state in
            continuation.yield(state.connectivity)
            state.listeners.append(continuation)
        }
        return stream
    }

    func switchOn() {
        state.withLock { state in
            state.connectivity = Connectivity(.online, identity: 1)
            for listener in state.listeners { listener.yield(state.connectivity) }
        }
    }
}
