public import Afar

/// The session of Alamofire 4, with an adapter and a retrier that can be set at any time.
///
/// The adapter and the retrier conform to the protocols of Alamofire 5. The adapter runs after the adapters of the session's
/// interceptor. The retrier runs before the interceptor's retriers.
open class SessionManager: Session, @unchecked Sendable {
    // Sendable: the class has no stored properties.

    /// The result of encoding a multipart form.
    public enum MultipartFormDataEncodingResult: Sendable {
        /// The form was encoded, or it's too large for memory and will be encoded into a file when the request runs. The URL is
        /// always nil.
        case success(request: UploadRequest, streamingFromDisk: Bool, streamFileURL: URL?)
        /// The form couldn't be encoded.
        case failure(any Error)
    }

    /// The size up to which multipart forms are encoded in memory, in bytes.
    public static var multipartFormDataEncodingMemoryThreshold: UInt64 { MultipartFormData.encodingMemoryThreshold }

    /// The headers that every request has by default.
    public static var defaultHTTPHeaders: [String: String] { HTTPHeaders.default.dictionary }

    /// Creates a session. See the same initializer of `Session`.
    public override init(
        configuration: SessionConfiguration = .default,
        delegate: SessionDelegate = SessionDelegate(),
        rootQueue: DispatchQueue = DispatchQueue(label: "alamofire.session.root"),
        startRequestsImmediately: Bool = true,
        requestSetup: RequestSetup = .lazy,
        requestQueue: DispatchQueue? = nil,
        serializationQueue: DispatchQueue? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        serverTrustManager: ServerTrustManager? = nil,
        redirectHandler: (any RedirectHandler)? = nil,
        cachedResponseHandler: (any CachedResponseHandler)? = nil,
        eventMonitors: [any EventMonitor] = [],
        stages: [any ExchangeStage] = [],
        transport: any Transport,
        connectivity: (any ConnectivityProvider)? = nil
    ) {
        super.init(
            configuration: configuration, delegate: delegate, rootQueue: rootQueue,
            startRequestsImmediately: startRequestsImmediately, requestSetup: requestSetup, requestQueue: requestQueue,
            serializationQueue: serializationQueue, interceptor: ManagerInterceptor(interceptor),
            serverTrustManager: serverTrustManager, redirectHandler: redirectHandler,
            cachedResponseHandler: cachedResponseHandler, eventMonitors: eventMonitors, stages: stages,
            transport: transport, connectivity: connectivity)
    }

    /// Creates a session that evaluates servers' certificates with policies.
    public init(
        configuration: URLSessionConfiguration = .af.default,
        delegate: SessionDelegate = SessionDelegate(),
        serverTrustPolicyManager: ServerTrustPolicyManager? = nil
    ) {
        var own = SessionConfiguration(configuration)
        let transport = Session.platformTransport(completing: &own)
        super.init(
            configuration: own, delegate: delegate, rootQueue: DispatchQueue(label: "alamofire.session.root"),
            interceptor: ManagerInterceptor(nil), serverTrustManager: serverTrustPolicyManager, transport: transport,
            connectivity: NetworkMonitor.shared)
    }

    /// Unavailable: a session's transport sends the requests.
    @available(*, unavailable, message: "Write SessionManager(configuration:delegate:serverTrustPolicyManager:).")
    public convenience init?(
        session: some Any, delegate: SessionDelegate, serverTrustPolicyManager: ServerTrustPolicyManager? = nil
    ) {
        fatalError()
    }

    /// The adapter of every request. The default is nil.
    open var adapter: (any RequestAdapter)? {
        get { handlers?.adapter }
        set { handlers?.adapter = newValue }
    }

    /// The retrier of every request. The default is nil.
    open var retrier: (any RequestRetrier)? {
        get { handlers?.retrier }
        set { handlers?.retrier = newValue }
    }

    private var handlers: ManagerInterceptor? { interceptor as? ManagerInterceptor }
}

/// An interceptor whose adapter and retrier can be replaced.
private final class ManagerInterceptor: RequestInterceptor, @unchecked Sendable {
    // Sendable: a lock protects its variables.
    private let base: (any RequestInterceptor)?
    private let lock = NSLock()
    private var currentAdapter: (any RequestAdapter)?
    private var currentRetrier: (any RequestRetrier)?

