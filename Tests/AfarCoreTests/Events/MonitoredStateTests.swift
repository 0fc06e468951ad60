import AfarTesting
import Foundation
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A monitor that reads a request's properties during each event, before the request continues.
///
/// It ignores events that are sent while the request's lock is held.
private final class StateMonitor: SelectiveEventMonitor {
    let queue = DispatchQueue(label: "unused")
    private let noted = Locked<[String]>([])

    var all: [String] { noted.withLock { $0 } }

    private func note(_ event: String, _ isRight: Bool) {
        noted.withLock { $0.append(isRight ? event : "\(event), too early") }
    }

    /// Records the request's state during an event.
    ///
    /// - Parameter error: The error in the notification.
    private func note(_ event: String, failing request: Request, with error: AFError?) {
        note(event, request.error != nil && (error == nil || "\(error as Any)" == "\(request.error as Any)"))
    }

    private func note(_ event: String, _ result: Result<some Any, some Error>, of request: Request) {
        if case .failure = result { note(event, failing: request, with: result.error as? AFError) }
    }

    func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        note("initial", request.lastRequest == urlRequest && request.error == nil)
    }

    func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        note("no URLRequest", failing: request, with: error)
    }

    func request(_ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest) {
        note("adapted", request.requests.suffix(2) == [initialRequest, adaptedRequest])
    }

    func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError) {
        note("not adapted", failing: request, with: error)
    }

    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        note("URLRequest", request.lastRequest == urlRequest && !request.cURLDescription().hasPrefix("#"))
    }

    func request(_ request: Request, didGatherMetrics metrics: TaskMetrics) {
        note("metrics", request.metrics != nil)
    }

    func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        note("failed early", failing: request, with: error)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let request = task.afarRequest, error != nil else { return }
        note("broke off", failing: request, with: nil)
    }

    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        note("completed", error == nil || request.error != nil)
    }

    func requestIsRetrying(_ request: Request) {
        note("retrying", request.retryCount == 1 && request.error == nil)
    }

    func requestDidFinish(_ request: Request) {
        note("finish, \(request.state)", true)
    }

    func request(
        _ request: DataRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse, data: Data?,
        withResult result: Request.ValidationResult
    ) {
        note("validated", request.response != nil && request.data == data)
        note("invalid", result, of: request)
    }

    func request(
        _ request: DataStreamRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        note("invalid", result, of: request)
    }

    func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        note("uploadable", request.uploadable != nil)
    }

    func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        note("no uploadable", failing: request, with: error)
    }

    func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
    ) {
        note("not moved", result, of: request)
    }

    func request(
        _ request: DownloadRequest, didValidateRequest urlRequest: URLRequest?, response: HTTPURLResponse,
        fileURL: URL?, withResult result: Request.ValidationResult
    ) {
        note("validated", request.response != nil && request.fileURL == fileURL)
        note("invalid", result, of: request)
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        note("file", (downloadTask.afarRequest as? DownloadRequest)?.fileURL == location)
    }
}

/// The request's state during notifications to its monitors.
@Suite struct MonitoredStateTests {
    enum Failure: CaseIterable {
        case invalidURL, unsendableBody, unsendableUser, refusingAdapter, adapterThatMakesNonsense, cancelledAdapter
        case missingUpload, lostConnection, invalidData, invalidStream, invalidFile, unmovableFile

        var events: [String] {
            let sent = ["initial", "URLRequest"]
            return switch self {
            case .invalidURL, .unsendableBody: ["no URLRequest"]
            case .unsendableUser: ["initial", "no URLRequest"]
            case .refusingAdapter, .adapterThatMakesNonsense, .cancelledAdapter: ["initial", "not adapted"]
            case .missingUpload: ["initial", "no uploadable"]
            case .lostConnection: sent + ["metrics", "broke off", "completed"]
            case .invalidData: sent + ["metrics", "validated", "invalid", "completed"]
            case .invalidStream: sent + ["invalid", "metrics", "failed early", "completed"]
            case .invalidFile: sent + ["file", "metrics", "validated", "invalid", "completed"]
            case .unmovableFile: sent + ["file", "metrics", "not moved", "completed"]
            }
        }
    }

    private struct Upload: UploadConvertible {
        func createUploadable() throws -> UploadRequest.Uploadable { throw CocoaError(.fileNoSuchFile) }
        func asURLRequest() throws -> URLRequest { try URLRequest(url: "http://mock/", method: .post) }
    }

    /// Returns when the request has finished.
    private func run(_ request: Request) async {
        let urlRequests = request.urlRequests()
        request.resume()
        for await _ in urlRequests {}
    }

