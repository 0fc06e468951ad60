public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A monitor that forwards events to several monitors, each on its own queue.
public final class CompositeEventMonitor: EventMonitor {
    /// The queue on which the methods are called if this monitor is part of another composite. The methods only forward events.
    public let queue: DispatchQueue
    private let listeners: [Listener]

    /// A monitor and its queue. The monitor's `queue` property is read only once, because it can be user code.
    struct Listener: Sendable {
        let monitor: any EventMonitor
        /// Nil if the monitor dispatches to its queue itself.
        let queue: DispatchQueue?

        init(_ monitor: any EventMonitor) {
            self.monitor = monitor
            queue = monitor is any SelectiveEventMonitor ? nil : monitor.queue
        }
    }

    /// Creates a monitor that forwards to other monitors.
    ///
    /// - Parameters:
    ///   - queue: See ``queue``. The default is a new serial queue.
    ///   - monitors: The monitors, in the order in which they are notified.
    public init(queue: DispatchQueue = DispatchQueue(label: "afar.events"), monitors: [any EventMonitor]) {
        self.queue = queue
        listeners = monitors.map(Listener.init)
    }

    /// Creates a monitor that forwards to another monitor's listeners and to one more listener.
    init(_ other: CompositeEventMonitor, adding listener: Listener) {
        queue = DispatchQueue(label: "afar.events")
        listeners = other.listeners + [listener]
    }

    /// The monitors, in the order in which they are notified.
    public var monitors: [any EventMonitor] { listeners.map(\.monitor) }

    /// Forwards an event. Each monitor receives the events of one thread in order.
    func perform(_ event: @escaping @Sendable (any EventMonitor) -> Void) {
        for listener in listeners {
            if let queue = listener.queue {
                queue.async { event(listener.monitor) }
            } else {
                event(listener.monitor)
            }
        }
    }

    /// Forwards a response's head as a Foundation response. The Foundation response is created only if there are monitors.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive head: ResponseHead) {
        for listener in listeners {
            listener.queue?.async {
                guard let response = head.httpURLResponse else { return }
                listener.monitor.urlSession(session, dataTask: dataTask, didReceive: response)
            }
        }
    }
}

/// A monitor that dispatches events to its queue itself, so that the other events cost nothing. Its methods are called on the
/// thread of the event. That thread can hold a request's lock.
protocol SelectiveEventMonitor: EventMonitor {}

// MARK: - Events of requests