    init(_ base: (any RequestInterceptor)?) { self.base = base }

    var adapter: (any RequestAdapter)? {
        get { lock.withLock { currentAdapter } }
        // The previous value is released outside the lock, because its deinitializer can be the user's code.
        set { _ = lock.withLock { replace(&currentAdapter, with: newValue) } }
    }

    var retrier: (any RequestRetrier)? {
        get { lock.withLock { currentRetrier } }
        set { _ = lock.withLock { replace(&currentRetrier, with: newValue) } }
    }

    private func replace<Value>(_ current: inout Value, with newValue: Value) -> Value {
        defer { current = newValue }
        return current
    }

    /// The handlers that are set now, in the order in which they run.
    private var current: Interceptor {
        lock.withLock {
            Interceptor(
                adapters: [base, currentAdapter].compactMap { $0 }, retriers: [currentRetrier, base].compactMap { $0 })
        }
    }

    func adapt(
        _ urlRequest: URLRequest, for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        current.adapt(urlRequest, for: session, completion: completion)
    }

    func adapt(
        _ urlRequest: URLRequest, using state: RequestAdapterState,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        current.adapt(urlRequest, using: state, completion: completion)
    }

    func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        current.retry(request, for: session, dueTo: error, completion: completion)
    }
}

// MARK: - The default manager

/// A type whose `default` is a `SessionManager`. `Session.default` is a `Session` and can't be overridden.
public protocol DefaultSessionManager {}

extension SessionManager: DefaultSessionManager {}

extension DefaultSessionManager where Self: SessionManager {
    /// The manager that the module's functions use.
    public static var `default`: SessionManager { defaultManager }
}

private let defaultManager = SessionManager(configuration: URLSessionConfiguration.af.default)

// MARK: - Headers as dictionaries

extension SessionManager {
    /// Creates a data request. Protocols that clients of Alamofire 4 define can require this method.
    @_disfavoredOverload
    public func request(
        _ url: any URLConvertible, method: HTTPMethod, parameters: Parameters?, encoding: any ParameterEncoding,
        headers: HTTPHeaders?
    ) -> DataRequest {
        request(url, method: method, parameters: parameters, encoding: encoding, headers: headers, interceptor: nil)
    }

    /// Creates a data request with headers in a dictionary.
    @_disfavoredOverload
    public func request(
        _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default, headers: [String: String]?
    ) -> DataRequest {
        request(url, method: method, parameters: parameters, encoding: encoding, headers: headers.map(HTTPHeaders.init))
    }

    /// Creates a download with headers in a dictionary.
    @_disfavoredOverload
    public func download(
        _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default, headers: [String: String]?,
        to destination: DownloadRequest.DownloadFileDestination? = nil
    ) -> DownloadRequest {
        download(
            url, method: method, parameters: parameters, encoding: encoding, headers: headers.map(HTTPHeaders.init),
            to: destination)
    }

    /// Creates an upload of bytes with headers in a dictionary.
    @_disfavoredOverload
    public func upload(
        _ data: Data, to url: any URLConvertible, method: HTTPMethod = .post, headers: [String: String]?
    ) -> UploadRequest {
        upload(data, to: url, method: method, headers: headers.map(HTTPHeaders.init))
    }

    /// Creates an upload of a file with headers in a dictionary.
    @_disfavoredOverload
    public func upload(
        _ fileURL: URL, to url: any URLConvertible, method: HTTPMethod = .post, headers: [String: String]?
    ) -> UploadRequest {
        upload(fileURL, to: url, method: method, headers: headers.map(HTTPHeaders.init))
    }

    /// Creates an upload of a stream with headers in a dictionary.
    @_disfavoredOverload
    public func upload(
        _ stream: InputStream, to url: any URLConvertible, method: HTTPMethod = .post, headers: [String: String]?
    ) -> UploadRequest {
        upload(stream, to: url, method: method, headers: headers.map(HTTPHeaders.init))
    }
}

// MARK: - Multipart forms

