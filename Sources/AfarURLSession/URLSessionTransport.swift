public import AfarTransport
import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A transport that uses Foundation's `URLSession`.
///
/// On Apple platforms, this transport has the features of the system, such as the user's proxies, mobile networks and HTTP/3. On Linux,
/// Foundation has its own implementation on top of libcurl (swift-corelibs-foundation). Use this transport there only if the program can't
/// link libcurl. ``Limitation`` lists the features that are missing there, and the reasons. An exchange that requires features beyond
/// ``capabilities`` is refused before a byte is sent.
///
/// The session's own cookies, cache, credentials and redirects are disabled, because Afar implements them above the transports. A
/// 3xx or a 401 is returned as a response.
///
/// This transport has its own timers for the idle timeout and the total timeout. Waiting for one of the session's connections counts as
/// idle time, because `URLSession` doesn't report the end of this wait.
public final class URLSessionTransport: Transport {
    private let configuration: URLSessionConfiguration
    private let session: OwnSession
    /// The sessions for exchanges with their own protocol classes.
    private let otherSessions = Locked<[[ObjectIdentifier]: OwnSession]>([:])
    private let streamBufferLimit: Int

    /// Creates a transport with its own session.
    ///
    /// - Parameters:
    ///   - configuration: The session's configuration. The transport uses a copy, in which cookies, cache and credentials are
    ///     disabled.
    ///   - streamBufferLimit: The maximum number of bytes of a streamed body that can wait for a slow reader. The limit applies only on
    ///     Linux, where `URLSession` can't slow the server down. The default is 64 MiB. An exchange that exceeds the limit fails with
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

    /// The default session's delegate. Exchanges that set other protocol classes use other sessions.
    var delegate: ExchangeDelegate { session.delegate }

    /// The features of `URLSession` on this platform.
    public var capabilities: TransportCapabilities { Platform.capabilities }

    /// Sends an exchange as a task of the session.
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

    /// Returns the session for exchanges with these protocol classes. If `classes` is nil, the classes of this transport's
    /// configuration apply.
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

/// A `URLSession` with its own delegate.
private struct OwnSession: Sendable {
    let delegate = ExchangeDelegate()
    private let session: URLSession
    private let queue = BoundedQueue()

    init(_ configuration: URLSessionConfiguration) {
        queue.maxConcurrentOperationCount = 1
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
    }

    /// Creates a suspended task for an exchange.
    func task(for exchange: RunningExchange, _ request: URLRequest) -> URLSessionTask {
        let task = session.task(for: exchange.exchange.body, request: request)
        delegate.add(exchange, for: task)
        return task
    }

    /// Runs a closure serially with the delegate's calls.
    func onQueue(_ work: @escaping @Sendable () -> Void) { queue.addUncounted(work) }

    /// Invalidates the session when its tasks have ended.
    func end() { session.finishTasksAndInvalidate() }
}

extension URLSession {
    /// Uses upload tasks, because on Linux a data task adds a Content-Type to a POST request that has a body but no Content-Type.
    fileprivate func task(for body: RequestBody, request: URLRequest) -> URLSessionTask {
        switch body {
        case .none, .stream: dataTask(with: request)
        case .data(let data) where data.isEmpty && request.httpMethod == "GET": dataTask(with: request)
        case .data(let data): uploadTask(with: request, from: data)
        case .file(let url): uploadTask(with: request, fromFile: url)
        }
    }
}

/// Passes the session's events to their exchanges. The session calls this delegate on a serial queue.
final class ExchangeDelegate: NSObject, URLSessionDataDelegate {
    private let exchanges = Locked<[Int: RunningExchange]>([:])

    /// The number of tasks that haven't completed.
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
        // On Linux, the process traps if the handler of a canceled task is called.
        guard let exchange = self[task], exchange.canAnswerRedirect() else { return }
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard Platform.stallsAtChallenge else { return completionHandler(.performDefaultHandling, nil) }
        // The whole 401 has arrived, so the exchange succeeds.
        self[task]?.didComplete(with: nil)
        BoundedQueue.runOffQueue { completionHandler(.cancelAuthenticationChallenge, nil) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = exchanges.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        // On Linux, a task completes without an earlier event if the response is a redirect without a usable Location.
        if error == nil, let response = task.response { exchange.didReceive(response) }
        exchange.didComplete(with: error)
    }
}

/// A session's delegate queue that blocks its producer while many operations are pending.
///
/// On Linux, Foundation reads from the network without waiting for its delegate, and each chunk becomes an operation. A fast server and a
/// slow disk would therefore fill memory. With this queue, Foundation's internal queue waits until operations have finished. An operation
/// must therefore never wait for the session: tasks are canceled elsewhere (``runOffQueue(_:)``).
final class BoundedQueue: OperationQueue, @unchecked Sendable {
    // Sendable because the superclass and the semaphore are Sendable.
    private let slots = DispatchSemaphore(value: 256)
    /// A separate queue, because it gets a thread even if all threads of the global queues are blocked. On Linux, a thread that
    /// creates a task blocks until Foundation's internal queue is free. The internal queue can be waiting for an operation of
    /// this `BoundedQueue`, so the operation must be able to run.
    private let queue = DispatchQueue(label: "afar.urlsession")

    override init() {
        super.init()
        underlyingQueue = queue
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        slots.wait()
        super.addOperation { [slots] in
            block()
            slots.signal()
        }
    }

    /// Adds a closure that isn't an event of the session, without waiting for a slot.
    func addUncounted(_ block: @escaping @Sendable () -> Void) { super.addOperation(block) }

    /// Runs a closure that may have to wait for the session's queue.
    static func runOffQueue(_ work: @escaping @Sendable () -> Void) {
        DispatchQueue.global().async(execute: work)
    }
}
