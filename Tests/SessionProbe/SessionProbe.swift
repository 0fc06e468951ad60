import Afar
import Foundation

/// Makes one request before and one after a change of the network, with the same session, and prints the outcomes. It
/// runs in its own network namespace, in which a test makes the change.
@main
struct SessionProbe {
    static func main() async {
        let transport = WatchedTransport(CurlTransport())
        let session = Session(transport: transport, connectivity: NetworkMonitor.shared)
        let url = CommandLine.arguments[1]
        await report(session.request(url))
        for await _ in transport.closings { break }
        await report(session.request(url))
    }

    private static func report(_ request: DataRequest) async {
        let started = ContinuousClock.now
        let response = await request.serializingData().response
        let milliseconds = Int((ContinuousClock.now - started) / .milliseconds(1))
        let connection = response.metrics?.transactionMetrics.last?.isReusedConnection == true ? "used" : "new"
        let code = response.response?.statusCode ?? (response.error?.underlyingError as? URLError)?.errorCode ?? 0
        FileHandle.standardOutput.write(Data("\(code) \(connection) \(milliseconds)\n".utf8))
    }
}

/// Signals when its idle connections have been closed.
private struct WatchedTransport: Transport {
    let base: CurlTransport
    let closings: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init(_ base: CurlTransport) {
        self.base = base
        (closings, continuation) = AsyncStream.makeStream()
    }

    var capabilities: TransportCapabilities { base.capabilities }

    func send(_ exchange: Exchange) async throws -> TransportResponse { try await base.send(exchange) }

    func closeIdleConnections() {
        base.closeIdleConnections()
        continuation.yield()
    }
}
