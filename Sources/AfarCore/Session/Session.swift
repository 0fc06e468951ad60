public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Makes requests, and holds what they share: a transport, default headers, timeouts, an interceptor.
///
/// Keep a session as long as its requests run: when it is released, they fail with ``AFError/sessionDeinitialized``. All
/// methods may be called from any thread.
open class Session: @unchecked Sendable {
    // Sendable because it holds its state only, which is.

    /// When a request's `URLRequest` is made and adapted.
    public enum RequestSetup: Sendable {
        /// As soon as the request has been made.
        case eager
        /// When the request is first resumed.
        case lazy
    }

    /// Changes a `URLRequest` just after it was made from the caller's values.
    public typealias RequestModifier = Request.RequestModifier

    let state: SessionState

    /// Makes a session.
    ///
    /// - Parameters:
    ///   - configuration: Timeouts, limits and default headers.
    ///   - delegate: The hub of the session's events; give each session its own.
    ///   - rootQueue: Where the delegate's closures are called. It must be serial.
    ///   - startRequestsImmediately: Whether a request starts when its first handler is added. The default is true.
    ///   - requestSetup: When `URLRequest`s are made. The default is `.lazy`.
    ///   - requestQueue: Where they are made. The default is nil: in the request's own task.
    ///   - serializationQueue: Where serializers run. The default is nil: in the request's own task.
    ///   - interceptor: Adapts and retries every request.
    ///   - serverTrustManager: Knows who decides on servers' certificates. The default is nil: the transport does.
    ///   - redirectHandler: Decides about redirects. The default is nil: they are followed.
    ///   - cachedResponseHandler: Decides what the configuration's cache keeps. The default is nil: all that may be kept.
    ///   - eventMonitors: Observe the events of every request. The default is none.
    ///   - stages: Take part in every exchange with a server, redirects and answers to challenges included, in this order.
    ///     The default is none.
    ///   - transport: What carries the requests.
    ///   - connectivity: Knows whether there is a network. From its first request on the session listens to it, and closes
    ///     its idle connections when the network has changed. The default is nil: connectivity is not observed.
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

    // MARK: What it was made with

    /// What carries the requests.
    public var transport: any Transport { state.stack.transport }
    /// The connections of the session's transport at this moment, by host; nil if the transport does not know, as
    /// URLSession does not. They are also those of other sessions on the same transport.
    public var connectionStatistics: ConnectionStatistics? {
        get async { await transport.connectionStatistics }
    }
    /// The hub of this session's events.
    public var delegate: SessionDelegate { state.delegate }
    /// The configuration that the session was made with.
    public var configuration: SessionConfiguration { state.configuration }
    /// Keeps the session's cookies; nil when it keeps and sends none.
    public var cookieStore: (any CookieStore)? { state.configuration.cookieStore }
    /// The queue on which the ``delegate``'s closures are called.
    public var rootQueue: DispatchQueue { state.queues.root }
    /// Whether a request starts when its first handler is added.
    public var startRequestsImmediately: Bool { state.startRequestsImmediately }
    /// When a request's `URLRequest` is made.
    public var requestSetup: RequestSetup { state.requestSetup }
    /// The queue on which `URLRequest`s are made, if the session was given one. Otherwise each request makes its own, and
    /// this is a queue on top of ``rootQueue`` that Afar puts nothing onto.
    public var requestQueue: DispatchQueue { state.queues.shownRequest }
    /// The queue on which serializers run, if the session was given one. Otherwise each request runs its own, and this is a
    /// queue on top of ``rootQueue`` that Afar puts nothing onto.
    public var serializationQueue: DispatchQueue { state.queues.shownSerialization }
    /// Adapts and retries every request, before the request's own interceptor.
    public var interceptor: (any RequestInterceptor)? { state.interceptor }
    /// Knows who decides on servers' certificates; nil when the transport does.
    public var serverTrustManager: ServerTrustManager? { state.serverTrustManager }
    /// Decides about redirects; nil when they are followed. A request's own handler comes in its place.
    public var redirectHandler: (any RedirectHandler)? { state.redirectHandler }
    /// Decides what the configuration's cache keeps; nil when that is all that may be kept. A request's own handler comes in
    /// its place.
    public var cachedResponseHandler: (any CachedResponseHandler)? { state.cachedResponseHandler }
    /// Observes the events of every request: the monitors that the session was made with.
    public var eventMonitor: CompositeEventMonitor { state.ownMonitors }
    /// Knows whether there is a network; nil for none.
    public var connectivity: (any ConnectivityProvider)? { state.connectivity }

    // MARK: Its end

