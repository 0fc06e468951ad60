public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An object that creates requests and provides their shared transport, default headers, timeouts and interceptor.
///
/// A request starts when you call `resume()` or add its first handler. If its `shouldAutomaticallyResume` is false, handlers
/// don't start the request. If the value is nil, ``startRequestsImmediately`` applies. If a request can't be created or
/// encoded, its handlers receive the error.
///
/// The methods that create requests share these parameters: `headers` are added to the request, `interceptor` adapts and
/// retries only this request, `requestModifier` changes the `URLRequest` after its creation, and `fileManager` removes the
/// temporary file of a body.
///
/// Retain a session while its requests run. When a session is released, its running requests fail with
/// ``AFError/sessionDeinitialized``. You can call all methods from any thread.
open class Session: @unchecked Sendable {
    // Sendable: its only stored property is constant.

    /// The time at which a request's `URLRequest` is created and adapted.
    public enum RequestSetup: Sendable {
        /// When the request is created.
        case eager
        /// When the request is first resumed.
        case lazy
    }

    /// A closure that changes a `URLRequest` immediately after it was created from the caller's values.
    public typealias RequestModifier = Request.RequestModifier

    let state: SessionState

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - configuration: The timeouts, limits and default headers.
    ///   - delegate: Receives the session's events. Use a separate delegate for each session.
    ///   - rootQueue: The queue on which the delegate's closures are called. It must be serial.
    ///   - startRequestsImmediately: Whether a request starts when its first handler is added. The default is true.
    ///   - requestSetup: The time at which `URLRequest`s are created. The default is `.lazy`.
    ///   - requestQueue: The queue on which `URLRequest`s are created. The default is nil, which uses the request's own task.
    ///   - serializationQueue: The queue on which serializers run. The default is nil, which uses the request's own task.
    ///   - interceptor: Adapts and retries every request.
    ///   - serverTrustManager: Provides the evaluators of servers' certificates. The default is nil, which uses the transport's
    ///     validation.
    ///   - redirectHandler: Decides whether and how redirects are followed. The default is nil, which follows them.
    ///   - cachedResponseHandler: Decides which responses the configuration's cache stores. The default is nil, which stores
    ///     every cacheable response.
    ///   - eventMonitors: Observe the events of every request. The default is none.
    ///   - stages: Process every exchange with a server, in the given order. Redirects and answers to challenges are separate
    ///     exchanges. The default is none.
    ///   - transport: Sends the requests.
    ///   - connectivity: Reports whether a network is available. The session observes connectivity from the start of its first
    ///     request, and closes idle connections when the network changes. The default is nil: connectivity isn't observed.
    public init(
        configuration: SessionConfiguration = .default,
        delegate: SessionDelegate = SessionDelegate(),
        rootQueue: DispatchQueue = DispatchQueue(label: "afar.session.root"),
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
        state = SessionState(
            configuration: configuration, transport: transport, connectivity: connectivity, delegate: delegate,
            queues: SessionQueues(root: rootQueue, request: requestQueue, serialization: serializationQueue),
            startRequestsImmediately: startRequestsImmediately, requestSetup: requestSetup, interceptor: interceptor,
            serverTrustManager: serverTrustManager, redirectHandler: redirectHandler,
            cachedResponseHandler: cachedResponseHandler, eventMonitors: eventMonitors, stages: stages)
        state.owner = self
    }

    deinit { state.end(with: .sessionDeinitialized) }

    // MARK: Properties

