/// The 4.x name of ``Session``.
public typealias SessionManager = Session

/// The earlier name of ``DisabledTrustEvaluator``.
@available(*, deprecated, renamed: "DisabledTrustEvaluator")
public typealias DisabledEvaluator = DisabledTrustEvaluator

/// The Alamofire 5 name of the monitor that posts notifications, one of a session's default monitors there.
public typealias AlamofireNotifications = RequestNotifications

/// The 4.x name of a retrier's completion. It takes a ``RetryResult`` instead of a Boolean and a delay:
/// `completion(.retryWithDelay(1))`.
public typealias RequestRetryCompletion = @Sendable (RetryResult) -> Void

extension DataRequest {
    /// The 4.x name of the type a data request is created from.
    public typealias Requestable = any URLRequestConvertible
}

extension DownloadRequest {
    /// The 4.x name of ``Destination``.
    public typealias DownloadFileDestination = Destination

    /// The 4.x name of ``Options``.
    public typealias DownloadOptions = Options
}

extension Session {
    /// The 4.x name of ``HTTPHeaders/default``.
    public static var defaultHTTPHeaders: HTTPHeaders { .default }
}

extension Session {
    /// The default monitors of an Alamofire 5 session: the one that posts notifications.
    ///
    /// A session posts notifications even without this monitor.
    public var defaultEventMonitors: [any EventMonitor] { [RequestNotifications.automatic] }
}
