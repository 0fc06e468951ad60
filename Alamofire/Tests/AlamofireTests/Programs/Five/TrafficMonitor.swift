import Alamofire
import Testing

/// Counts the requests and bytes of a session.
final class TrafficMonitor: EventMonitor, @unchecked Sendable {
    let queue = DispatchQueue(label: "traffic")
    private(set) var finished: [String] = []
    private(set) var received = 0
    private(set) var last: URLSessionTaskMetrics?

    func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {}

    func request<Value>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>) {
        received += response.data?.count ?? 0
    }

    func request(_ request: Request, didCollectMetrics metrics: URLSessionTaskMetrics) {}

    func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) { last = metrics }

    func requestDidFinish(_ request: Request) { finished.append(request.request?.url?.path ?? "") }
}

@Suite struct TrafficMonitorTests {
    @Test func requestsAreCounted() async throws {
        try await withServer { server in
            let monitor = TrafficMonitor()
            let session = Session(eventMonitors: [monitor])
            _ = await session.request(server.url("/bytes/100")).serializingData().response
            _ = await session.request(server.url("/bytes/50")).serializingData().response
            monitor.queue.sync {}
            #expect(monitor.finished == ["/bytes/100", "/bytes/50"] && monitor.received == 150)
            #expect(monitor.last?.transactionMetrics.count == 1)
        }
    }
}
