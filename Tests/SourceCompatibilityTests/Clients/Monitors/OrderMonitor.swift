import Afar
import Foundation

/// Records the events of requests in order.
final class OrderMonitor: EventMonitor, @unchecked Sendable {
    let queue = DispatchQueue(label: "order")
    private var list: [String] = []

    var events: [String] { queue.sync { list } }

    private func add(_ event: String) {
        dispatchPrecondition(condition: .onQueue(queue))
        list.append(event)
    }

    func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) { add("initial") }
    func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) { add("failed to create") }
    func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
    ) {
        add("adapted \(initialRequest.headers.count < adaptedRequest.headers.count)")
    }
    func request(
        _ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError
    ) {
        add("failed to adapt")
    }
    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) { add("URLRequest") }
    func request(_ request: Request, didCreateTask task: URLSessionTask) { add("task") }
    func request(_ request: Request, didGatherMetrics metrics: TaskMetrics) { add("metrics") }
    func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        add("failed early")
    }
    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        add(error == nil ? "completed" : "completed with error")
    }
    func requestIsRetrying(_ request: Request) { add("retrying \(request.retryCount)") }
    func requestDidFinish(_ request: Request) { add("finished") }
    func requestDidResume(_ request: Request) { add("resumed") }
    func request(_ request: Request, didResumeTask task: URLSessionTask) { add("task resumed") }
    func requestDidSuspend(_ request: Request) { add("suspended") }
    func request(_ request: Request, didSuspendTask task: URLSessionTask) { add("task suspended") }
    func requestDidCancel(_ request: Request) { add("cancelled") }
    func request(_ request: Request, didCancelTask task: URLSessionTask) { add("task cancelled") }
    func request(
        _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
        withResult result: Request.ValidationResult
    ) {
        switch result {
        case .success: add("valid")
        case .failure: add("invalid")
        }
    }
    func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) { add("response") }
    func request<Value>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>) {
        add("parsed \(Value.self)")
    }
    func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        switch uploadable {
        case .data: add("uploadable data")
        case .file(_, let shouldRemove): add("uploadable file \(shouldRemove)")
        default: add("uploadable stream")
        }
    }
    func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) { add("no uploadable") }
    func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
    ) {
        add("downloaded")
    }
    func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) { add("destination") }
    func request(
        _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        fileURL: URL?, withResult result: Request.ValidationResult
    ) {
        add("valid file")
    }
    func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        add("response")
    }
    func request<Value>(_ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>) {
        add("parsed \(Value.self)")
    }
    func request<Value>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>) {
        add("parsed stream of \(Value.self)")
    }
}