    /// Ends the session: requests that run, and those started later, fail with ``AFError/sessionInvalidated(error:)``.
    ///
    /// - Parameter error: What the requests' error carries.
    public func invalidate(with error: (any Error)? = nil) {
        state.end(with: .sessionInvalidated(error: error))
    }

    // MARK: Making requests

    /// Makes a request with parameters that an encoding puts into its URL or its body.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made or encoded
    /// reaches the handlers as their error.
    open func request(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        request(
            ParameterizedRequest(
                url: convertible, method: method, headers: headers, modifier: requestModifier, parameters, encoding),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// Makes a request with `Encodable` parameters that an encoder puts into its URL or its body.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made or encoded
    /// reaches the handlers as their error.
    open func request<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        request(
            ParameterizedRequest(
                url: convertible, method: method, headers: headers, modifier: requestModifier, parameters, encoder),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// Makes a request from a value that can make a `URLRequest`.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made reaches the
    /// handlers as their error.
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

    /// Makes a request without parameters, whose response is handed on while it arrives.
    ///
    /// With `automaticallyCancelOnStreamError` the request is cancelled when a serializer throws.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made or encoded
    /// reaches the handlers as their error.
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

    /// Makes a request with `Encodable` parameters that an encoder puts into its URL or its body, and whose response is
    /// handed on while it arrives.
    ///
    /// With `automaticallyCancelOnStreamError` the request is cancelled when a serializer throws.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made or encoded
    /// reaches the handlers as their error.
    open func streamRequest<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
        headers: HTTPHeaders? = nil,
        automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataStreamRequest {
        streamRequest(
            ParameterizedRequest(
                url: convertible, method: method, headers: headers, modifier: requestModifier, parameters, encoder),
            automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// Makes a request from a value that can make a `URLRequest`, whose response is handed on while it arrives.
    ///
    /// With `automaticallyCancelOnStreamError` the request is cancelled when a serializer throws.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made
    /// reaches the handlers as their error.
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

    /// Makes a download with parameters that an encoding puts into its URL or its body.
    ///
    /// Without a destination the file stays in a temporary directory of its own, for the caller to move or remove.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made or encoded
    /// reaches the handlers as their error.
    open func download(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        let request = ParameterizedRequest(
            url: convertible, method: method, headers: headers, modifier: requestModifier, parameters, encoding)
        return download(
            request, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, to: destination)
    }

    /// Makes a download with `Encodable` parameters that an encoder puts into its URL or its body.
    ///
    /// Without a destination the file stays in a temporary directory of its own, for the caller to move or remove.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made or encoded
    /// reaches the handlers as their error.
    open func download<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        let request = ParameterizedRequest(
            url: convertible, method: method, headers: headers, modifier: requestModifier, parameters, encoder)
        return download(
            request, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, to: destination)
    }

    /// Makes a download from a value that can make a `URLRequest`.
    ///
    /// Without a destination the file stays in a temporary directory of its own, for the caller to move or remove.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made
    /// reaches the handlers as their error.
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

    /// Makes a download that resumes another.
    ///
    /// It asks for the rest, under the condition that the file is still the same. If it is not, or the server sends the
    /// whole all the same, or the part is not there any more, the download starts over from the first byte: what arrives
    /// in the end is always one version of the file, whole. An answer about something else, such as a 404 or a 503,
    /// leaves the part alone; it is the response like any other, so add ``Request/validate()``.
    ///
    /// Progress begins with the part that is there and counts against the whole.
    ///
    /// Without a destination the file stays in a temporary directory of its own, for the caller to move or remove.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made
    /// reaches the handlers as their error.
    ///
    /// - Parameters:
    ///   - data: What ``DownloadRequest/resumeData`` gave, perhaps to another process. It is good for one download at a
    ///     time. Data that cannot be used fails the request with ``AFError/createURLRequestFailed(error:)`` around a
    ///     ``ResumeDataError``.
    ///   - interceptor: Adapts and retries the request; the place for credentials, which resume data does not hold.
    ///   - shouldAutomaticallyResume: Whether handlers start the request; nil leaves that to
    ///     ``startRequestsImmediately``.
    ///   - destination: Where the file goes. It is not part of the data.
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

    /// Makes a request that sends bytes from memory.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made
    /// reaches the handlers as their error.
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

    /// Makes a request that sends bytes from memory, from a value that can make a `URLRequest`.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made
    /// reaches the handlers as their error.
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

    /// Makes a request that sends a file, which is read while it is sent.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made
    /// reaches the handlers as their error.
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

    /// Makes a request that sends a file, which is read while it is sent, from a value that can make a `URLRequest`.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made
    /// reaches the handlers as their error.
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

    /// Makes a request that sends what a stream holds, read while it is sent.
    ///
    /// Hand the stream over: nobody else may read it, and it can be sent once. Without a `Content-Length` header the body
    /// goes out chunked.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made
    /// reaches the handlers as their error.
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
            stream, to: convertible, method: method, headers: headers, interceptor: interceptor,
            shouldAutomaticallyResume: nil, fileManager: fileManager, requestModifier: requestModifier)
    }

    /// Makes a request that sends what a stream holds, read while it is sent.
    ///
    /// Hand the stream over: nobody else may read it, and it can be sent once. Without a `Content-Length` header the body
    /// goes out chunked.
    ///
    /// - Parameters:
    ///   - stream: The content.
    ///   - convertible: The URL.
    ///   - method: The method. The default is POST.
    ///   - headers: Fields for the request. The default is none.
    ///   - interceptor: Adapts and retries this request. The default is none.
    ///   - shouldAutomaticallyResume: Whether handlers start the request; nil leaves that to
    ///     ``startRequestsImmediately``.
    ///   - fileManager: Removes the temporary file of a body that has one.
    ///   - requestModifier: Changes the `URLRequest`. The default is none.
    public func upload(
        _ stream: InputStream,
        to convertible: any URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool?,
        fileManager: FileManager = .default,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            stream,
            with: ParameterizedRequest(url: convertible, method: method, headers: headers, modifier: requestModifier),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, fileManager: fileManager)
    }

    /// Makes a request that sends what a stream holds, read while it is sent, from a value that can make a `URLRequest`.
    ///
    /// Hand the stream over: nobody else may read it, and it can be sent once. Without a `Content-Length` header the body
    /// goes out chunked.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made
    /// reaches the handlers as their error.
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

    /// Makes a request that sends a sequence of chunks; the next is asked for when the one before has been sent.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made
    /// reaches the handlers as their error.
    ///
    /// - Parameters:
    ///   - chunks: The sequence, which is iterated once. An error that it throws ends the request.
    ///   - length: The number of bytes in all; nil sends the body chunked.
    ///   - convertible: The URL.
    ///   - method: The method. The default is POST.
    ///   - headers: Fields for the request. The default is none.
    ///   - interceptor: Adapts and retries this request. The default is none.
    ///   - shouldAutomaticallyResume: Whether handlers start the request; nil leaves that to
    ///     ``startRequestsImmediately``.
    ///   - requestModifier: Changes the `URLRequest`. The default is none.
    open func upload<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        length: Int64? = nil,
        to convertible: any URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest where Chunks.Element == Data {
        makeUpload(
            Upload(
                .chunks(RequestBodyStream(chunks, length: length)),
                with: ParameterizedRequest(
                    url: convertible, method: method, headers: headers, modifier: requestModifier)),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            fileManager: .default)
    }

    /// Makes a request that sends a sequence of chunks, from a value that can make a `URLRequest`; the next chunk is asked
    /// for when the one before has been sent.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made
    /// reaches the handlers as their error.
    ///
    /// - Parameters:
    ///   - chunks: The sequence, which is iterated once. An error that it throws ends the request.
    ///   - length: The number of bytes in all; nil sends the body chunked.
    ///   - convertible: Makes the request.
    ///   - interceptor: Adapts and retries this request. The default is none.
    ///   - shouldAutomaticallyResume: Whether handlers start the request; nil leaves that to
    ///     ``startRequestsImmediately``.
    open func upload<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        length: Int64? = nil,
        with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> UploadRequest where Chunks.Element == Data {
        makeUpload(
            Upload(.chunks(RequestBodyStream(chunks, length: length)), with: convertible),
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            fileManager: .default)
    }

    /// Makes a request from a value that can make both a `URLRequest` and the body that goes with it.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made
    /// reaches the handlers as their error.
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

    /// Makes a request that sends a multipart form, which a closure fills.
    ///
    /// The form is encoded when the request runs, on a queue of its own (or on the ``requestQueue``), and once, however
    /// often it is sent: into memory, or beyond the threshold into a temporary file that only this user can read and that
    /// is removed when the request is over. Its `Content-Type` is put in the place of any other. A form that cannot be
    /// encoded reaches the handlers as ``AFError/multipartEncodingFailed(reason:)``.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made
    /// reaches the handlers as their error.
    ///
    /// - Parameters:
    ///   - multipartFormData: Appends the parts; called at once, before this method returns.
    ///   - convertible: The URL.
    ///   - encodingMemoryThreshold: How long the encoded form may be to be held in memory, in bytes.
    ///   - method: The method. The default is POST.
    ///   - headers: Fields for the request. The default is none.
    ///   - interceptor: Adapts and retries this request. The default is none.
    ///   - fileManager: Tells the lengths of files, and removes the temporary file.
    ///   - requestModifier: Changes the `URLRequest`. The default is none.
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
        upload(
            multipartFormData: multipartFormData, to: convertible, usingThreshold: encodingMemoryThreshold,
            method: method, headers: headers, interceptor: interceptor, shouldAutomaticallyResume: nil,
            fileManager: fileManager, requestModifier: requestModifier)
    }

