import AfarTestServer
import Alamofire
import Testing

/// Shapes of Alamofire 5 that use Foundation's sessions and metrics.
/// A protocol for mocks, as code for Alamofire 5.0 to 5.10 and 4 declares it.
private protocol NetworkSession {
    func request(
        _ convertible: URLConvertible, method: HTTPMethod, parameters: Parameters?, encoding: ParameterEncoding,
        headers: HTTPHeaders?, interceptor: RequestInterceptor?, requestModifier: Session.RequestModifier?
    ) -> DataRequest
    func request(_ convertible: URLRequestConvertible, interceptor: RequestInterceptor?) -> DataRequest
}

extension Session: NetworkSession {}

private protocol NetworkManager {
    func request(
        _ url: URLConvertible, method: HTTPMethod, parameters: Parameters?, encoding: ParameterEncoding,
        headers: HTTPHeaders?
    ) -> DataRequest
}

extension SessionManager: NetworkManager {}

@Suite struct FoundationShapesTests {
    @Test func sessionsImplementProtocolsForMocks() async throws {
        let server = try await TestServer.start()
        let session: any NetworkSession = AF
        let request = try URLRequest(url: server.url("/get"), method: .get)
        #expect(await session.request(request, interceptor: nil).serializingData().response.error == nil)
        let manager: any NetworkManager = SessionManager.default
        let second = manager.request(
            server.url("/get"), method: .get, parameters: nil, encoding: URLEncoding.default, headers: nil)
        #expect(await second.serializingData().response.error == nil)
        await server.stop()
    }

    @Test func theTasksOfASessionAreListedAndCancelled() async throws {
        let server = try await TestServer.start()
        let session = Session()
        let request = session.request(server.url("/delay/30")).serializingData()
        let upload = session.upload(Data("x".utf8), to: server.url("/delay/30")).serializingData()
        let download = session.download(server.url("/delay/30")).serializingData()
        while await session.session.allTasks.count < 3 { try await Task.sleep(nanoseconds: 1_000_000) }
        let (data, uploads, downloads) = await session.session.tasks
        #expect(data.count == 1 && uploads.count == 1 && downloads.count == 1)
        session.session.getAllTasks { tasks in tasks.forEach { $0.cancel() } }
        let errors = await [request.response.error, upload.response.error, download.response.error]
        #expect(errors.allSatisfy { $0?.isExplicitlyCancelledError == true })
        await server.stop()
    }

    @Test func theConfigurationOfASessionIsShown() {
        let configuration = URLSessionConfiguration.af.default
        configuration.timeoutIntervalForRequest = 7
        let session = Session(configuration: configuration)
        #expect(session.session.configuration.timeoutIntervalForRequest == 7)
        #expect(session.session.configuration.headers["User-Agent"]?.isEmpty == false)
        let request = session.request("http://localhost/", shouldAutomaticallyResume: false)
        #expect(request.delegate?.sessionConfiguration.timeoutIntervalForRequest == 7)
    }

    @Test func theDelegateOfARequestPrintsNoHeaders() {
        let configuration = URLSessionConfiguration.default
        configuration.httpAdditionalHeaders = ["X-Own": "s3cret"]
        let session = Session(configuration: configuration)
        let request = session.request("http://localhost/", shouldAutomaticallyResume: false)
        #expect(!"\(request.delegate as Any)".contains("s3cret"))
    }

    @Test func aSessionIsInvalidatedThroughItsSession() async throws {
        let server = try await TestServer.start()
        let session = Session()
        let slow = session.request(server.url("/delay/1")).serializingData()
        async let response = slow.response
        while await session.session.allTasks.isEmpty { try await Task.sleep(nanoseconds: 1_000_000) }
        session.session.finishTasksAndInvalidate()
        #expect(await response.error == nil)
        session.session.invalidateAndCancel()
        let late = await session.request(server.url("/get")).serializingData().response
        #expect(late.error?.isSessionInvalidatedError == true)
        await server.stop()
    }

    final class MetricsMonitor: EventMonitor, @unchecked Sendable {
        private let lock = NSLock()
        private var collected: URLSessionTaskMetrics?
        let queue = DispatchQueue(label: "metrics")

        var metrics: URLSessionTaskMetrics? { lock.withLock { collected } }

        func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {
            lock.withLock { collected = metrics }
        }
    }

    @Test func metricsHaveFoundationsName() async throws {
        let server = try await TestServer.start()
        let monitor = MetricsMonitor()
        let session = Session(eventMonitors: [monitor])
        let response = await session.request(server.url("/get")).serializingData().response
        let metrics: URLSessionTaskMetrics? = response.metrics
        #expect(metrics?.redirectCount == 0)
        monitor.queue.sync {}
        #expect(monitor.metrics?.taskInterval == metrics?.taskInterval)
        await server.stop()
    }

    final class AppSession: Session, @unchecked Sendable {
        static var defaultHTTPHeaders: [String: String] { ["X-App": "1"] }
    }

    @Test func aSubclassHasItsOwnDefaultHeaders() {
        #expect(AppSession.defaultHTTPHeaders == ["X-App": "1"])
    }
}
