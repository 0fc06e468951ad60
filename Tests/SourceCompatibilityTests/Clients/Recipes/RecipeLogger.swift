import Afar

/// Logs requests and responses.
class RecipeLogger: EventMonitor, @unchecked Sendable {
    let queue = DispatchQueue(label: "recipes.logger")
    private var entries: [String] = []

    var log: [String] { queue.sync { entries } }

    func requestDidResume(_ request: Request) {
        let body = request.request.flatMap { $0.httpBody.map { String(decoding: $0, as: UTF8.self) } } ?? "None"
        entries.append("started, body: \(body)")
    }

    func requestDidFinish(_ request: Request) {
        entries.append(request.description)
    }

    func request<Value>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>) {
        guard let data = response.data else {
            return
        }
        if let json = try? JSONSerialization.jsonObject(with: data, options: .mutableContainers) {
            entries.append("parsed \(type(of: json) is AnyClass ? "object" : "value")")
        }
        entries.append(String(describing: response.result))
    }

    func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        entries.append("early \(error)")
    }
}