    /// Makes a request that sends a multipart form, which a closure fills.
    ///
    /// - Parameters:
    ///   - multipartFormData: Appends the parts; called at once, before this method returns.
    ///   - convertible: The URL.
    ///   - encodingMemoryThreshold: How long the encoded form may be to be held in memory, in bytes.
    ///   - method: The method. The default is POST.
    ///   - headers: Fields for the request. The default is none.
    ///   - interceptor: Adapts and retries this request. The default is none.
    ///   - shouldAutomaticallyResume: Whether handlers start the request; nil leaves that to
    ///     ``startRequestsImmediately``.
    ///   - fileManager: Tells the lengths of files, and removes the temporary file.
    ///   - requestModifier: Changes the `URLRequest`. The default is none.
    public func upload(
        multipartFormData: @escaping (MultipartFormData) -> Void,
        to convertible: any URLConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool?,
        fileManager: FileManager = .default,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        let form = MultipartFormData(fileManager: fileManager)
        multipartFormData(form)
        return upload(
            multipartFormData: form, to: convertible, usingThreshold: encodingMemoryThreshold, method: method,
            headers: headers, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            fileManager: fileManager, requestModifier: requestModifier)
    }

    /// Makes a request that sends a multipart form, which a closure fills, from a value that can make a `URLRequest`.
    ///
    /// The form is encoded when the request runs, on a queue of its own (or on the ``requestQueue``), and once, however
    /// often it is sent: into memory, or beyond the threshold into a temporary file that only this user can read and that
    /// is removed when the request is over. Its `Content-Type` is put in the place of any other. A form that cannot be
    /// encoded reaches the handlers as ``AFError/multipartEncodingFailed(reason:)``.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made
    /// reaches the handlers as their error.
    ///
    /// - Parameters:
    ///   - multipartFormData: Appends the parts; called at once, before this method returns.
    ///   - convertible: Makes the request.
    ///   - encodingMemoryThreshold: How long the encoded form may be to be held in memory, in bytes.
    ///   - interceptor: Adapts and retries this request. The default is none.
    ///   - fileManager: Tells the lengths of files, and removes the temporary file.
    open func upload(
        multipartFormData: @escaping (MultipartFormData) -> Void,
        with convertible: any URLRequestConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        interceptor: (any RequestInterceptor)? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        upload(
            multipartFormData: multipartFormData, with: convertible, usingThreshold: encodingMemoryThreshold,
            interceptor: interceptor, shouldAutomaticallyResume: nil, fileManager: fileManager)
    }

