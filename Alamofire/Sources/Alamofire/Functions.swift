public import Afar

/// Creates a data request on ``SessionManager/default`` with parameters that an encoding adds to its URL or body.
public func request(
    _ convertible: any URLConvertible,
    method: HTTPMethod = .get,
    parameters: Parameters? = nil,
    encoding: any ParameterEncoding = URLEncoding.default,
    headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    requestModifier: Session.RequestModifier? = nil
) -> DataRequest {
    SessionManager.default.request(
        convertible, method: method, parameters: parameters, encoding: encoding, headers: headers,
        interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        requestModifier: requestModifier)
}

/// Creates a data request on ``SessionManager/default`` with `Encodable` parameters that an encoder adds to its URL or body.
public func request<Parameters: Encodable & Sendable>(
    _ convertible: any URLConvertible,
    method: HTTPMethod = .get,
    parameters: Parameters? = nil,
    encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
    headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    requestModifier: Session.RequestModifier? = nil
) -> DataRequest {
    SessionManager.default.request(
        convertible, method: method, parameters: parameters, encoder: encoder, headers: headers,
        interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        requestModifier: requestModifier)
}

/// Creates a data request on ``SessionManager/default`` from a value that converts to a `URLRequest`.
public func request(
    _ urlRequest: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil
) -> DataRequest {
    SessionManager.default.request(
        urlRequest, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
}

/// Creates a stream request without parameters on ``SessionManager/default``. It delivers the response's body as it arrives.
public func streamRequest(
    _ convertible: any URLConvertible,
    method: HTTPMethod = .get,
    headers: HTTPHeaders? = nil,
    automaticallyCancelOnStreamError: Bool = false,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    requestModifier: Session.RequestModifier? = nil
) -> DataStreamRequest {
    SessionManager.default.streamRequest(
        convertible, method: method, headers: headers,
        automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
        shouldAutomaticallyResume: shouldAutomaticallyResume, requestModifier: requestModifier)
}

/// Creates a stream request on ``SessionManager/default`` with `Encodable` parameters. It delivers the response's body as it
/// arrives.
public func streamRequest<Parameters: Encodable & Sendable>(
    _ convertible: any URLConvertible,
    method: HTTPMethod = .get,
    parameters: Parameters? = nil,
    encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
    headers: HTTPHeaders? = nil,
    automaticallyCancelOnStreamError: Bool = false,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    requestModifier: Session.RequestModifier? = nil
) -> DataStreamRequest {
    SessionManager.default.streamRequest(
        convertible, method: method, parameters: parameters, encoder: encoder, headers: headers,
        automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
        shouldAutomaticallyResume: shouldAutomaticallyResume, requestModifier: requestModifier)
}

/// Creates a stream request on ``SessionManager/default`` from a value that converts to a `URLRequest`. It delivers the response's body as
/// it arrives.
public func streamRequest(
    _ urlRequest: any URLRequestConvertible,
    automaticallyCancelOnStreamError: Bool = false,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil
) -> DataStreamRequest {
    SessionManager.default.streamRequest(
        urlRequest, automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
        shouldAutomaticallyResume: shouldAutomaticallyResume)
}

/// Creates a download on ``SessionManager/default`` with parameters that an encoding adds to its URL or body.
public func download(
    _ convertible: any URLConvertible,
    method: HTTPMethod = .get,
    parameters: Parameters? = nil,
    encoding: any ParameterEncoding = URLEncoding.default,
    headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    requestModifier: Session.RequestModifier? = nil,
    to destination: DownloadRequest.Destination? = nil
) -> DownloadRequest {
    SessionManager.default.download(
        convertible, method: method, parameters: parameters, encoding: encoding, headers: headers,
        interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        requestModifier: requestModifier, to: destination)
}

/// Creates a download on ``SessionManager/default`` with `Encodable` parameters that an encoder adds to its URL or body.
public func download<Parameters: Encodable & Sendable>(
    _ convertible: any URLConvertible,
    method: HTTPMethod = .get,
    parameters: Parameters? = nil,
    encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
    headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    requestModifier: Session.RequestModifier? = nil,
    to destination: DownloadRequest.Destination? = nil
) -> DownloadRequest {
    SessionManager.default.download(
        convertible, method: method, parameters: parameters, encoder: encoder, headers: headers,
        interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        requestModifier: requestModifier, to: destination)
}

/// Creates a download on ``SessionManager/default`` from a value that converts to a `URLRequest`.
public func download(
    _ urlRequest: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    to destination: DownloadRequest.Destination? = nil
) -> DownloadRequest {
    SessionManager.default.download(
        urlRequest, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, to: destination)
}

/// Creates a download on ``SessionManager/default`` that resumes an earlier download.
public func download(
    resumingWith resumeData: Data,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    to destination: DownloadRequest.Destination? = nil
) -> DownloadRequest {
    SessionManager.default.download(
        resumingWith: resumeData, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        to: destination)
}

/// Creates an upload of data in memory on ``SessionManager/default``.
public func upload(
    _ data: Data,
    to convertible: any URLConvertible,
    method: HTTPMethod = .post,
    headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    fileManager: FileManager = .default,
    requestModifier: Session.RequestModifier? = nil
) -> UploadRequest {
    SessionManager.default.upload(
        data, to: convertible, method: method, headers: headers, interceptor: interceptor,
        shouldAutomaticallyResume: shouldAutomaticallyResume,
        fileManager: fileManager, requestModifier: requestModifier)
}

/// Creates an upload of data in memory on ``SessionManager/default``, from a value that converts to a `URLRequest`.
public func upload(
    _ data: Data,
    with convertible: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    fileManager: FileManager = .default
) -> UploadRequest {
    SessionManager.default.upload(
        data, with: convertible, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        fileManager: fileManager)
}

/// Creates an upload of a file on ``SessionManager/default``.
public func upload(
    _ fileURL: URL,
    to convertible: any URLConvertible,
    method: HTTPMethod = .post,
    headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    fileManager: FileManager = .default,
    requestModifier: Session.RequestModifier? = nil
) -> UploadRequest {
    SessionManager.default.upload(
        fileURL, to: convertible, method: method, headers: headers, interceptor: interceptor,
        shouldAutomaticallyResume: shouldAutomaticallyResume,
        fileManager: fileManager, requestModifier: requestModifier)
}

/// Creates an upload of a file on ``SessionManager/default``, from a value that converts to a `URLRequest`.
public func upload(
    _ fileURL: URL,
    with convertible: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    fileManager: FileManager = .default
) -> UploadRequest {
    SessionManager.default.upload(
        fileURL, with: convertible, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        fileManager: fileManager)
}

/// Creates an upload of a stream on ``SessionManager/default``.
public func upload(
    _ stream: InputStream,
    to convertible: any URLConvertible,
    method: HTTPMethod = .post,
    headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil,
    fileManager: FileManager = .default,
    requestModifier: Session.RequestModifier? = nil
) -> UploadRequest {
    SessionManager.default.upload(
        stream, to: convertible, method: method, headers: headers, interceptor: interceptor,

        fileManager: fileManager, requestModifier: requestModifier)
}

/// Creates an upload of a stream on ``SessionManager/default``, from a value that converts to a `URLRequest`.
public func upload(
    _ stream: InputStream,
    with convertible: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    fileManager: FileManager = .default
) -> UploadRequest {
    SessionManager.default.upload(
        stream, with: convertible, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        fileManager: fileManager)
}

/// Creates an upload of a multipart form on ``SessionManager/default``. A closure adds the form's parts.
public func upload(
    multipartFormData: @escaping (MultipartFormData) -> Void,
    to convertible: any URLConvertible,
    usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
    method: HTTPMethod = .post,
    headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil,
    fileManager: FileManager = .default,
    requestModifier: Session.RequestModifier? = nil
) -> UploadRequest {
    SessionManager.default.upload(
        multipartFormData: multipartFormData, to: convertible, usingThreshold: encodingMemoryThreshold, method: method,
        headers: headers, interceptor: interceptor,
        fileManager: fileManager, requestModifier: requestModifier)
}

/// Creates an upload of a multipart form on ``SessionManager/default``, from a value that converts to a `URLRequest`. A closure adds the
/// form's parts.
public func upload(
    multipartFormData: @escaping (MultipartFormData) -> Void,
    with convertible: any URLRequestConvertible,
    usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
    interceptor: (any RequestInterceptor)? = nil,
    fileManager: FileManager = .default
) -> UploadRequest {
    SessionManager.default.upload(
        multipartFormData: multipartFormData, with: convertible, usingThreshold: encodingMemoryThreshold,
        interceptor: interceptor, fileManager: fileManager)
}

/// Creates an upload of a multipart form on ``SessionManager/default``.
public func upload(
    multipartFormData: MultipartFormData,
    to convertible: any URLConvertible,
    usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
    method: HTTPMethod = .post,
    headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    fileManager: FileManager = .default,
    requestModifier: Session.RequestModifier? = nil
) -> UploadRequest {
    SessionManager.default.upload(
        multipartFormData: multipartFormData, to: convertible, usingThreshold: encodingMemoryThreshold, method: method,
        headers: headers, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        fileManager: fileManager, requestModifier: requestModifier)
}

/// Creates an upload of a multipart form on ``SessionManager/default``, from a value that converts to a `URLRequest`.
public func upload(
    multipartFormData: MultipartFormData,
    with convertible: any URLRequestConvertible,
    usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    fileManager: FileManager = .default
) -> UploadRequest {
    SessionManager.default.upload(
        multipartFormData: multipartFormData, with: convertible, usingThreshold: encodingMemoryThreshold,
        interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, fileManager: fileManager)
}

/// Creates a request on ``SessionManager/default`` for a bidirectional TCP connection.
public func stream(
    withHostName hostName: String, port: Int, isSecure: Bool = false, interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil
) -> StreamRequest {
    SessionManager.default.stream(
        withHostName: hostName, port: port, isSecure: isSecure, interceptor: interceptor,
        shouldAutomaticallyResume: shouldAutomaticallyResume)
}

/// Encodes a multipart form, and calls a closure with a request on ``SessionManager/default`` that sends the form. See
/// ``SessionManager/upload(multipartFormData:usingThreshold:to:method:headers:queue:encodingCompletion:)``.
@preconcurrency
public func upload(
    multipartFormData: @escaping (MultipartFormData) -> Void,
    usingThreshold encodingMemoryThreshold: UInt64 = SessionManager.multipartFormDataEncodingMemoryThreshold,
    to url: any URLConvertible,
    method: HTTPMethod = .post,
    headers: HTTPHeaders? = nil,
    queue: DispatchQueue? = nil,
    encodingCompletion: (@Sendable (SessionManager.MultipartFormDataEncodingResult) -> Void)?
) {
    SessionManager.default.upload(
        multipartFormData: multipartFormData, usingThreshold: encodingMemoryThreshold, to: url, method: method,
        headers: headers, queue: queue, encodingCompletion: encodingCompletion)
}

/// Encodes a multipart form, and calls a closure with a request on ``SessionManager/default`` that sends the form. See
/// ``SessionManager/upload(multipartFormData:usingThreshold:with:queue:encodingCompletion:)``.
@preconcurrency
public func upload(
    multipartFormData: @escaping (MultipartFormData) -> Void,
    usingThreshold encodingMemoryThreshold: UInt64 = SessionManager.multipartFormDataEncodingMemoryThreshold,
    with urlRequest: any URLRequestConvertible,
    queue: DispatchQueue? = nil,
    encodingCompletion: (@Sendable (SessionManager.MultipartFormDataEncodingResult) -> Void)?
) {
    SessionManager.default.upload(
        multipartFormData: multipartFormData, usingThreshold: encodingMemoryThreshold, with: urlRequest,
        queue: queue, encodingCompletion: encodingCompletion)
}

// MARK: - Headers as dictionaries

/// Creates a data request on ``SessionManager/default`` with headers in a dictionary.
@_disfavoredOverload
public func request(
    _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoding: any ParameterEncoding = URLEncoding.default, headers: [String: String]?
) -> DataRequest {
    SessionManager.default.request(url, method: method, parameters: parameters, encoding: encoding, headers: headers)
}

/// Creates a download on ``SessionManager/default`` with headers in a dictionary.
@_disfavoredOverload
public func download(
    _ url: any URLConvertible, method: HTTPMethod = .get, parameters: Parameters? = nil,
    encoding: any ParameterEncoding = URLEncoding.default, headers: [String: String]?,
    to destination: DownloadRequest.DownloadFileDestination? = nil
) -> DownloadRequest {
    SessionManager.default.download(
        url, method: method, parameters: parameters, encoding: encoding, headers: headers, to: destination)
}

/// Encodes a multipart form, and calls a closure with a request of ``SessionManager/default`` that sends the form.
@_disfavoredOverload
@preconcurrency
public func upload(
    multipartFormData: @escaping (MultipartFormData) -> Void,
    usingThreshold encodingMemoryThreshold: UInt64 = SessionManager.multipartFormDataEncodingMemoryThreshold,
    to url: any URLConvertible, method: HTTPMethod = .post, headers: [String: String]?, queue: DispatchQueue? = nil,
    encodingCompletion: (@Sendable (SessionManager.MultipartFormDataEncodingResult) -> Void)?
) {
    SessionManager.default.upload(
        multipartFormData: multipartFormData, usingThreshold: encodingMemoryThreshold, to: url, method: method,
        headers: headers.map(HTTPHeaders.init), queue: queue, encodingCompletion: encodingCompletion)
}
