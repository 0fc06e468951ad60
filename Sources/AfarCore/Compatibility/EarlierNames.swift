/// What the 4.x generation called a ``Session``.
public typealias SessionManager = Session

/// The earlier name of ``DisabledTrustEvaluator``.
@available(*, deprecated, renamed: "DisabledTrustEvaluator")
public typealias DisabledEvaluator = DisabledTrustEvaluator

/// What Alamofire 5 calls the monitor that posts notifications, which it has among a session's monitors by default.
public typealias AlamofireNotifications = RequestNotifications

/// What the 4.x generation called the completion of a retrier. It takes a ``RetryResult`` in the place of a boolean and a delay:
/// `completion(.retryWithDelay(1))`.
public typealias RequestRetryCompletion = @Sendable (RetryResult) -> Void

extension DataRequest {
    /// What the 4.x generation called that which a data request is made from.
    public typealias Requestable = any URLRequestConvertible
}

extension DownloadRequest {
    /// What the 4.x generation called ``Destination``.
    public typealias DownloadFileDestination = Destination

    /// What the 4.x generation called ``Options``.
    public typealias DownloadOptions = Options
}

extension Session {
    /// What the 4.x generation called ``HTTPHeaders/default``.
    public static var defaultHTTPHeaders: HTTPHeaders { .default }
}

extension Session {
    /// The monitors that Alamofire 5 gives a session by default: the one that posts notifications.
    ///
    /// A session posts them without being given it, too.
    public var defaultEventMonitors: [any EventMonitor] { [RequestNotifications.automatic] }
}
