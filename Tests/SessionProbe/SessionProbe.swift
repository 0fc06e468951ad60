import Afar
import Foundation

/// Makes one request before the network changes and one after, over one session, and prints what came of each. It runs in a
/// network of its own, where a test makes that change.
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

/// Tells when its idle connections have been closed.
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
