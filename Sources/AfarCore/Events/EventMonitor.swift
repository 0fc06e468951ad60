public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Observes the events of requests: of all of a session (`eventMonitors` of its initializer), or of one
/// (``Request/eventMonitor(_:)``).
///
/// Every method has a default implementation that ignores the event; implement those for the events to observe. Methods
/// are called on the monitor's ``queue``, in the order in which things happened, and nothing waits for them: when one
/// is called, the request may be further already.
///
/// The events of a successful attempt of a ``DataRequest`` come in this order; those in brackets not for every request.
///
/// 1. `requestDidResume`, `didCreateInitialURLRequest`, [`didAdaptInitialRequest`, `didCreateUploadable`],
///    `didCreateURLRequest`, `didCreateTask`, `didResumeTask`
/// 2. [`taskIsWaitingForConnectivity`, `taskNeedsNewBodyStream`, `didProvideInputStream`, `didSendBodyData`], [`willPerformHTTPRedirection`,
///    `didReceive challenge`], `dataTask:didReceive response`, `dataTask:didReceive data`
/// 3. `didFinishCollecting`, `didGatherMetrics`, `task:didCompleteWithError`, [`didValidateRequest` for each validator],
///    `request:didCompleteTask`
/// 4. [`requestIsRetrying`, and again from 1 without `requestDidResume`], `requestDidFinish`, `didParseResponse` for each
///    handler
///
/// A ``DownloadRequest`` has `didResumeAtOffset`, `didWriteData` and `didFinishDownloadingTo` in place of the `dataTask:`
/// methods, and `didCreateDestinationURL` and `didFinishDownloadingUsing` when its file has been moved.
///
/// The methods speak of Foundation's tasks: each attempt has one, whatever the transport, as in ``Request/tasks``. The
/// `URLSession` is `URLSession.shared` and stands for the session only because the signatures have one.
public protocol EventMonitor: Sendable {
    /// Where the methods are called. The default is the main queue: in a program whose main thread is blocked nothing is
    /// ever called there. A concurrent queue loses the order.
    var queue: DispatchQueue { get }

    // MARK: Sessions

    /// A session was invalidated, or released (the error is nil then).
    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?)

    // MARK: Tasks

    /// A server asks for credentials (401), by whatever scheme. Challenges of proxies and certificates are not
    /// reported.
    func urlSession(_ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge)

    /// Bytes of a body were sent: since the last call, in all, and expected in all (−1 when that is not known).
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)

    /// An attempt is about to read the input stream that is its body.
    func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask)

    /// A redirect is followed now.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest)

    /// An attempt was measured. Foundation's `URLSessionTaskMetrics` cannot be made, so these are ``TaskMetrics``.
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: TaskMetrics)

    /// Never called, as other libraries can't create Foundation's metrics. Implement the method with ``TaskMetrics``.
    @available(*, deprecated, message: "This method is never called. Implement the one with TaskMetrics.")
    @UseTaskMetrics
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)

    /// The network work of an attempt is over; the error is that of the network.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)

    /// There is no network, and the task waits for one (``SessionConfiguration/waitsForConnectivity``). Called once for
    /// each wait, before anything is sent.
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)

    // MARK: Data tasks

    /// A response's head arrived.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse)

    /// Bytes of a response's body arrived: the whole body at once when it is held in memory, else each chunk.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)

    /// The session's cache will keep a response, unless a handler does not want that.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse)

    // MARK: Download tasks

    /// A download goes on where another broke off: after so many bytes, of so many in all (−1 when that is not known).
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64)

    /// Bytes were written: since the last call, in all with those that were there, and expected in all (−1 when that is
    /// not known).
    func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64)

    /// A download is whole, in a temporary file. By the time this is called the file may have been moved.
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)

    // MARK: All requests

    /// An attempt's `URLRequest` was made, before the adapters.
    func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest)

    /// An attempt's `URLRequest` could not be made.
    func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError)

    /// The adapters have made something else of an attempt's `URLRequest`.
    func request(_ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest)

    /// An adapter failed.
    func request(_ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError)

    /// An attempt's final `URLRequest` is there.
    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest)

    /// An attempt has its task: it is sent now.
    func request(_ request: Request, didCreateTask task: URLSessionTask)

    /// An attempt was measured. Foundation's `URLSessionTaskMetrics` cannot be made, so these are ``TaskMetrics``.
    func request(_ request: Request, didGatherMetrics metrics: TaskMetrics)

    /// Never called, as other libraries can't create Foundation's metrics. Implement the method with ``TaskMetrics``.
    @available(*, deprecated, message: "This method is never called. Implement the one with TaskMetrics.")
    @UseTaskMetrics
    func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics)

    /// An attempt failed by a decision of this library, not by the network's.
    func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError)

    /// An attempt is over and has been validated.
    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?)

    /// The request is about to be tried again.
    func requestIsRetrying(_ request: Request)

    /// There will be no further attempt; the serializers' turn has come.
    func requestDidFinish(_ request: Request)

    /// The request was resumed.
    func requestDidResume(_ request: Request)

    /// An attempt's task was resumed: when it is sent, and with its request.
    func request(_ request: Request, didResumeTask task: URLSessionTask)

    /// The request was suspended.
    func requestDidSuspend(_ request: Request)

    /// An attempt's task was suspended with its request.
    func request(_ request: Request, didSuspendTask task: URLSessionTask)

    /// The request was cancelled.
    func requestDidCancel(_ request: Request)

    /// An attempt's task was cancelled with its request.
    func request(_ request: Request, didCancelTask task: URLSessionTask)

    // MARK: Data requests

    /// A validator looked at a response.
    func request(
        _ request: DataRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        data: Data?,
        withResult result: Request.ValidationResult)

    /// A handler's response was made without a serializer.
    func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>)

    /// A handler's response was made by a serializer. The value may be of any type, one that is not `Sendable` too: then
    /// leave its contents alone, the handler may be using it.
    func request<Value: Sendable>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>)

    // MARK: Streams

    /// A validator looked at a response's head.
    func request(
        _ request: DataStreamRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        withResult result: Request.ValidationResult)

    /// A serializer looked at a chunk.
    func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>)

    // MARK: Uploads

    /// The body was made.
    func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable)

    /// The body could not be made.
    func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError)

    /// The body is an input stream, which is read now. Leave it alone.
    func request(_ request: UploadRequest, didProvideInputStream stream: InputStream)

    // MARK: Downloads

    /// A download's file is where it stays, or could not be moved there.
    func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>)

    /// It is known where a download's file goes: to its destination or, without one, nowhere else than it is.
    func request(_ request: DownloadRequest, didCreateDestinationURL url: URL)

    /// A validator looked at a response.
    func request(
        _ request: DownloadRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        fileURL: URL?,
        withResult result: Request.ValidationResult)

    /// A handler's response was made without a serializer.
    func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>)

    /// A handler's response was made by a serializer. The value may be of any type, one that is not `Sendable` too: then
    /// leave its contents alone, the handler may be using it.
    func request<Value: Sendable>(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>)
}
