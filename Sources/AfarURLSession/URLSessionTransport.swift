public import AfarTransport
import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Carries exchanges over Foundation's `URLSession`.
///
/// On Apple's platforms it brings what the system does: the user's proxies, mobile networks, HTTP/3. On Linux, where
/// Foundation has an implementation of its own (swift-corelibs-foundation, above libcurl), it is a second choice, for
/// programs that cannot link libcurl themselves. What it cannot do there, and why, is listed in ``Limitation``; what an
/// exchange demands beyond ``capabilities`` is refused before a byte is sent.
///
/// The session's own cookies, cache, credentials and redirects are turned off: these are written once, above the
/// transports. A 3xx or a 401 comes back as the response that it is.
///
/// Both timeouts are this transport's own timers, and time spent waiting for one of the session's connections counts
/// as idle: `URLSession` does not say when it is over.
public final class URLSessionTransport: Transport {
    private let configuration: URLSessionConfiguration
    private let session: OwnSession
    /// The sessions of exchanges with protocol classes of their own.
    private let otherSessions = Locked<[[ObjectIdentifier]: OwnSession]>([:])
    private let streamBufferLimit: Int

    /// Makes a transport with a session of its own.
    ///
    /// - Parameters:
    ///   - configuration: The session's configuration. A copy is used, with cookies, cache and credentials turned off.
    ///   - streamBufferLimit: The bytes of a streamed body that may wait for a slow reader where `URLSession` cannot
    ///     hold the server back (Linux). An exchange that exceeds it fails with
    ///     ``TransportError/Code-swift.struct/responseTooLarge``.
    public init(configuration: URLSessionConfiguration = .ephemeral, streamBufferLimit: Int = 64 * 1024 * 1024) {
        self.streamBufferLimit = streamBufferLimit
        let own = (configuration.copy() as? URLSessionConfiguration) ?? .ephemeral
        own.httpCookieStorage = nil
        own.httpShouldSetCookies = false
        own.httpCookieAcceptPolicy = .never
        own.urlCache = nil
        own.requestCachePolicy = .reloadIgnoringLocalCacheData
        own.urlCredentialStorage = nil
        self.configuration = own
        session = OwnSession(own)
    }

    deinit {
        session.end()
        for session in otherSessions.withLock({ $0.values }) { session.end() }
    }

    /// Hands on the events of the exchanges without protocol classes of their own.
    var delegate: ExchangeDelegate { session.delegate }

    /// What `URLSession` can do on this platform.
    public var capabilities: TransportCapabilities { Platform.capabilities }

    /// Performs one exchange as one task of the session.
    public func send(_ exchange: Exchange) async throws -> TransportResponse {
        try capabilities.check(exchange)
        let request = try URLRequest(exchange)
        let exchange = try Platform.sendable(exchange)
        let session = session(for: exchange.options.protocolClasses)
        let running = RunningExchange(exchange, streamBufferLimit: streamBufferLimit, onQueue: session.onQueue) {
            session.task(for: $0, request)
        }
        return try await running.response()
    }

    /// The session whose tasks are offered to these classes; nil means the classes of this transport's configuration.
    private func session(for classes: [AnyClass]?) -> OwnSession {
        guard let classes else { return session }
        let key = classes.map(ObjectIdentifier.init)
        guard key != configuration.protocolClasses?.map(ObjectIdentifier.init) else { return session }
        return otherSessions.withLock { sessions in
            if let session = sessions[key] { return session }
            let own = (configuration.copy() as? URLSessionConfiguration) ?? .ephemeral
            own.protocolClasses = classes
            let session = OwnSession(own)
            sessions[key] = session
            return session
        }
    }
}

/// A session of Foundation's with the delegate that is its own.
private struct OwnSession: Sendable {
    let delegate = ExchangeDelegate()
    private let session: URLSession
    private let queue = BoundedQueue()

    init(_ configuration: URLSessionConfiguration) {
        queue.maxConcurrentOperationCount = 1
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
    }

    /// A task that carries an exchange, not yet resumed.
    func task(for exchange: RunningExchange, _ request: URLRequest) -> URLSessionTask {
        let task = session.task(for: exchange.exchange.body, request: request)
        delegate.add(exchange, for: task)
        return task
    }

    /// Runs something between the delegate's calls.
    func onQueue(_ work: @escaping @Sendable () -> Void) { queue.addWithoutPlace(work) }

    /// Ends the session when its tasks have ended.
    func end() { session.finishTasksAndInvalidate() }
}

extension URLSession {
    /// Upload tasks, because a data task with a body adds a Content-Type to a POST that has none on Linux.
    fileprivate func task(for body: RequestBody, request: URLRequest) -> URLSessionTask {
        switch body {
        case .none, .stream: dataTask(with: request)
        case .data(let data) where data.isEmpty && request.httpMethod == "GET": dataTask(with: request)
        case .data(let data): uploadTask(with: request, from: data)
        case .file(let url): uploadTask(with: request, fromFile: url)
        }
    }
}

// MARK: - Events

/// Hands the session's events to the exchanges that they are about. The session calls it on one serial queue.
final class ExchangeDelegate: NSObject, URLSessionDataDelegate {
    private let exchanges = Locked<[Int: RunningExchange]>([:])

    /// The number of tasks that the session has not finished with.
    var count: Int { exchanges.withLock { $0.count } }

    func add(_ exchange: RunningExchange, for task: URLSessionTask) {
        exchanges.withLock { $0[task.taskIdentifier] = exchange }
    }

    subscript(task: URLSessionTask) -> RunningExchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        self[dataTask]?.didReceive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        self[dataTask]?.didReceive(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        self[task]?.didSend(totalBytesSent)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // Answering for a task that was cancelled meanwhile traps on Linux, so then nobody answers.
        guard let exchange = self[task], exchange.mayAnswerRedirect() else { return }
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard Platform.stallsAtChallenge else { return completionHandler(.performDefaultHandling, nil) }
        // The whole 401 has arrived by now, so the exchange succeeds, and the task is abandoned.
        self[task]?.didComplete(with: nil)
        BoundedQueue.elsewhere { completionHandler(.cancelAuthenticationChallenge, nil) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        // A redirect without a usable Location completes on Linux without having been announced.
        if error == nil, let response = task.response { exchange.didReceive(response) }
        exchange.didComplete(with: error)
    }
}

/// A session's delegate queue that holds its producer up when it has much to do.
///
/// The library on Linux reads the network without waiting for its delegate, and every chunk becomes an operation: a
/// fast server and a slow disk would fill the memory. Here it waits, with its own queue, for the operations to be done.
/// So an operation must never wait for the session: tasks are cancelled elsewhere (``elsewhere(_:)``).
final class BoundedQueue: OperationQueue, @unchecked Sendable {
    // Sendable because its superclass is, and the semaphore.
    private let places = DispatchSemaphore(value: 256)
    /// A queue of its own gets a thread even when those of the global queues are all blocked: on Linux whoever makes a task
    /// waits for the session's own queue, which may wait for an operation.
    private let queue = DispatchQueue(label: "afar.urlsession")

    override init() {
        super.init()
        underlyingQueue = queue
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        places.wait()
        super.addOperation { [places] in
            block()
            places.signal()
        }
    }

    /// Runs something that is no event: it may come from one, which has a place already.
    func addWithoutPlace(_ block: @escaping @Sendable () -> Void) { super.addOperation(block) }

    /// Runs what may have to wait for the session's queue.
    static func elsewhere(_ work: @escaping @Sendable () -> Void) {
        DispatchQueue.global().async(execute: work)
    }
}
