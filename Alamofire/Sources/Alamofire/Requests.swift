public import Afar

// Names and methods of requests that exist only in Alamofire 4.

/// The completion of a retrier. It receives a `RetryResult` instead of a Boolean value and a delay:
/// `completion(.retryWithDelay(1))`.
public typealias RequestRetryCompletion = @Sendable (RetryResult) -> Void

extension DataRequest {
    /// The type from which a data request is created.
    public typealias Requestable = any URLRequestConvertible
}

extension DownloadRequest {
    /// Another name of `Destination`.
    public typealias DownloadFileDestination = Destination

    /// Another name of `Options`.
    public typealias DownloadOptions = Options
}

extension Request {
    /// Calls `authenticate(username:password:persistence:)`.
    @discardableResult
    public func authenticate(
        user: String, password: String, persistence: URLCredential.Persistence = .forSession
    ) -> Self {
        authenticate(username: user, password: password, persistence: persistence)
    }

    /// Calls `authenticate(with:)`.
    @discardableResult
    public func authenticate(usingCredential credential: URLCredential) -> Self { authenticate(with: credential) }

    /// Returns the header of Basic authentication. It is never nil.
    public static func authorizationHeader(user: String, password: String) -> (key: String, value: String)? {
        let header = HTTPHeader.authorization(username: user, password: password)
        return (header.name, header.value)
    }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
extension Notification.Name {
    /// The names of the notifications about tasks.
    public enum Task {
        /// A task was resumed.
        public static var DidResume: Notification.Name { Request.didResumeTaskNotification }
        /// A task was suspended.
        public static var DidSuspend: Notification.Name { Request.didSuspendTaskNotification }
        /// A task was canceled.
        public static var DidCancel: Notification.Name { Request.didCancelTaskNotification }
        /// A task completed.
        public static var DidComplete: Notification.Name { Request.didCompleteTaskNotification }
    }
}

extension NetworkReachabilityManager {
    /// A Boolean value that indicates whether the network is known to be reachable over a mobile network.
    public var isReachableOnWWAN: Bool { isReachableOnCellular }
}

extension NetworkReachabilityManager.NetworkReachabilityStatus.ConnectionType {
    /// A mobile network.
    public static var wwan: Self { .cellular }
}

// MARK: - Alamofire 5.0 to 5.10

// Code for these versions can define a protocol with these methods and conform `Session` to it.
extension Session {
    /// Creates a data request. The parameters have no defaults. A call that omits an argument therefore uses `Session`'s own
    /// method.
    @_disfavoredOverload
    public func request(
        _ convertible: any URLConvertible, method: HTTPMethod, parameters: Parameters?, encoding: any ParameterEncoding,
        headers: HTTPHeaders?, interceptor: (any RequestInterceptor)?, requestModifier: RequestModifier?
    ) -> DataRequest {
        request(
            convertible, method: method, parameters: parameters, encoding: encoding, headers: headers,
            interceptor: interceptor, shouldAutomaticallyResume: nil, requestModifier: requestModifier)
    }

    /// Creates a data request. The parameters have no defaults. A call that omits an argument therefore uses `Session`'s own
    /// method.
    @_disfavoredOverload
    public func request(
        _ convertible: any URLRequestConvertible, interceptor: (any RequestInterceptor)?
    ) -> DataRequest {
        request(convertible, interceptor: interceptor, shouldAutomaticallyResume: nil)
    }
}
