public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// An object that calls closures for a session's events. Some closures also make decisions.
///
/// The closures are called one at a time on the session's ``Session/rootQueue``. Set them before the session starts requests.
/// Events without a closure have no cost. Use a separate delegate for each session.
///
/// The closures receive Foundation tasks. With every transport, each attempt of a request has a task, as in ``Request/tasks``.
/// Use the subscript to get a task's request. The `URLSession` argument is always `URLSession.shared` and exists only to keep the
/// signatures compatible. Use an ``EventMonitor`` to observe more events.
open class SessionDelegate: @unchecked Sendable {
    // @unchecked because the closures must be set before the session starts requests.

    // MARK: Notifications

    /// Called after the session has been invalidated or released. After a release, the error is nil.
    open var sessionDidBecomeInvalidWithError: ((URLSession, (any Error)?) -> Void)? {
        didSet { isListening = true }
    }

    /// Called when the network operation of an attempt has ended, with the network error if it failed.
    open var taskDidComplete: ((URLSession, URLSessionTask, (any Error)?) -> Void)? {
        didSet { isListening = true }
    }

    /// Called when no network is available and the task starts to wait for one (``SessionConfiguration/waitsForConnectivity``).
    /// The closure is called once for each wait.
    open var taskIsWaitingForConnectivity: ((URLSession, URLSessionTask) -> Void)? {
        didSet { isListening = true }
    }

