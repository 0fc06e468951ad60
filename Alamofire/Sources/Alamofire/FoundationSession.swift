public import Afar

/// A replacement for the `URLSession` of Alamofire's sessions. It lists the tasks of an Afar session, shows its configuration, and
/// invalidates it. Requests don't use a `URLSession`.
public struct FoundationSession: Sendable {
    private let owner: Session

    fileprivate init(of owner: Session) { self.owner = owner }

    /// A copy of the session's configuration. Changes to it don't affect the session.
    public var configuration: URLSessionConfiguration { owner.sessionConfiguration }

    /// The last task of each running request.
    public var allTasks: [URLSessionTask] {
        get async { await withCheckedContinuation { done in getAllTasks { done.resume(returning: $0) } } }
    }

    /// The last task of each running request, by kind.
    public var tasks: ([URLSessionDataTask], [URLSessionUploadTask], [URLSessionDownloadTask]) {
        get async {
            await withCheckedContinuation { done in
                getTasksWithCompletionHandler { done.resume(returning: ($0, $1, $2)) }
            }
        }
    }

    /// Calls a closure with the last task of each running request, on the session's `rootQueue`.
    @preconcurrency
    public func getAllTasks(completionHandler: @escaping @Sendable ([URLSessionTask]) -> Void) {
        owner.withAllRequests { requests in completionHandler(requests.compactMap(\.task)) }
    }

    /// Calls a closure with the last task of each running request, by kind, on the session's `rootQueue`.
    @preconcurrency
    public func getTasksWithCompletionHandler(
        _ completionHandler:
            @escaping @Sendable (
                _ dataTasks: [URLSessionDataTask], _ uploadTasks: [URLSessionUploadTask],
                _ downloadTasks: [URLSessionDownloadTask]
            ) -> Void
    ) {
        owner.withAllRequests { requests in
            let uploads = requests.filter { $0 is UploadRequest }
            completionHandler(
                requests.subtracting(uploads).compactMap { $0.task as? URLSessionDataTask },
                uploads.compactMap { $0.task as? URLSessionUploadTask },
                requests.compactMap { $0.task as? URLSessionDownloadTask })
        }
    }

    /// Ends all running requests with `AFError.sessionInvalidated`, and fails new ones.
    public func invalidateAndCancel() { owner.invalidate() }

    /// Lets running requests finish, and fails new ones.
    public func finishTasksAndInvalidate() { owner.finishRequestsAndInvalidate() }
}

extension Session {
    /// A value that lists the session's tasks, shows its configuration, and invalidates it, like a `URLSession`.
    public var session: FoundationSession { FoundationSession(of: self) }

    /// Unavailable: a session's transport sends the requests.
    @available(
        *, unavailable,
        message:
            "Write Session(configuration:delegate:rootQueue:). To use URLSession, add transport: URLSessionTransport()."
    )
    public convenience init(
        session: some Any, delegate: SessionDelegate, rootQueue: DispatchQueue, startRequestsImmediately: Bool = true,
        requestQueue: DispatchQueue? = nil, serializationQueue: DispatchQueue? = nil,
        interceptor: (any RequestInterceptor)? = nil, serverTrustManager: ServerTrustManager? = nil,
        redirectHandler: (any RedirectHandler)? = nil, cachedResponseHandler: (any CachedResponseHandler)? = nil,
        eventMonitors: [any EventMonitor] = []
    ) {
        fatalError()
    }
}

/// The properties of a request's session that Alamofire 5 makes available through `Request.delegate`.
public struct RequestDelegate: Sendable {
    // Stores the request instead of its configuration, because printing a configuration reveals secrets in headers.
    private let request: Request

    fileprivate init(of request: Request) { self.request = request }

    /// A copy of the session's configuration. Changes to it don't affect the session.
    public var sessionConfiguration: URLSessionConfiguration { request.sessionConfiguration.urlSessionConfiguration }
}

extension Request {
    /// The properties of the request's session. It is never nil.
    public var delegate: RequestDelegate? { RequestDelegate(of: self) }
}