    /// Makes a request that sends a multipart form, which a closure fills, from a value that can make a `URLRequest`.
    ///
    /// - Parameters:
    ///   - multipartFormData: Appends the parts; called at once, before this method returns.
    ///   - convertible: Makes the request.
    ///   - encodingMemoryThreshold: How long the encoded form may be to be held in memory, in bytes.
    ///   - interceptor: Adapts and retries this request. The default is none.
    ///   - shouldAutomaticallyResume: Whether handlers start the request; nil leaves that to
    ///     ``startRequestsImmediately``.
    ///   - fileManager: Tells the lengths of files, and removes the temporary file.
    public func upload(
        multipartFormData: @escaping (MultipartFormData) -> Void,
        with convertible: any URLRequestConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool?,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        let form = MultipartFormData(fileManager: fileManager)
        multipartFormData(form)
        return upload(
            multipartFormData: form, with: convertible, usingThreshold: encodingMemoryThreshold,
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, fileManager: fileManager)
    }

    /// Makes a request that sends a multipart form.
    ///
    /// The form is encoded when the request runs, on a queue of its own (or on the ``requestQueue``), and once, however
    /// often it is sent: into memory, or beyond the threshold into a temporary file that only this user can read and that
    /// is removed when the request is over. Its `Content-Type` is put in the place of any other. A form that cannot be
    /// encoded reaches the handlers as ``AFError/multipartEncodingFailed(reason:)``.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made
    /// reaches the handlers as their error.
    ///
    /// - Parameters:
    ///   - multipartFormData: The form.
    ///   - convertible: The URL.
    ///   - encodingMemoryThreshold: How long the encoded form may be to be held in memory, in bytes.
    ///   - method: The method. The default is POST.
    ///   - headers: Fields for the request. The default is none.
    ///   - interceptor: Adapts and retries this request. The default is none.
    ///   - shouldAutomaticallyResume: Whether handlers start the request; nil leaves that to
    ///     ``startRequestsImmediately``.
    ///   - fileManager: Removes the temporary file.
    ///   - requestModifier: Changes the `URLRequest`. The default is none.
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

