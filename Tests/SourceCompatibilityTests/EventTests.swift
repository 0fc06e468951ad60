import Afar
import AfarTestServer
import Foundation
import Testing

/// A monitor that implements every method with Alamofire's signatures.
final class FullMonitor: EventMonitor, @unchecked Sendable {
    let queue = DispatchQueue(label: "monitor")
    private var called: Set<String> = []

    var names: Set<String> { queue.sync { called } }

    private func note(_ name: String = #function) { called.insert(name) }

    // MARK: Sessions

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: Error?) {
        note()
    }

    // MARK: Tasks

    func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge) {
        note()
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        note()
    }

    func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
        note()
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {
        note()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: TaskMetrics) {
        note()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: Error?) {
        note()
    }

    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        note()
    }

    // MARK: Data tasks

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
        note("urlSession(_:dataTask:didReceive:) response")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note("urlSession(_:dataTask:didReceive:) data")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) {
        note()
    }

    // MARK: Download tasks

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        note()
    }

    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        note()
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        note()
    }

    // MARK: All requests

    func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        note()
    }

    func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        note()
    }

    func request(_ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest) {
        note()
    }

    func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError) {
        note()
    }

    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        note()
    }

    func request(_ request: Request, didCreateTask task: URLSessionTask) {
        note()
    }

    func request(_ request: Request, didGatherMetrics metrics: TaskMetrics) {
        note()
    }

    func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        note()
    }

    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        note()
    }

    func requestIsRetrying(_ request: Request) {
        note()
    }

    func requestDidFinish(_ request: Request) {
        note()
    }

    func requestDidResume(_ request: Request) {
        note()
    }

    func request(_ request: Request, didResumeTask task: URLSessionTask) {
        note()
    }

    func requestDidSuspend(_ request: Request) {
        note()
    }

    func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        note()
    }

    func requestDidCancel(_ request: Request) {
        note()
    }

    func request(_ request: Request, didCancelTask task: URLSessionTask) {
        note()
    }

    // MARK: Data requests

    func request(
        _ request: DataRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        data: Data?,
        withResult result: Request.ValidationResult
    ) {
        note()
    }

    func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        note("request(_:didParseResponse:) plain")
    }

    func request<Value: Sendable>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>) {
        note("request(_:didParseResponse:) serialized")
    }

    // MARK: Streams

    func request(
        _ request: DataStreamRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        note()
    }

    func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>) {
        note()
    }

    // MARK: Uploads

    func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        note()
    }

    func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        note()
    }

    func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
        note()
    }

    // MARK: Downloads

    func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
    ) {
        note()
    }

    func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        note()
    }

    func request(
        _ request: DownloadRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        fileURL: URL?,
        withResult result: Request.ValidationResult
    ) {
        note()
    }

    func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        note("request(_:didParseResponse:) plain file")
    }

    func request<Value: Sendable>(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
    ) {
        note("request(_:didParseResponse:) serialized file")
    }
}

/// Counts calls from closures.
final class Counts: @unchecked Sendable {
    private let queue = DispatchQueue(label: "counts")
    private var counts: [String: Int] = [:]

    subscript(name: String) -> Int { queue.sync { counts[name, default: 0] } }

    func add(_ name: String) { queue.sync { counts[name, default: 0] += 1 } }
}

@Suite struct EventTests {
    /// Events that the requests in these tests don't cause.
    private static let uncalled: Set<String> = [
        "urlSession(_:taskIsWaitingForConnectivity:)", "urlSession(_:dataTask:willCacheResponse:)",
    ]

