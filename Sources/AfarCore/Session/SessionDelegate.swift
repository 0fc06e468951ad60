public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A session's event hub: it knows which requests are running, notifies closures of their events, and lets
/// some closures decide what happens.
///
/// The closures are called one at a time on the session's ``Session/rootQueue``. Set them before the session starts
/// requests. Nothing is made or called for an event without a closure. Give each session a delegate of its own.
///
/// They speak of Foundation's tasks: each attempt of a request has one, whatever the transport, as in ``Request/tasks``;
/// the subscript gives a task's request. The `URLSession` is `URLSession.shared` and stands for the session only because
/// the signatures have one. An ``EventMonitor`` observes more.
open class SessionDelegate: @unchecked Sendable {
    // Sendable because the closures are to be set before use, and the rest is behind a lock.

    private struct Attached {
        weak var session: SessionState?
    }

    // MARK: Notifications

    /// The session was invalidated, or released (the error is nil then).
    open var sessionDidBecomeInvalidWithError: ((URLSession, (any Error)?) -> Void)? {
        didSet { isListening = true }
    }

    /// The network work of an attempt is over; the error is that of the network.
    open var taskDidComplete: ((URLSession, URLSessionTask, (any Error)?) -> Void)? {
        didSet { isListening = true }
    }

    /// There is no network, and the task waits for one (``SessionConfiguration/waitsForConnectivity``). Called once for
    /// each wait.
    open var taskIsWaitingForConnectivity: ((URLSession, URLSessionTask) -> Void)? {
        didSet { isListening = true }
    }

    /// Bytes of a body were sent: since the last call, in all, and expected in all (−1 when that is not known).
    open var taskDidSendBodyData: ((URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)?
    {
        didSet { isListening = true }
    }

    /// A download goes on where another broke off: after so many bytes, of so many in all (−1 when that is not known).
    open var downloadTaskDidResumeAtOffset: ((URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)?
    {
        didSet { isListening = true }
    }

    /// Bytes of a download were written: since the last call, in all with those that were there, and expected in all (−1
    /// when that is not known).
    open var downloadTaskDidWriteData: ((URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)?
    {
        didSet { isListening = true }
    }

    /// A download is whole, in a temporary file. The request goes on when the closure returns: it validates the response,
    /// and moves the file.
    open var downloadTaskDidFinishDownloadingToURL: ((URLSession, URLSessionDownloadTask, URL) -> Void)?
    {
        didSet { isListening = true }
    }

    // MARK: Decisions

    /// Gets the chunks of every response that is not a download, in place of the request: it has no data, and a stream no
    /// chunks. The next chunk is read when the closure returns.
    open var dataTaskDidReceiveData: ((URLSession, URLSessionDataTask, Data) -> Void)? {
        didSet { isListening = true }
    }

    /// Decides, when the head of a response that is not a download has come, whether its request goes on or is cancelled.
    /// A request that is to become a download or a stream fails: make one with ``Session``.
    open var dataTaskDidReceiveResponse:
        ((URLSession, URLSessionDataTask, URLResponse) -> URLSession.ResponseDisposition)?
    {
        didSet { isListening = true }
    }

    /// Decides as ``dataTaskDidReceiveResponse`` does, and outranks that. It must call its last argument once; if it never
    /// does, the request waits until it is cancelled.
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

    /// Decides what is sent because of a redirect; nil means that it is not followed. It is asked where the request and the
    /// session have no handler of their own for redirects.
    open var taskWillPerformHTTPRedirection: ((URLSession, URLSessionTask, HTTPURLResponse, URLRequest) -> URLRequest?)?
    {
        didSet { isListening = true }
    }

    /// Decides as ``taskWillPerformHTTPRedirection`` does, and outranks that. It must call its last argument once; if it
    /// never does, the request waits until it is cancelled.
    open var taskWillPerformHTTPRedirectionWithCompletion:
        (
            (
                URLSession, URLSessionTask, HTTPURLResponse, URLRequest, @escaping @Sendable (URLRequest?) -> Void
            ) -> Void
        )?
    {
        didSet { isListening = true }
    }

    /// Decides on a server's certificates, before a byte of a request leaves, in place of ``taskDidReceiveChallenge``. Over a
    /// transport that cannot ask, requests over https fail.
    ///
    /// The challenge's `protectionSpace.af.serverTrust` is what the server has presented. `.useCredential` with
    /// `URLCredential.af.trusting(_:)` accepts it; with any other credential, and with `.performDefaultHandling`, the session's
    /// evaluator decides, or the ordinary validation. `.rejectProtectionSpace` refuses the server,
    /// `.cancelAuthenticationChallenge` cancels the request.
    open var sessionDidReceiveChallenge:
        (
            (URLSession, URLAuthenticationChallenge) -> (URLSession.AuthChallengeDisposition, URLCredential?)
        )?
    {
        didSet { isListening = true }
    }

    /// Decides as ``sessionDidReceiveChallenge`` does, and outranks that. It must call its last argument once; if it never
    /// does, the request waits until it is cancelled.
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

    /// Decides what is done when a server asks for credentials by a 401 (Negotiate, Digest, NTLM, Basic), for each place that
    /// the request is led to; never about proxies, nor when the body is a stream that can be read once. For credentials
    /// `.performDefaultHandling` uses that of ``Request/authenticate(with:)`` or of the session's provider, and
    /// `.rejectProtectionSpace` goes on to the next scheme that the server offers, after which the response stays as it is.
    ///
    /// Over a transport that can ask (libcurl), it decides on servers' certificates too, as ``sessionDidReceiveChallenge`` says,
    /// where that is nil: leave those to `.performDefaultHandling`.
    open var taskDidReceiveChallenge:
        (
            (URLSession, URLSessionTask, URLAuthenticationChallenge) -> (
                URLSession.AuthChallengeDisposition, URLCredential?
            )
        )?
    {
        didSet { isListening = true }
    }

    /// Decides as ``taskDidReceiveChallenge`` does, and outranks that. It must call its last argument once; if it never
    /// does, the request waits until it is cancelled.
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

    /// Whether a closure was ever set.
    private(set) var isListening = false
    private let sessions = Locked<[Attached]>([])

    /// Makes a delegate without closures.
    ///
    /// - Parameter fileManager: Not used: a download's file is moved by its ``DownloadRequest``, whole or not at all, which
    ///   no file manager can do. It is here so that calls and subclasses written for Alamofire compile.
    public init(fileManager: FileManager = .default) {}

    /// The requests that have been started and are not over.
    public var runningRequests: [Request] { attached.flatMap(\.running) }

    /// The sessions that have this delegate: one, if its user does as told.
    private var attached: [SessionState] { sessions.withLock { $0.compactMap(\.session) } }

    /// A session is made that has this delegate.
    func attach(_ session: SessionState) {
        // One of the others may be released just now.
        sessions.release { sessions in
            let others = sessions.compactMap(\.session)
            sessions = (others + [session]).map(Attached.init)
            return others
        }
    }

    /// The request that a task stands for, while somebody holds it; nil for a task that is not from here.
    public subscript(task: URLSessionTask) -> Request? { task.afarRequest }
}