    /// The transport that sends the requests.
    public var transport: any Transport { state.stack.transport }
    /// The current connections of the session's transport, by host, or nil if the transport can't report them, as with
    /// `URLSessionTransport`. The value includes the connections of other sessions that use the same transport.
    public var connectionStatistics: ConnectionStatistics? {
        get async { await transport.connectionStatistics }
    }
    /// The delegate that receives this session's events.
    public var delegate: SessionDelegate { state.delegate }
    /// The configuration with which the session was created.
    public var configuration: SessionConfiguration { state.configuration }
    /// The store for the session's cookies, or nil if the session stores and sends none.
    public var cookieStore: (any CookieStore)? { state.configuration.cookieStore }
    /// The queue on which the ``delegate``'s closures are called.
    public var rootQueue: DispatchQueue { state.queues.root }
    /// A Boolean value that indicates whether a request starts when its first handler is added.
    public var startRequestsImmediately: Bool { state.startRequestsImmediately }
    /// The time at which a request's `URLRequest` is created.
    public var requestSetup: RequestSetup { state.requestSetup }
    /// The queue that was passed to the initializer for creating `URLRequest`s. Without one, each request's own task creates its
    /// `URLRequest`s, and this property returns an unused queue that targets ``rootQueue``.
    public var requestQueue: DispatchQueue { state.queues.exposedRequest }
    /// The queue that was passed to the initializer for running serializers. Without one, each request's own task runs its
    /// serializers, and this property returns an unused queue that targets ``rootQueue``.
    public var serializationQueue: DispatchQueue { state.queues.exposedSerialization }
    /// The interceptor that adapts and retries every request, before the request's own interceptor.
    public var interceptor: (any RequestInterceptor)? { state.interceptor }
    /// The manager that provides evaluators of servers' certificates, or nil if the transport validates certificates.
    public var serverTrustManager: ServerTrustManager? { state.serverTrustManager }
    /// The handler that decides whether and how redirects are followed, or nil to follow them. A request's own handler takes
    /// precedence.
    public var redirectHandler: (any RedirectHandler)? { state.redirectHandler }
    /// The handler that decides which responses the configuration's cache stores, or nil to store every cacheable response. A
    /// request's own handler takes precedence.
    public var cachedResponseHandler: (any CachedResponseHandler)? { state.cachedResponseHandler }
    /// The monitor that observes the events of every request. It contains the monitors that were passed to the initializer.
    public var eventMonitor: CompositeEventMonitor { state.customMonitors }
    /// The provider that reports whether a network is available, or nil if connectivity isn't observed.
    public var connectivity: (any ConnectivityProvider)? { state.connectivity }

    // MARK: Invalidation

    /// Invalidates the session. Running requests, and requests that start later, fail with
    /// ``AFError/sessionInvalidated(error:)``.
    ///
    /// - Parameter error: The error to include in the requests' error. The default is nil.
    public func invalidate(with error: (any Error)? = nil) {
        state.end(with: .sessionInvalidated(error: error))
    }

    // MARK: Creating requests