    private static let all: Set<String> = [
        "urlSession(_:didBecomeInvalidWithError:)",
        "urlSession(_:task:didReceive:)",
        "urlSession(_:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:)",
        "urlSession(_:taskNeedsNewBodyStream:)",
        "urlSession(_:task:willPerformHTTPRedirection:newRequest:)",
        "urlSession(_:task:didFinishCollecting:)",
        "urlSession(_:task:didCompleteWithError:)",
        "urlSession(_:taskIsWaitingForConnectivity:)",
        "urlSession(_:dataTask:didReceive:) response",
        "urlSession(_:dataTask:didReceive:) data",
        "urlSession(_:dataTask:willCacheResponse:)",
        "urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:)",
        "urlSession(_:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:)",
        "urlSession(_:downloadTask:didFinishDownloadingTo:)",
        "request(_:didCreateInitialURLRequest:)",
        "request(_:didFailToCreateURLRequestWithError:)",
        "request(_:didAdaptInitialRequest:to:)",
        "request(_:didFailToAdaptURLRequest:withError:)",
        "request(_:didCreateURLRequest:)",
        "request(_:didCreateTask:)",
        "request(_:didGatherMetrics:)",
        "request(_:didFailTask:earlyWithError:)",
        "request(_:didCompleteTask:with:)",
        "requestIsRetrying(_:)",
        "requestDidFinish(_:)",
        "requestDidResume(_:)",
        "request(_:didResumeTask:)",
        "requestDidSuspend(_:)",
        "request(_:didSuspendTask:)",
        "requestDidCancel(_:)",
        "request(_:didCancelTask:)",
        "request(_:didValidateRequest:response:data:withResult:)",
        "request(_:didParseResponse:) plain",
        "request(_:didParseResponse:) serialized",
        "request(_:didValidateRequest:response:withResult:)",
        "request(_:didParseStream:)",
        "request(_:didCreateUploadable:)",
        "request(_:didFailToCreateUploadableWithError:)",
        "request(_:didProvideInputStream:)",
        "request(_:didFinishDownloadingUsing:with:)",
        "request(_:didCreateDestinationURL:)",
        "request(_:didValidateRequest:response:fileURL:withResult:)",
        "request(_:didParseResponse:) plain file",
        "request(_:didParseResponse:) serialized file",
    ]