    /// Makes a request that sends a multipart form, from a value that can make a `URLRequest`.
    ///
    /// The form is encoded when the request runs, on a queue of its own (or on the ``requestQueue``), and once, however
    /// often it is sent: into memory, or beyond the threshold into a temporary file that only this user can read and that
    /// is removed when the request is over. Its `Content-Type` is put in the place of any other. A form that cannot be
    /// encoded reaches the handlers as ``AFError/multipartEncodingFailed(reason:)``.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to ``startRequestsImmediately``. What cannot be made
    /// reaches the handlers as their error.
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

    /// Makes a request for a WebSocket.
    ///
    /// It is started by `resume()` or by its first handler; ``startRequestsImmediately`` says whether handlers start it.
    ///
    /// - Parameters:
    ///   - url: With the scheme `ws` or `wss`; `http` and `https` mean the same.
    ///   - configuration: The subprotocol, limits and pings. The default is ``WebSocketRequest/Configuration/default``.
    ///   - headers: Fields for the request. The default is none.
    ///   - interceptor: Adapts and retries this request. The default is none.
    ///   - requestModifier: Changes the `URLRequest`. The default is none.
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

    /// Makes a request for a WebSocket, with parameters that an encoder puts into its URL.
    ///
    /// - Parameters:
    ///   - url: With the scheme `ws` or `wss`; `http` and `https` mean the same.
    ///   - configuration: The subprotocol, limits and pings. The default is ``WebSocketRequest/Configuration/default``.
    ///   - parameters: What is encoded.
    ///   - encoder: What encodes it. The default is ``URLEncodedFormParameterEncoder/default``.
    ///   - headers: Fields for the request. The default is none.
    ///   - interceptor: Adapts and retries this request. The default is none.
    ///   - requestModifier: Changes the `URLRequest`. The default is none.
    open func webSocketRequest<Parameters: Encodable & Sendable>(
        to url: any URLConvertible,
        configuration: WebSocketRequest.Configuration = .default,
        parameters: Parameters?,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> WebSocketRequest {
        webSocketRequest(
            performing: ParameterizedRequest(
                url: url, method: .get, headers: headers, modifier: requestModifier, parameters, encoder),
            configuration: configuration, interceptor: interceptor)
    }

    /// Makes a request for a WebSocket from a value that can make a `URLRequest`.
    ///
    /// - Parameters:
    ///   - convertible: Makes a GET request.
    ///   - configuration: The subprotocol, limits and pings. The default is ``WebSocketRequest/Configuration/default``.
    ///   - interceptor: Adapts and retries this request. The default is none.
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

    /// Makes a request for a connection of TCP, over which bytes go both ways.
    ///
    /// - Parameters:
    ///   - hostName: A name or an address.
    ///   - port: The port, from 1 to 65,535.
    ///   - isSecure: Whether the connection begins with TLS. The default is false; see
    ///     ``StreamRequest/startSecureConnection(expecting:)`` for later.
    ///   - interceptor: Retries this request. The default is none.
    ///   - shouldAutomaticallyResume: Whether the first read or write starts the request; nil, which is the default, leaves that to
    ///     ``startRequestsImmediately``.
    open func stream(
        withHostName hostName: String, port: Int, isSecure: Bool = false,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil
    ) -> StreamRequest {
        setUp(
            StreamRequest(
                hostName: hostName, port: port, isSecure: isSecure, session: state, interceptor: interceptor,
                shouldAutomaticallyResume: shouldAutomaticallyResume))
    }

    // MARK: The way in for each kind

    private func makeDownload(
        _ downloadable: DownloadRequest.Downloadable,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?,
        to destination: DownloadRequest.Destination?
    ) -> DownloadRequest {
        setUp(
            DownloadRequest(
                downloadable, session: state, interceptor: interceptor,
                shouldAutomaticallyResume: shouldAutomaticallyResume,
                destination: destination))
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
