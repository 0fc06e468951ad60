import Afar
import AfarCore
import Foundation

/// Records all events by short names. The names of task events begin with a dot.
final class EventLog: EventMonitor {
    let queue = DispatchQueue(label: "events")
    private let noted = Locked<[String]>([])

    /// The events so far, without consecutive repetitions.
    var events: [String] {
        queue.sync {}
        return noted.withLock { $0 }.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    func note(_ event: String) {
        dispatchPrecondition(condition: .onQueue(queue))
        noted.withLock { $0.append(event) }
    }

    // MARK: Sessions

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        note("· didBecomeInvalidWithError")
    }

    // MARK: Tasks

    func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge) {
        note("· didReceive challenge")
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        note("· didSendBodyData")
    }

    func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
        note("· taskNeedsNewBodyStream")
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {
        note("· willPerformHTTPRedirection")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: TaskMetrics) {
        note("· didFinishCollecting")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        note("· didCompleteWithError")
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        note("· taskIsWaitingForConnectivity")
    }

    // MARK: Data tasks

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
        note("· didReceive response")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note("· didReceive data")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) {
        note("· willCacheResponse")
    }

    // MARK: Download tasks

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        note("· didResumeAtOffset")
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        note("· didWriteData")
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        note("· didFinishDownloadingTo")
    }

    // MARK: All requests

    func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        note("didCreateInitialURLRequest")
    }

    func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        note("didFailToCreateURLRequestWithError")
    }

    func request(_ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest) {
        note("didAdaptInitialRequest")
    }

    func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError) {
        note("didFailToAdaptURLRequest")
    }

    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        note("didCreateURLRequest")
    }

    func request(_ request: Request, didCreateTask task: URLSessionTask) {
        note("didCreateTask")
    }

    func request(_ request: Request, didGatherMetrics metrics: TaskMetrics) {
        note("didGatherMetrics")
    }

    func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        note("didFailTask")
    }

    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        note("didCompleteTask")
    }

    func requestIsRetrying(_ request: Request) {
        note("requestIsRetrying")
    }

    func requestDidFinish(_ request: Request) {
        note("requestDidFinish")
    }

    func requestDidResume(_ request: Request) {
        note("requestDidResume")
    }

    func request(_ request: Request, didResumeTask task: URLSessionTask) {
        note("didResumeTask")
    }

    func requestDidSuspend(_ request: Request) {
        note("requestDidSuspend")
    }

    func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        note("didSuspendTask")
    }

    func requestDidCancel(_ request: Request) {
        note("requestDidCancel")
    }

    func request(_ request: Request, didCancelTask task: URLSessionTask) {
        note("didCancelTask")
    }

    // MARK: Data requests

    func request(
        _ request: DataRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        data: Data?,
        withResult result: Request.ValidationResult
    ) {
        note("didValidateRequest")
    }

    func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        note("didParseResponse")
    }

    func request<Value: Sendable>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>) {
        note("didParseResponse of \(Value.self)")
    }

    // MARK: Streams

    func request(
        _ request: DataStreamRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        note("didValidateRequest")
    }

    func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>) {
        note("didParseStream of \(Value.self)")
    }

    // MARK: Uploads

    func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        note("didCreateUploadable")
    }

    func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        note("didFailToCreateUploadableWithError")
    }

    func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
        note("didProvideInputStream")
    }

    // MARK: Downloads

    func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
    ) {
        note("didFinishDownloadingUsing")
    }

    func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        note("didCreateDestinationURL")
    }

    func request(
        _ request: DownloadRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        fileURL: URL?,
        withResult result: Request.ValidationResult
    ) {
        note("didValidateRequest")
    }

    func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        note("didParseResponse")
    }

    func request<Value: Sendable>(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
    ) {
        note("didParseResponse of \(Value.self)")
    }
}
