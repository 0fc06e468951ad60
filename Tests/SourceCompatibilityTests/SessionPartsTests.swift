import Afar
import AfarTestServer
import Testing

/// Properties of sessions and requests that return the arguments they were created with.
@Suite struct SessionPartsTests {
    /// A custom session delegate.
    final class QuietDelegate: SessionDelegate, @unchecked Sendable {
        let name: String

        init(name: String, fileManager: FileManager = .default) {
            self.name = name
            super.init(fileManager: fileManager)
        }
    }

    final class PlainDelegate: SessionDelegate, @unchecked Sendable {
        override init(fileManager: FileManager = .default) { super.init(fileManager: fileManager) }
    }

    @Test func queuesAreAlwaysAvailable() {
        let session = Session(rootQueue: DispatchQueue(label: "root"))
        let queues: [DispatchQueue] = [session.rootQueue, session.requestQueue, session.serializationQueue]
        #expect(queues.map(\.label) == ["root", "root.requestQueue", "root.serializationQueue"])
        let own = DispatchQueue(label: "own")
        let busy = Session(requestQueue: own, serializationQueue: own)
        #expect(busy.requestQueue === own && busy.serializationQueue === own)
        let request = busy.request("http://localhost/")
        let parts: (DispatchQueue, DispatchQueue) = (request.underlyingQueue, request.serializationQueue)
        #expect(parts.0 === busy.rootQueue && parts.1 === own)
        #expect(session.request("http://localhost/").serializationQueue === session.serializationQueue)
    }

    @Test func requestsExposeTheirMonitorsAndHandlers() throws {
        let session = Session(redirectHandler: .follow)
        let request = session.request("http://localhost/")
        let monitor: EventMonitor? = request.eventMonitor
        #expect(monitor != nil)
        #expect(request.redirectHandler == nil)
        request.redirect(using: Redirector.doNotFollow)
        let handler: RedirectHandler? = request.redirectHandler
        #expect(handler is Redirector)
    }

    @Test func theDefaultMonitorsCanBeCombinedWithOthers() async throws {
        let server = try await TestServer.start()
        let defaults: [EventMonitor] = AF.defaultEventMonitors
        #expect(defaults.count == 1 && defaults[0] is AlamofireNotifications)
        let session = Session(eventMonitors: defaults + [ClosureEventMonitor()])
        let request = session.request(server.url("/get"))
        let (posted, post) = AsyncStream<Void>.makeStream()
        // Removed below, because a later request can have the same memory address.
        let observer = NotificationCenter.default.addObserver(
            forName: Request.didFinishNotification, object: request, queue: nil
        ) { _ in post.finish() }
        _ = await request.serializingData().response
        for await _ in posted {}
        NotificationCenter.default.removeObserver(observer)
        await server.stop()
    }

    @Test func delegatesTakeAFileManager() {
        let delegates = [
            SessionDelegate(), SessionDelegate(fileManager: FileManager()), QuietDelegate(name: "quiet"),
            PlainDelegate(), PlainDelegate(fileManager: .default),
        ]
        for delegate in delegates {
            #expect(Session(delegate: delegate).delegate === delegate)
        }
    }

    @Test func resumeDataHasATask() throws {
        let download = AF.download("http://localhost/", shouldAutomaticallyResume: false)
        let task: URLSessionTask = download.task(forResumeData: Data("not resume data".utf8), using: .shared)
        #expect(task is URLSessionDownloadTask)
        #expect(task.originalRequest == nil)
    }

    @Test func reachabilityHasAQueue() {
        let queue: DispatchQueue? = NetworkReachabilityManager.default?.reachabilityQueue
        #expect(queue != nil)
    }

    /// An adapter that uses only the state.
    struct IdentifyingAdapter: RequestAdapter {
        func adapt(
            _ urlRequest: URLRequest, for session: Session,
            completion: @escaping @Sendable (Result<URLRequest, Error>) -> Void
        ) {
            completion(.failure(AFError.explicitlyCancelled))
        }

        func adapt(
            _ urlRequest: URLRequest, using state: RequestAdapterState,
            completion: @escaping @Sendable (Result<URLRequest, Error>) -> Void
        ) {
            var urlRequest = urlRequest
            urlRequest.headers.update(name: "X-Request", value: state.requestID.uuidString)
            completion(.success(urlRequest))
        }
    }

    @Test func anAdapterCanBeTestedWithAState() async throws {
        let state = RequestAdapterState(requestID: UUID(), session: AF)
        #expect(state.session === AF)
        let request = try URLRequest(url: "http://localhost/", method: .get)
        let adapted = try await withCheckedThrowingContinuation { continuation in
            IdentifyingAdapter().adapt(request, using: state) { continuation.resume(with: $0) }
        }
        #expect(adapted.headers["X-Request"] == state.requestID.uuidString)
    }

    @Test func retryResultsExposeTheirValues() {
        struct Odd: Error {}
        let results: [RetryResult] = [.retry, .retryWithDelay(2), .doNotRetry, .doNotRetryWithError(Odd())]
        #expect(results.map(\.retryRequired) == [true, true, false, false])
        #expect(results.map(\.delay) == [nil, 2, nil, nil])
        #expect(results.map { $0.error is Odd } == [false, false, false, true])
    }
}