    /// Called after bytes of a body have been sent. The numbers are the bytes since the last call, the total, and the expected
    /// total (−1 if unknown).
    open var taskDidSendBodyData: ((URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)?
    {
        didSet { isListening = true }
    }

    /// Called when a download resumes an interrupted download. The numbers are the offset and the expected total, in bytes (−1
    /// if unknown).
    open var downloadTaskDidResumeAtOffset: ((URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)?
    {
        didSet { isListening = true }
    }

    /// Called after bytes of a download have been written. The numbers are the bytes since the last call, the total including
    /// resumed bytes, and the expected total (−1 if unknown).
    open var downloadTaskDidWriteData: ((URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)?
    {
        didSet { isListening = true }
    }

    /// Called after a download is complete, with its temporary file. When the closure returns, the request validates the response
    /// and moves the file.
    open var downloadTaskDidFinishDownloadingToURL: ((URLSession, URLSessionDownloadTask, URL) -> Void)?
    {
        didSet { isListening = true }
    }

    // MARK: Decisions

    /// Receives the chunks of every response that isn't a download. The requests don't receive these chunks: data requests have
    /// no data, and stream requests deliver no chunks. The next chunk is read after the closure returns.
    open var dataTaskDidReceiveData: ((URLSession, URLSessionDataTask, Data) -> Void)? {
        didSet { isListening = true }
    }

    /// Called when the head of a response that isn't a download has arrived. Decides whether the request continues or is
    /// canceled. If the closure tries to turn the request into a download or a stream, the request fails. Create downloads and
    /// streams with ``Session`` instead.
    open var dataTaskDidReceiveResponse:
        ((URLSession, URLSessionDataTask, URLResponse) -> URLSession.ResponseDisposition)?
    {
        didSet { isListening = true }
    }

    /// Like ``dataTaskDidReceiveResponse``, but takes precedence over it. The closure must call its last argument once. Until
    /// then, the request waits, unless it is canceled.
    open var dataTaskDidReceiveResponseWithCompletion:
        (
            (
                URLSession, URLSessionDataTask, URLResponse,
                @escaping @Sendable (URLSession.ResponseDisposition) -> Void
            ) -> Void
        )?
    {
        didSet { isListening = true }
    }

    /// Decides which request follows a redirect. If the closure returns nil, the redirect isn't followed. Called only if
    /// neither the request nor the session has a redirect handler.
    open var taskWillPerformHTTPRedirection: ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> URLRequest?)?
    {
        didSet { isListening = true }
    }

    /// Like ``taskWillPerformHTTPRedirection``, but takes precedence over it. The closure must call its last argument once.
    /// Until then, the request waits, unless it is canceled.
    open var taskWillPerformHTTPRedirectionWithCompletion:
        (
            (
                URLSession, URLSessionTask, HTTPURLResponse, URLRequest, @escaping @Sendable (URLRequest?) -> Void
            ) -> Void
        )?
    {
        didSet { isListening = true }
    }

    /// Decides whether a server's certificates are trusted, before any byte of a request is sent. This closure takes precedence
    /// over ``taskDidReceiveChallenge``. With a transport that doesn't support this decision, https requests fail.
    ///
    /// The challenge's `protectionSpace.af.serverTrust` contains the certificates that the server presented. `.useCredential`
    /// with `URLCredential.af.trusting(_:)` accepts them. With any other credential, and with `.performDefaultHandling`, the
    /// session's evaluator or the default validation decides. `.rejectProtectionSpace` rejects the server.
    /// `.cancelAuthenticationChallenge` cancels the request.
    open var sessionDidReceiveChallenge:
        (
            (URLSession, URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?)
        )?
    {
        didSet { isListening = true }
    }

    /// Like ``sessionDidReceiveChallenge``, but takes precedence over it. The closure must call its last argument once, within
    /// the connect timeout. If the closure never calls it, the request waits until the request is canceled.
    open var sessionDidReceiveChallengeWithCompletion:
        (
            (
                URLSession, URLAuthenticationChallenge,
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) -> Void
        )?
    {
        didSet { isListening = true }
    }

    /// Decides how to respond when a server requests credentials with status 401 (Negotiate, Digest, NTLM, Basic).
    ///
    /// The closure is called for the original server and for the target of each redirect. It isn't called for proxies, or if the
    /// body is a stream that can be read only once. `.performDefaultHandling` uses the credential of
    /// ``Request/authenticate(with:)`` or of the session's provider. `.rejectProtectionSpace` continues with the next scheme that
    /// the server offers. After the last scheme, the response is delivered unchanged.
    ///
    /// If ``sessionDidReceiveChallenge`` is nil, the closure is also called for server-trust challenges, and decides whether
    /// the server's certificates are trusted. ``sessionDidReceiveChallenge`` describes these challenges and the possible
    /// answers. To keep the default validation, return `.performDefaultHandling` for these challenges. They occur only if the
    /// transport supports them, as the default transport on Linux does.
    open var taskDidReceiveChallenge:
        (
            (URLSession, URLSessionTask, URLAuthenticationChallenge) -> (
                URLSession.AuthChallengeDisposition, URLCredential?
            )
        )?
    {
        didSet { isListening = true }
    }

    /// Like ``taskDidReceiveChallenge``, but takes precedence over it. The closure must call its last argument once. Until
    /// then, the request waits, unless it is canceled. For a server trust challenge, the closure must call the argument within
    /// the connect timeout.
    open var taskDidReceiveChallengeWithCompletion:
        (
            (
                URLSession, URLSessionTask, URLAuthenticationChallenge,
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) -> Void
        )?
    {
        didSet { isListening = true }
    }

    /// Whether a closure has ever been set.
    private(set) var isListening = false

    /// Creates a delegate without closures.
    ///
    /// - Parameter fileManager: Unused. A ``DownloadRequest`` moves its file atomically, which a `FileManager` can't do. The
    ///   parameter exists for source compatibility with Alamofire.
    public init(fileManager: FileManager = .default) {}

    /// The request that a task represents, or nil if the request was released or the task isn't one of Afar's.
    public subscript(task: URLSessionTask) -> Request? { task.afarRequest }
}

// MARK: - Events

/// A monitor that calls the closures of a session's delegate on the session's root queue.
final class DelegateEvents: SelectiveEventMonitor {
    let queue: DispatchQueue
    private let delegate: SessionDelegate

    init(_ delegate: SessionDelegate, on queue: DispatchQueue) {
        self.delegate = delegate
        self.queue = queue
    }

    func receive(_ event: RequestEvent) {
        switch event {
        case .sessionDidBecomeInvalid(let error):
            call(\.sessionDidBecomeInvalidWithError) { $0(.shared, error) }
        case .taskDidComplete(let task, let error):
            call(\.taskDidComplete) { $0(.shared, task, error) }
        case .taskIsWaitingForConnectivity(let task):
            call(\.taskIsWaitingForConnectivity) { $0(.shared, task) }
        case .taskDidSendBodyData(let task, let bytes, let total, let expected):
            call(\.taskDidSendBodyData) { $0(.shared, task, bytes, total, expected) }
        case .downloadTaskDidResumeAtOffset(let task, let offset, let expected):
            call(\.downloadTaskDidResumeAtOffset) { $0(.shared, task, offset, expected) }
        case .downloadTaskDidWriteData(let task, let bytes, let total, let expected):
            call(\.downloadTaskDidWriteData) { $0(.shared, task, bytes, total, expected) }
        default: break
        }
    }

    /// Calls a closure on the queue, if the closure is still set when the queue runs the call. Until the call, the delegate is
    /// retained, because the closure can refer to it.
    private func call<Closure>(
        _ closure: any KeyPath<SessionDelegate, Closure?> & Sendable, _ body: @escaping @Sendable (Closure) -> Void
    ) {
        guard delegate[keyPath: closure] != nil else { return }
        queue.async { [delegate] in
            withExtendedLifetime(delegate) {
                if let closure = delegate[keyPath: closure] { body(closure) }
            }
        }
    }
}