    private func file() -> URL { FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString) }

    @Test func everyMethodIsCalled() async throws {
        let server = try await TestServer.start()
        let monitor = FullMonitor()
        var session: Session? = Session(
            interceptor: Interceptor(
                adapter: Adapter { request, _, completion in
                    completion(request.url?.path == "/refused" ? .failure(URLError(.badURL)) : .success(request))
                },
                retrier: RetryPolicy(retryLimit: 1, exponentialBackoffScale: 0.001)),
            eventMonitors: [monitor])
        if let session {
            try await makeRequests(of: session, server)
        }
        session = nil
        #expect(Self.all.subtracting(Self.uncalled).subtracting(monitor.names) == [])
        #expect(monitor.names.intersection(Self.uncalled).isEmpty)
        await server.stop()
    }

    private func makeRequests(of session: Session, _ server: TestServer) async throws {
        _ = await session.request("no url").serializingData().response
        _ = await session.request(server.url("/refused")).serializingData().response
        _ = await session.request(server.url("/redirect/1")).validate().serializingString().response
        _ = await session.request(server.url("/unstable?failures=1&key=events")).validate().serializingData().response
        _ = await session.request(server.url("/basic-auth/user/password"))
            .authenticate(username: "user", password: "password").serializingData().response
        await withCheckedContinuation { continuation in
            session.request(server.url("/get")).response(queue: .global()) { _ in continuation.resume() }
        }
        _ = await session.upload(file(), to: server.url("/upload")).serializingData().response
        _ = await session.upload(InputStream(data: Data(count: 10)), to: server.url("/upload"))
            .serializingData().response
        for await _ in session.streamRequest(server.url("/chunked/2")).validate().streamTask().streamingStrings() {}
        for await _ in session.streamRequest(server.url("/status/404")).validate().streamTask().streamingData() {}
        let file = file()
        let download = session.download(server.url("/range/100000?cuts=50000"), to: { _, _ in (file, []) }).validate()
        _ = await download.serializingDownloadedFileURL().response
        try FileManager.default.removeItem(at: file)
        await withCheckedContinuation { continuation in
            session.download(server.url("/get"), to: { _, _ in (file, []) }).response(queue: .global()) { _ in
                continuation.resume()
            }
        }
        try FileManager.default.removeItem(at: file)
        let slow = session.request(server.url("/delay/30"))
        async let response = slow.serializingData().response
        for await _ in slow.urlSessionTasks() {
            slow.suspend()
            slow.resume()
            slow.cancel()
        }
        _ = await response
        _ = await session.upload(FileManager.default.temporaryDirectory.appendingPathComponent("x/y"), to: "no url")
            .serializingData().response
        _ = await session.upload(BrokenUpload()).serializingData().response
    }

    private struct BrokenUpload: UploadConvertible {
        func createUploadable() throws -> UploadRequest.Uploadable { throw URLError(.fileDoesNotExist) }
        func asURLRequest() throws -> URLRequest { try URLRequest(url: "http://localhost", method: .post) }
    }

    @Test func closuresAreCalled() async throws {
        let server = try await TestServer.start()
        let counts = Counts()
        let monitor = ClosureEventMonitor()
        monitor.requestDidFinish = { _ in counts.add("finish") }
        monitor.requestDidCompleteTaskWithError = { request, task, error in
            if error == nil, task == request.task { counts.add("complete") }
        }
        monitor.requestDidGatherMetrics = { _, metrics in counts.add("\(metrics.transactionMetrics.count) hops") }
        monitor.dataTaskDidReceiveData = { _, _, data in counts.add("\(data.count) bytes") }
        let session = Session(eventMonitors: [monitor])
        _ = await session.request(server.url("/bytes/7")).serializingData().response
        await MainActor.run {}
        #expect(counts["finish"] == 1)
        #expect(counts["complete"] == 1)
        #expect(counts["1 hops"] == 1)
        #expect(counts["7 bytes"] == 1)
        await server.stop()
    }

    @Test func aDelegateHasClosures() async throws {
        let server = try await TestServer.start()
        let counts = Counts()
        let manager = Session()
        manager.delegate.taskDidComplete = { session, task, error in counts.add("complete") }
        manager.delegate.taskWillPerformHTTPRedirection = { session, task, response, request in
            counts.add("redirect")
            return request
        }
        manager.delegate.dataTaskDidReceiveResponse = { session, task, response in
            counts.add("response")
            return URLSession.ResponseDisposition.allow
        }
        let response = await manager.request(server.url("/redirect/2")).serializingData().response
        #expect(response.response?.statusCode == 200)
        manager.rootQueue.sync {}
        #expect(counts["complete"] == 1)
        #expect(counts["redirect"] == 2)
        #expect(counts["response"] == 1)
        await server.stop()
    }

    // The first use of a notification's name affects all sessions of a process.
    @Test func notificationsNameTheirRequest() async throws {
        await #expect(processExitsWith: .success) {
            let server = try await TestServer.start()
            let counts = Counts()
            let request = AF.request(server.url("/get"))
            let tokens = [Request.didFinishNotification, Request.didCompleteTaskNotification].map { name in
                NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
                    if notification.request == request { counts.add(name.rawValue) }
                }
            }
            _ = await request.serializingData().response
            await withCheckedContinuation { posted in RequestNotifications.defaultQueue.async { posted.resume() } }
            #expect(counts[Request.didFinishNotification.rawValue] == 1)
            #expect(counts[Request.didCompleteTaskNotification.rawValue] == 1)
            tokens.forEach(NotificationCenter.default.removeObserver)
            await server.stop()
        }
    }

    @Test func allRequestsAreCancelledTogether() async throws {
        let server = try await TestServer.start()
        let session = Session()
        let tasks = (0..<5).map { _ in session.request(server.url("/delay/30")).serializingData() }
        await withCheckedContinuation { continuation in
            session.withAllRequests { requests in
                #expect(requests.count == 5)
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            session.cancelAllRequests(completingOnQueue: .global()) { continuation.resume() }
        }
        for task in tasks { #expect(await task.response.error?.isExplicitlyCancelledError == true) }
        await server.stop()
    }
}