    private func fail(_ failure: Failure, _ session: Session, _ requested: Deferred<Void>) async throws {
        switch failure {
        case .invalidURL: await run(session.request(""))
        case .unsendableBody: await run(session.request("http://mock/") { $0.httpBody = Data("body".utf8) })
        case .unsendableUser: await run(session.request("http://a%3Ab:c@mock/"))
        case .cancelledAdapter:
            let request = session.request("http://mock/")
            async let running: Void = run(request)
            await requested.value
            request.cancel()
            await running
        case .refusingAdapter, .adapterThatMakesNonsense, .lostConnection: await run(session.request("http://mock/"))
        case .missingUpload: await run(session.upload(Upload()))
        case .invalidData: await run(session.request("http://mock/").validate())
        case .invalidStream: await run(session.streamRequest("http://mock/").validate())
        case .invalidFile: await run(session.download("http://mock/").validate())
        case .unmovableFile:
            let request = session.download("http://mock/", to: { _, _ in (URL(filePath: "/proc/none"), []) })
            await run(request)
            let file = try #require(request.error?.sourceURL)
            try FileManager.default.removeItem(at: file.deletingLastPathComponent())
        }
    }

    private func interceptor(for failure: Failure, _ requested: Deferred<Void>) -> (any RequestInterceptor)? {
        switch failure {
        case .refusingAdapter: Scripted(adapting: { _, answer in answer(.failure(CocoaError(.featureUnsupported))) })
        case .adapterThatMakesNonsense:
            Scripted(adapting: { urlRequest, answer in
                var urlRequest = urlRequest
                urlRequest.httpBody = Data("body".utf8)
                answer(.success(urlRequest))
            })
        case .cancelledAdapter: Scripted(adapting: { _, _ in requested.fulfill(()) })
        default: nil
        }
    }

    @Test(arguments: Failure.allCases) func itsErrorIsSet(_ failure: Failure) async throws {
        let monitor = StateMonitor()
        let requested = Deferred<Void>()
        let session = Session(
            interceptor: interceptor(for: failure, requested), eventMonitors: [monitor],
            transport: MockTransport { _ in
                if case .lostConnection = failure { return .failure(.connectionLost) }
                if case .unmovableFile = failure { return .text("ok") }
                return .text("no", status: 500)
            })
        try await fail(failure, session, requested)
        #expect(monitor.all == failure.events + ["finish, \(failure == .cancelledAdapter ? "cancelled" : "finished")"])
    }

    @Test func itsPropertiesAreSet() async {
        let monitor = StateMonitor()
        let interceptor = Scripted(
            adapting: { urlRequest, answer in
                var urlRequest = urlRequest
                urlRequest.setValue("yes", forHTTPHeaderField: "Adapted")
                answer(.success(urlRequest))
            })
        let session = Session(
            interceptor: interceptor, eventMonitors: [monitor], transport: MockTransport { _ in .text("ok") })
        _ = await session.upload(Data("body".utf8), to: "http://mock/").validate(statusCode: 200..<300)
            .serializingResponse(using: Bytes()).response
        #expect(
            monitor.all == ["initial", "adapted", "uploadable", "URLRequest", "metrics", "validated", "completed"]
                + ["finish, resumed"])
    }

    @Test func aRetryStartsWithoutAnError() async {
        let monitor = StateMonitor()
        let interceptor = Scripted(retrying: { request, answer in
            answer(request.retryCount == 0 ? .retry : .doNotRetry)
        })
        let session = Session(
            interceptor: interceptor, eventMonitors: [monitor],
            transport: MockTransport { _ in .failure(.connectionLost) })
        let request = session.request("http://mock/")
        await run(request)
        let attempt = ["initial", "adapted", "URLRequest", "metrics", "broke off", "completed"]
        #expect(monitor.all == attempt + ["retrying"] + attempt + ["finish, finished"])
        #expect(request.tasks.allSatisfy { $0.error != nil })
    }

    @Test func addingAHandlerToAFinishedRequestDoesNotResendIt() async {
        struct Refusing: DataResponseSerializerProtocol {
            func serialize(
                request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
            ) throws -> Data { throw CocoaError(.coderReadCorrupt) }
        }
        struct Adding: SelectiveEventMonitor {
            let added = Deferred<AFError?>()

            var queue: DispatchQueue { .main }

            func requestDidFinish(_ request: Request) {
                (request as? DataRequest)?.response(responseSerializer: Refusing()) { added.fulfill($0.error) }
            }
        }
        let monitor = Adding()
        let interceptor = Scripted(retrying: { _, answer in answer(.retry) })
        let transport = MockTransport { _ in .text("ok") }
        let session = Session(interceptor: interceptor, eventMonitors: [monitor], transport: transport)
        await run(session.request("http://mock/"))
        let error = await monitor.added.value
        #expect(error?.isResponseSerializationError == true)
        #expect(transport.requests.count == 1)
    }
}
