import Afar

/// Counts and records the client's events.
final class HubMonitor: EventMonitor, @unchecked Sendable {
    let queue = DispatchQueue(label: "hub.monitor")
    private var lines: [String] = []
    private var retries = 0

    /// The events so far.
    var log: (lines: [String], retries: Int) { queue.sync { (lines, retries) } }

    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        lines.append("\(urlRequest.httpMethod ?? "GET") \(urlRequest.url?.path ?? "")")
    }

    func requestIsRetrying(_ request: Request) {
        retries += 1
    }

    func requestDidFinish(_ request: Request) {
        lines.append("finished \(request.response?.statusCode ?? 0)")
    }

    func request<Value>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>) {
        lines.append("parsed \(Value.self)")
        if let error = response.error { debugPrint(error) }
    }
}