extension SessionManager {
    /// Encodes a multipart form, and calls a closure with a request that sends the form.
    ///
    /// - Parameters:
    ///   - multipartFormData: Appends the parts. It is called before this method returns.
    ///   - encodingMemoryThreshold: The maximum size of a form that is encoded in memory, in bytes. A larger form is encoded when
    ///     the request runs. If encoding fails, the request fails.
    ///   - url: The URL.
    ///   - method: The method. The default is POST.
    ///   - headers: The header fields of the request. The default is none.
    ///   - queue: The queue on which the closure is called. The default is the main queue.
    ///   - encodingCompletion: Called once. If it is nil, the request starts immediately.
    @preconcurrency
    public func upload(
        multipartFormData: @escaping (MultipartFormData) -> Void,
        usingThreshold encodingMemoryThreshold: UInt64 = multipartFormDataEncodingMemoryThreshold,
        to url: any URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        queue: DispatchQueue? = nil,
        encodingCompletion: (@Sendable (MultipartFormDataEncodingResult) -> Void)?
    ) {
        encode(multipartFormData, usingThreshold: encodingMemoryThreshold, on: queue, then: encodingCompletion) {
            manager, body in
            switch body {
            case .form(let form):
                manager.upload(
                    multipartFormData: form, to: url, usingThreshold: encodingMemoryThreshold, method: method,
                    headers: headers)
            case .bytes(let data, let contentType):
                manager.upload(data, to: url, method: method, headers: headers) {
                    $0.headers.update(name: "Content-Type", value: contentType)
                }
            }
        }
    }

    /// Encodes a multipart form, and calls a closure with a request that sends the form.
    ///
    /// - Parameters:
    ///   - multipartFormData: Appends the parts. It is called before this method returns.
    ///   - encodingMemoryThreshold: The maximum size of a form that is encoded in memory, in bytes. A larger form is encoded when
    ///     the request runs. If encoding fails, the request fails.
    ///   - urlRequest: Creates the `URLRequest`.
    ///   - queue: The queue on which the closure is called. The default is the main queue.
    ///   - encodingCompletion: Called once. If it is nil, the request starts immediately.
    @preconcurrency
    public func upload(
        multipartFormData: @escaping (MultipartFormData) -> Void,
        usingThreshold encodingMemoryThreshold: UInt64 = multipartFormDataEncodingMemoryThreshold,
        with urlRequest: any URLRequestConvertible,
        queue: DispatchQueue? = nil,
        encodingCompletion: (@Sendable (MultipartFormDataEncodingResult) -> Void)?
    ) {
        encode(multipartFormData, usingThreshold: encodingMemoryThreshold, on: queue, then: encodingCompletion) {
            manager, body in
            switch body {
            case .form(let form):
                manager.upload(
                    multipartFormData: form, with: urlRequest, usingThreshold: encodingMemoryThreshold)
            case .bytes(let data, let contentType):
                manager.upload(data, with: FormRequest(base: urlRequest, contentType: contentType))
            }
        }
    }

    private func encode(
        _ append: (MultipartFormData) -> Void, usingThreshold threshold: UInt64, on queue: DispatchQueue?,
        then completion: (@Sendable (MultipartFormDataEncodingResult) -> Void)?,
        creating makeRequest: @escaping @Sendable (SessionManager, FormBody) -> UploadRequest
    ) {
        let form = MultipartFormData()
        append(form)
        DispatchQueue(label: "alamofire.upload.form", qos: .utility).asyncKeepingTransport {
            let result: MultipartFormDataEncodingResult
            do {
                let isLarge = form.contentLength > threshold
                let body = isLarge ? FormBody.form(form) : .bytes(try form.encode(), contentType: form.contentType)
                result = .success(request: makeRequest(self, body), streamingFromDisk: isLarge, streamFileURL: nil)
            } catch {
                result = .failure(error)
            }
            guard let completion else {
                // If there is no closure, no one receives the request to start it, so it starts here.
                if case .success(let request, _, _) = result, self.startRequestsImmediately { request.resume() }
                return
            }
            (queue ?? .main).asyncKeepingTransport { completion(result) }
        }
    }
}

private enum FormBody {
    case form(MultipartFormData)
    case bytes(Data, contentType: String)
}

/// A request with the content type of an encoded form.
private struct FormRequest: URLRequestConvertible {
    let base: any URLRequestConvertible
    let contentType: String

    func asURLRequest() throws -> URLRequest {
        var request = try base.asURLRequest()
        request.headers.update(name: "Content-Type", value: contentType)
        return request
    }
}