/// The events of requests.
extension CompositeEventMonitor {
    // MARK: All requests

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didCreateInitialURLRequest urlRequest: URLRequest) {
        perform { $0.request(request, didCreateInitialURLRequest: urlRequest) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didFailToCreateURLRequestWithError error: AFError) {
        perform { $0.request(request, didFailToCreateURLRequestWithError: error) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(
        _ request: Request, didAdaptInitialRequest initialRequest: URLRequest, to adaptedRequest: URLRequest
    ) {
        perform { $0.request(request, didAdaptInitialRequest: initialRequest, to: adaptedRequest) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(
        _ request: Request, didFailToAdaptURLRequest initialRequest: URLRequest, withError error: AFError
    ) {
        perform { $0.request(request, didFailToAdaptURLRequest: initialRequest, withError: error) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        perform { $0.request(request, didCreateURLRequest: urlRequest) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didCreateTask task: URLSessionTask) {
        perform { $0.request(request, didCreateTask: task) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didGatherMetrics metrics: TaskMetrics) {
        perform { $0.request(request, didGatherMetrics: metrics) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didFailTask task: URLSessionTask, earlyWithError error: AFError) {
        perform { $0.request(request, didFailTask: task, earlyWithError: error) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        perform { $0.request(request, didCompleteTask: task, with: error) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func requestIsRetrying(_ request: Request) {
        perform { $0.requestIsRetrying(request) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func requestDidFinish(_ request: Request) {
        perform { $0.requestDidFinish(request) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func requestDidResume(_ request: Request) {
        perform { $0.requestDidResume(request) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didResumeTask task: URLSessionTask) {
        perform { $0.request(request, didResumeTask: task) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func requestDidSuspend(_ request: Request) {
        perform { $0.requestDidSuspend(request) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        perform { $0.request(request, didSuspendTask: task) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func requestDidCancel(_ request: Request) {
        perform { $0.requestDidCancel(request) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: Request, didCancelTask task: URLSessionTask) {
        perform { $0.request(request, didCancelTask: task) }
    }

    // MARK: Data requests

    /// Forwards the event to each monitor, on its queue.
    public func request(
        _ request: DataRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        data: Data?,
        withResult result: Request.ValidationResult
    ) {
        perform {
            $0.request(request, didValidateRequest: urlRequest, response: response, data: data, withResult: result)
        }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        perform { $0.request(request, didParseResponse: response) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request<Value: Sendable>(
        _ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>
    ) {
        perform { $0.request(request, didParseResponse: response) }
    }

    // MARK: Streams

    /// Forwards the event to each monitor, on its queue.
    public func request(
        _ request: DataStreamRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        withResult result: Request.ValidationResult
    ) {
        perform { $0.request(request, didValidateRequest: urlRequest, response: response, withResult: result) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request<Value: Sendable>(_ request: DataStreamRequest, didParseStream result: Result<Value, AFError>) {
        perform { $0.request(request, didParseStream: result) }
    }

    // MARK: Uploads

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: UploadRequest, didCreateUploadable uploadable: UploadRequest.Uploadable) {
        perform { $0.request(request, didCreateUploadable: uploadable) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: UploadRequest, didFailToCreateUploadableWithError error: AFError) {
        perform { $0.request(request, didFailToCreateUploadableWithError: error) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: UploadRequest, didProvideInputStream stream: InputStream) {
        nonisolated(unsafe) let stream = stream
        perform { $0.request(request, didProvideInputStream: stream) }
    }

    // MARK: Downloads

    /// Forwards the event to each monitor, on its queue.
    public func request(
        _ request: DownloadRequest, didFinishDownloadingUsing task: URLSessionTask, with result: Result<URL, AFError>
    ) {
        perform { $0.request(request, didFinishDownloadingUsing: task, with: result) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: DownloadRequest, didCreateDestinationURL url: URL) {
        perform { $0.request(request, didCreateDestinationURL: url) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(
        _ request: DownloadRequest,
        didValidateRequest urlRequest: URLRequest?,
        response: HTTPURLResponse,
        fileURL: URL?,
        withResult result: Request.ValidationResult
    ) {
        perform {
            $0.request(
                request, didValidateRequest: urlRequest, response: response, fileURL: fileURL, withResult: result)
        }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request(_ request: DownloadRequest, didParseResponse response: DownloadResponse<URL?, AFError>) {
        perform { $0.request(request, didParseResponse: response) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func request<Value: Sendable>(
        _ request: DownloadRequest, didParseResponse response: DownloadResponse<Value, AFError>
    ) {
        perform { $0.request(request, didParseResponse: response) }
    }
}

extension CompositeEventMonitor {
    /// Forwards a serialized response with a value of any type.
    func request<Value>(_ request: DataRequest, didSerialize response: DataResponse<Value, AFError>) {
        func notify<Assumed: Sendable>(_ type: Assumed.Type) {
            guard let response = response as? DataResponse<Assumed, AFError> else { return }
            self.request(request, didParseResponse: response)
        }
        notify(assumedSendable(Value.self))
    }

    /// Forwards a serialized download with a value of any type.
    func request<Value>(_ request: DownloadRequest, didSerialize response: DownloadResponse<Value, AFError>) {
        func notify<Assumed: Sendable>(_ type: Assumed.Type) {
            guard let response = response as? DownloadResponse<Assumed, AFError> else { return }
            self.request(request, didParseResponse: response)
        }
        notify(assumedSendable(Value.self))
    }
}

/// Returns a type as if it were `Sendable`.
///
/// The monitors' generic methods require `Sendable` values, but serializers produce values of any type. `Sendable` doesn't exist
/// at run time: both types have the same representation, which makes the cast safe. See ``EventMonitor`` for how a monitor can
/// use a value that isn't sendable.
private func assumedSendable(_ type: Any.Type) -> any Sendable.Type {
    unsafeBitCast(type, to: (any Sendable.Type).self)
}

// MARK: - Events of tasks

/// The events of tasks.
extension CompositeEventMonitor {
    // MARK: Sessions

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        perform { $0.urlSession(session, didBecomeInvalidWithError: error) }
    }

    // MARK: Tasks

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) {
        perform { $0.urlSession(session, task: task, didReceive: challenge) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        perform {
            $0.urlSession(
                session, task: task, didSendBodyData: bytesSent, totalBytesSent: totalBytesSent,
                totalBytesExpectedToSend: totalBytesExpectedToSend)
        }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
        perform { $0.urlSession(session, taskNeedsNewBodyStream: task) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {
        perform { $0.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: TaskMetrics) {
        perform { $0.urlSession(session, task: task, didFinishCollecting: metrics) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        perform { $0.urlSession(session, task: task, didCompleteWithError: error) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        perform { $0.urlSession(session, taskIsWaitingForConnectivity: task) }
    }

    // MARK: Data tasks

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse) {
        perform { $0.urlSession(session, dataTask: dataTask, didReceive: response) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        perform { $0.urlSession(session, dataTask: dataTask, didReceive: data) }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) {
        perform { $0.urlSession(session, dataTask: dataTask, willCacheResponse: proposedResponse) }
    }

    // MARK: Download tasks

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didResumeAtOffset fileOffset: Int64,
        expectedTotalBytes: Int64
    ) {
        perform {
            $0.urlSession(
                session, downloadTask: downloadTask, didResumeAtOffset: fileOffset,
                expectedTotalBytes: expectedTotalBytes)
        }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(
        _ session: URLSession,
        downloadTask: URLSessionDownloadTask,
        didWriteData bytesWritten: Int64,
        totalBytesWritten: Int64,
        totalBytesExpectedToWrite: Int64
    ) {
        perform {
            $0.urlSession(
                session, downloadTask: downloadTask, didWriteData: bytesWritten, totalBytesWritten: totalBytesWritten,
                totalBytesExpectedToWrite: totalBytesExpectedToWrite)
        }
    }

    /// Forwards the event to each monitor, on its queue.
    public func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        perform { $0.urlSession(session, downloadTask: downloadTask, didFinishDownloadingTo: location) }
    }
}