    /// Creates a request with parameters that an encoding adds to its URL or its body.
    open func request(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoding: any ParameterEncoding = SessionEncoder(),
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        request(
            ParameterizedRequest(
                url: convertible, method: method, headers: headers, modifier: requestModifier, parameters,
                parameters == nil ? encoding : resolved(encoding, for: method)),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// Creates a request with `Encodable` parameters that an encoder adds to its URL or its body.
    open func request<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoder: any ParameterEncoder = SessionEncoder(),
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        request(
            ParameterizedRequest(
                url: convertible, method: method, headers: headers, modifier: requestModifier, parameters,
                resolved(encoder, for: method)),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// Creates a request from a value that can be converted to a `URLRequest`.
    open func request(
        _ convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DataRequest {
        let isPlain = (convertible as? ParameterizedRequest)?.isPlain ?? (convertible is URLRequest)
        return setUp(
            DataRequest(
                convertible: convertible, session: state, interceptor: interceptor,
                shouldAutomaticallyResume: shouldAutomaticallyResume, isPlain: isPlain))
    }

    // MARK: Streams

    /// Creates a request without parameters. The response is delivered as it arrives.
    open func streamRequest(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        headers: HTTPHeaders? = nil,
        automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataStreamRequest {
        streamRequest(
            ParameterizedRequest(url: convertible, method: method, headers: headers, modifier: requestModifier),
            automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// Creates a request with `Encodable` parameters that an encoder adds to its URL or its body. The response is delivered as
    /// it arrives.
    open func streamRequest<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoder: any ParameterEncoder = SessionEncoder(),
        headers: HTTPHeaders? = nil,
        automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataStreamRequest {
        streamRequest(
            ParameterizedRequest(
                url: convertible, method: method, headers: headers, modifier: requestModifier, parameters,
                resolved(encoder, for: method)),
            automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// Creates a request from a value that can be converted to a `URLRequest`. The response is delivered as it arrives.
    open func streamRequest(
        _ convertible: any URLRequestConvertible,
        automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DataStreamRequest {
        setUp(
            DataStreamRequest(
                convertible: convertible, automaticallyCancelOnStreamError: automaticallyCancelOnStreamError,
                session: state, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume))
    }

    // MARK: Downloads

    /// Creates a download with parameters that an encoding adds to its URL or its body.
    open func download(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoding: any ParameterEncoding = SessionEncoder(),
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        let request = ParameterizedRequest(
            url: convertible, method: method, headers: headers, modifier: requestModifier, parameters,
            parameters == nil ? encoding : resolved(encoding, for: method))
        return download(
            request, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, to: destination)
    }

    /// Creates a download with `Encodable` parameters that an encoder adds to its URL or its body.
    open func download<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoder: any ParameterEncoder = SessionEncoder(),
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        let request = ParameterizedRequest(
            url: convertible, method: method, headers: headers, modifier: requestModifier, parameters,
            resolved(encoder, for: method))
        return download(
            request, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, to: destination)
    }

    /// Creates a download from a value that can be converted to a `URLRequest`.
    open func download(
        _ convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        makeDownload(
            .request(convertible), interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            to: destination)
    }

    /// Creates a download that resumes an earlier download.
    ///
    /// The download requests the rest of the file, provided that the file hasn't changed. The download starts again at the
    /// first byte in three cases: the file has changed, the server sends the whole file anyway, or the partial file no longer
    /// exists. The result is always one complete version of the file. A response that doesn't contain the file, such as a 404
    /// or 503, leaves the partial file unchanged. Such a response is reported like any other response, so add
    /// ``Request/validate()``.
    ///
    /// Progress starts at the size of the partial file. Its total is the size of the whole file. Resume data contains no
    /// credentials and no destination. An interceptor can add the credentials.
    ///
    /// - `data`: The value of ``DownloadRequest/resumeData``, possibly from another process. Use it for only one download
    ///   at a time. If it can't be used, the request fails with ``AFError/createURLRequestFailed(error:)``, which contains a
    ///   ``ResumeDataError``.
    open func download(
        resumingWith data: Data,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        makeDownload(
            .resumeData(data), interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            to: destination)
    }

    // MARK: Uploads

    /// Creates a request that sends bytes from memory.
    open func upload(
        _ data: Data,
        to convertible: any URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            data,
            with: ParameterizedRequest(url: convertible, method: method, headers: headers, modifier: requestModifier),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, fileManager: fileManager)
    }

    /// Creates a request from a value that can be converted to a `URLRequest`. The request sends bytes from memory.
    open func upload(
        _ data: Data,
        with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        makeUpload(
            Upload(.data(data), with: convertible),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            fileManager: fileManager)
    }

    /// Creates a request that sends a file. The file is read while it is sent.
    open func upload(
        _ fileURL: URL,
        to convertible: any URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            fileURL,
            with: ParameterizedRequest(url: convertible, method: method, headers: headers, modifier: requestModifier),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, fileManager: fileManager)
    }

    /// Creates a request from a value that can be converted to a `URLRequest`. The request sends a file, which is read while it
    /// is sent.
    open func upload(
        _ fileURL: URL,
        with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        makeUpload(
            Upload(.file(fileURL, shouldRemove: false), with: convertible),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            fileManager: fileManager)
    }

    /// Creates a request that sends the content of a stream. The stream is read while it is sent.
    ///
    /// Don't read the stream elsewhere. It can be sent only once. Without a `Content-Length` header, the body is sent with
    /// chunked transfer coding.
    open func upload(
        _ stream: InputStream,
        to convertible: any URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        fileManager: FileManager = .default,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            stream,
            with: ParameterizedRequest(url: convertible, method: method, headers: headers, modifier: requestModifier),
            interceptor: interceptor, fileManager: fileManager)
    }

    /// Creates a request from a value that can be converted to a `URLRequest`. The request sends the content of a stream, which
    /// is read while it is sent.
    open func upload(
        _ stream: InputStream,
        with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        makeUpload(
            Upload(.stream(stream), with: convertible),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            fileManager: fileManager)
    }

    /// Creates a request that sends a sequence of chunks. The next chunk is requested after the previous one has been sent.
    ///
    /// - `chunks`: The sequence, which is iterated once. If the sequence throws an error, the request fails.
    /// - `length`: The total number of bytes. The default is nil: over HTTP/1.1, the body is then sent with chunked transfer coding.
    /// - `trailers`: Returns the fields to send after the last chunk, for example a checksum. See ``RequestBodyStream/trailers``. The default is
    ///   nil, which sends no trailer fields.
    open func upload<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        length: Int64? = nil,
        trailers: (@Sendable () async throws -> HTTPHeaders)? = nil,
        to convertible: any URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest where Chunks.Element == Data {
        makeUpload(
            Upload(
                .chunks(RequestBodyStream(chunks, length: length, trailers: trailers)),
                with: ParameterizedRequest(
                    url: convertible, method: method, headers: headers, modifier: requestModifier)),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            fileManager: .default)
    }

    /// Creates a request from a value that can be converted to a `URLRequest`. The request sends a sequence of chunks. The next
    /// chunk is requested after the previous one has been sent.
    open func upload<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        length: Int64? = nil,
        trailers: (@Sendable () async throws -> HTTPHeaders)? = nil,
        with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> UploadRequest where Chunks.Element == Data {
        makeUpload(
            Upload(.chunks(RequestBodyStream(chunks, length: length, trailers: trailers)), with: convertible),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            fileManager: .default)
    }

    /// Creates a request from a value that creates both a `URLRequest` and its body.
    open func upload(
        _ convertible: any UploadConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        makeUpload(
            convertible, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            fileManager: fileManager)
    }

    // MARK: Multipart

    /// Creates a request that sends a multipart form with the parts that a closure appends.
    ///
    /// The form is encoded once, when the request runs. A form that exceeds the threshold is encoded into a temporary file. Only
    /// the current user can read this file. It is removed when the request finishes. Encoding runs on the ``requestQueue`` if you
    /// passed one to the initializer, otherwise on a separate queue. The form's `Content-Type` replaces any other. If the form
    /// can't be encoded, handlers receive ``AFError/multipartEncodingFailed(reason:)``.
    ///
    /// - `multipartFormData`: Appends the parts. It is called before this method returns.
    /// - `encodingMemoryThreshold`: The maximum size of a form that is encoded in memory, in bytes.
    /// - `fileManager`: Determines the sizes of files, and removes the temporary file.
    open func upload(
        multipartFormData: @escaping (MultipartFormData) -> Void,
        to convertible: any URLConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        fileManager: FileManager = .default,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        let form = MultipartFormData(fileManager: fileManager)
        multipartFormData(form)
        return upload(
            multipartFormData: form, to: convertible, usingThreshold: encodingMemoryThreshold, method: method,
            headers: headers, interceptor: interceptor, fileManager: fileManager, requestModifier: requestModifier)
    }

    /// Creates a request from a value that can be converted to a `URLRequest`. The request sends a multipart form with the
    /// parts that a closure appends.
    ///
    /// See ``upload(multipartFormData:to:usingThreshold:method:headers:interceptor:fileManager:requestModifier:)``.
    open func upload(
        multipartFormData: @escaping (MultipartFormData) -> Void,
        with convertible: any URLRequestConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        interceptor: (any RequestInterceptor)? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        let form = MultipartFormData(fileManager: fileManager)
        multipartFormData(form)
        return upload(
            multipartFormData: form, with: convertible, usingThreshold: encodingMemoryThreshold,
            interceptor: interceptor, fileManager: fileManager)
    }

    /// Creates a request that sends a multipart form.
    ///
    /// See ``upload(multipartFormData:to:usingThreshold:method:headers:interceptor:fileManager:requestModifier:)``.
    open func upload(
        multipartFormData: MultipartFormData,
        to convertible: any URLConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        makeUpload(
            MultipartUpload(
                form: multipartFormData, encodingMemoryThreshold: encodingMemoryThreshold,
                request: ParameterizedRequest(
                    url: convertible, method: method, headers: headers, modifier: requestModifier)),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            fileManager: fileManager)
    }

    /// Creates a request from a value that can be converted to a `URLRequest`. The request sends a multipart form.
    ///
    /// See ``upload(multipartFormData:to:usingThreshold:method:headers:interceptor:fileManager:requestModifier:)``.
    open func upload(
        multipartFormData: MultipartFormData,
        with convertible: any URLRequestConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        makeUpload(
            MultipartUpload(
                form: multipartFormData, encodingMemoryThreshold: encodingMemoryThreshold, request: convertible),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            fileManager: fileManager)
    }

    // MARK: Connections

    /// Creates a request for a WebSocket.
    ///
    /// - `url`: A URL with the scheme `ws` or `wss`. The schemes `http` and `https` are equivalent.
    /// - `configuration`: The subprotocol, limits and pings. The default is ``WebSocketRequest/Configuration/default``.
    open func webSocketRequest(
        to url: any URLConvertible,
        configuration: WebSocketRequest.Configuration = .default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> WebSocketRequest {
        webSocketRequest(
            performing: ParameterizedRequest(url: url, method: .get, headers: headers, modifier: requestModifier),
            configuration: configuration, interceptor: interceptor)
    }

    /// Creates a request for a WebSocket, with parameters that an encoder adds to its URL.
    open func webSocketRequest<Parameters: Encodable & Sendable>(
        to url: any URLConvertible,
        configuration: WebSocketRequest.Configuration = .default,
        parameters: Parameters?,
        encoder: any ParameterEncoder = SessionEncoder(),
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> WebSocketRequest {
        webSocketRequest(
            performing: ParameterizedRequest(
                url: url, method: .get, headers: headers, modifier: requestModifier, parameters,
                resolved(encoder, for: .get)),
            configuration: configuration, interceptor: interceptor)
    }

    /// Creates a request for a WebSocket from a value that can be converted to a `URLRequest`, which must be a GET request.
    open func webSocketRequest(
        performing convertible: any URLRequestConvertible,
        configuration: WebSocketRequest.Configuration = .default,
        interceptor: (any RequestInterceptor)? = nil
    ) -> WebSocketRequest {
        setUp(
            WebSocketRequest(
                convertible: convertible, configuration: configuration, session: state, interceptor: interceptor,
                shouldAutomaticallyResume: nil))
    }

    /// Creates a request that opens a TCP connection to read and write bytes.
    ///
    /// - `hostName`: A host name or an IP address.
    /// - `port`: The port, from 1 to 65,535.
    /// - `isSecure`: Whether the connection begins with TLS. The default is false. To start TLS later, use
    ///   ``StreamRequest/startSecureConnection(expecting:)``.
    /// - `shouldAutomaticallyResume`: Whether the first read or write starts the request. See ``Session``.
    open func stream(
        withHostName hostName: String, port: Int, isSecure: Bool = false,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil
    ) -> StreamRequest {
        setUp(
            StreamRequest(
                hostName: hostName, port: port, isSecure: isSecure, session: state, interceptor: interceptor,
                shouldAutomaticallyResume: shouldAutomaticallyResume))
    }

    // MARK: Creating each kind of request

    private func resolved(_ encoder: any ParameterEncoder, for method: HTTPMethod) -> any ParameterEncoder {
        (encoder as? SessionEncoder)?.resolved(by: state.configuration, for: method) ?? encoder
    }

    private func resolved(_ encoding: any ParameterEncoding, for method: HTTPMethod) -> any ParameterEncoding {
        (encoding as? SessionEncoder)?.resolvedEncoding(by: state.configuration, for: method) ?? encoding
    }

    func makeDownload(
        _ downloadable: DownloadRequest.Downloadable,
        movedTo location: (any URLConvertible)? = nil,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?,
        to destination: DownloadRequest.Destination?
    ) -> DownloadRequest {
        setUp(
            DownloadRequest(
                downloadable, movedTo: location, session: state, interceptor: interceptor,
                shouldAutomaticallyResume: shouldAutomaticallyResume, destination: destination))
    }

    private func makeUpload(
        _ convertible: any UploadConvertible,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?,
        fileManager: FileManager
    ) -> UploadRequest {
        setUp(
            UploadRequest(
                convertible: convertible, session: state, interceptor: interceptor,
                shouldAutomaticallyResume: shouldAutomaticallyResume,
                fileManager: fileManager))
    }

    func setUp<Kind: Request>(_ request: Kind) -> Kind {
        if requestSetup == .eager { request.startPipeline() }
        return request
    }
}
