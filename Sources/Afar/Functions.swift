public import AfarCore
public import Foundation

/// Makes a request on ``Session/default`` with parameters that an encoding puts into its URL or its body.
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
    AF.request(
        convertible, method: method, parameters: parameters, encoding: encoding, headers: headers,
        interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        requestModifier: requestModifier)
}

/// Makes a request on ``Session/default`` with `Encodable` parameters that an encoder puts into its URL or its body.
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
    AF.request(
        convertible, method: method, parameters: parameters, encoder: encoder, headers: headers,
        interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        requestModifier: requestModifier)
}

/// Makes a request on ``Session/default`` from a value that can make a `URLRequest`.
public func request(
    _ urlRequest: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil
) -> DataRequest {
    AF.request(urlRequest, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
}

/// Makes a request on ``Session/default`` without parameters, whose response is handed on while it arrives.
public func streamRequest(
    _ convertible: any URLConvertible,
    method: HTTPMethod = .get,
    headers: HTTPHeaders? = nil,
    automaticallyCancelOnStreamError: Bool = false,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    requestModifier: Session.RequestModifier? = nil
) -> DataStreamRequest {
    AF.streamRequest(
        convertible, method: method, headers: headers,
        automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
        shouldAutomaticallyResume: shouldAutomaticallyResume, requestModifier: requestModifier)
}

/// Makes a request on ``Session/default`` with `Encodable` parameters, whose response is handed on while it arrives.
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
    AF.streamRequest(
        convertible, method: method, parameters: parameters, encoder: encoder, headers: headers,
        automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
        shouldAutomaticallyResume: shouldAutomaticallyResume, requestModifier: requestModifier)
}

/// Makes a request on ``Session/default`` from a value that can make a `URLRequest`, whose response is handed on while it
/// arrives.
public func streamRequest(
    _ urlRequest: any URLRequestConvertible,
    automaticallyCancelOnStreamError: Bool = false,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil
) -> DataStreamRequest {
    AF.streamRequest(
        urlRequest, automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
        shouldAutomaticallyResume: shouldAutomaticallyResume)
}

/// Makes a download on ``Session/default`` with parameters that an encoding puts into its URL or its body.
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
    AF.download(
        convertible, method: method, parameters: parameters, encoding: encoding, headers: headers,
        interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        requestModifier: requestModifier, to: destination)
}

/// Makes a download on ``Session/default`` with `Encodable` parameters that an encoder puts into its URL or its body.
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
    AF.download(
        convertible, method: method, parameters: parameters, encoder: encoder, headers: headers,
        interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        requestModifier: requestModifier, to: destination)
}

/// Makes a download on ``Session/default`` from a value that can make a `URLRequest`.
public func download(
    _ urlRequest: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    to destination: DownloadRequest.Destination? = nil
) -> DownloadRequest {
    AF.download(
        urlRequest, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, to: destination)
}

/// Makes a download on ``Session/default`` that resumes another.
public func download(
    resumingWith resumeData: Data,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    to destination: DownloadRequest.Destination? = nil
) -> DownloadRequest {
    AF.download(
        resumingWith: resumeData, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        to: destination)
}

/// Makes a request on ``Session/default`` that sends bytes from memory.
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
    AF.upload(
        data, to: convertible, method: method, headers: headers, interceptor: interceptor,
        shouldAutomaticallyResume: shouldAutomaticallyResume,
        fileManager: fileManager, requestModifier: requestModifier)
}

/// Makes a request on ``Session/default`` that sends bytes from memory, from a value that can make a `URLRequest`.
public func upload(
    _ data: Data,
    with convertible: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    fileManager: FileManager = .default
) -> UploadRequest {
    AF.upload(
        data, with: convertible, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        fileManager: fileManager)
}

/// Makes a request on ``Session/default`` that sends a file.
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
    AF.upload(
        fileURL, to: convertible, method: method, headers: headers, interceptor: interceptor,
        shouldAutomaticallyResume: shouldAutomaticallyResume,
        fileManager: fileManager, requestModifier: requestModifier)
}

/// Makes a request on ``Session/default`` that sends a file, from a value that can make a `URLRequest`.
public func upload(
    _ fileURL: URL,
    with convertible: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    fileManager: FileManager = .default
) -> UploadRequest {
    AF.upload(
        fileURL, with: convertible, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        fileManager: fileManager)
}

/// Makes a request on ``Session/default`` that sends what a stream holds.
public func upload(
    _ stream: InputStream,
    to convertible: any URLConvertible,
    method: HTTPMethod = .post,
    headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    fileManager: FileManager = .default,
    requestModifier: Session.RequestModifier? = nil
) -> UploadRequest {
    AF.upload(
        stream, to: convertible, method: method, headers: headers, interceptor: interceptor,
        shouldAutomaticallyResume: shouldAutomaticallyResume,
        fileManager: fileManager, requestModifier: requestModifier)
}

/// Makes a request on ``Session/default`` that sends what a stream holds, from a value that can make a `URLRequest`.
public func upload(
    _ stream: InputStream,
    with convertible: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    fileManager: FileManager = .default
) -> UploadRequest {
    AF.upload(
        stream, with: convertible, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        fileManager: fileManager)
}

/// Makes a request on ``Session/default`` that sends a sequence of chunks.
public func upload<Chunks: AsyncSequence & Sendable>(
    _ chunks: Chunks,
    length: Int64? = nil,
    to convertible: any URLConvertible,
    method: HTTPMethod = .post,
    headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    requestModifier: Session.RequestModifier? = nil
) -> UploadRequest where Chunks.Element == Data {
    AF.upload(
        chunks, length: length, to: convertible, method: method, headers: headers, interceptor: interceptor,
        shouldAutomaticallyResume: shouldAutomaticallyResume, requestModifier: requestModifier)
}

/// Makes a request on ``Session/default`` that sends a sequence of chunks, from a value that can make a `URLRequest`.
public func upload<Chunks: AsyncSequence & Sendable>(
    _ chunks: Chunks,
    length: Int64? = nil,
    with convertible: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil
) -> UploadRequest where Chunks.Element == Data {
    AF.upload(
        chunks, length: length, with: convertible, interceptor: interceptor,
        shouldAutomaticallyResume: shouldAutomaticallyResume)
}

/// Makes a request on ``Session/default`` that sends a multipart form, which a closure fills.
public func upload(
    multipartFormData: @escaping (MultipartFormData) -> Void,
    to convertible: any URLConvertible,
    usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
    method: HTTPMethod = .post,
    headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    fileManager: FileManager = .default,
    requestModifier: Session.RequestModifier? = nil
) -> UploadRequest {
    AF.upload(
        multipartFormData: multipartFormData, to: convertible, usingThreshold: encodingMemoryThreshold, method: method,
        headers: headers, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        fileManager: fileManager, requestModifier: requestModifier)
}

/// Makes a request on ``Session/default`` that sends a multipart form, which a closure fills, from a value that can make a
/// `URLRequest`.
public func upload(
    multipartFormData: @escaping (MultipartFormData) -> Void,
    with convertible: any URLRequestConvertible,
    usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    fileManager: FileManager = .default
) -> UploadRequest {
    AF.upload(
        multipartFormData: multipartFormData, with: convertible, usingThreshold: encodingMemoryThreshold,
        interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, fileManager: fileManager)
}

/// Makes a request on ``Session/default`` that sends a multipart form.
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
    AF.upload(
        multipartFormData: multipartFormData, to: convertible, usingThreshold: encodingMemoryThreshold, method: method,
        headers: headers, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
        fileManager: fileManager, requestModifier: requestModifier)
}

/// Makes a request on ``Session/default`` that sends a multipart form, from a value that can make a
/// `URLRequest`.
public func upload(
    multipartFormData: MultipartFormData,
    with convertible: any URLRequestConvertible,
    usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    fileManager: FileManager = .default
) -> UploadRequest {
    AF.upload(
        multipartFormData: multipartFormData, with: convertible, usingThreshold: encodingMemoryThreshold,
        interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume, fileManager: fileManager)
}

/// Makes a request on ``Session/default`` for a connection of TCP, over which bytes go both ways.
public func stream(
    withHostName hostName: String, port: Int, isSecure: Bool = false, interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil
) -> StreamRequest {
    AF.stream(
        withHostName: hostName, port: port, isSecure: isSecure, interceptor: interceptor,
        shouldAutomaticallyResume: shouldAutomaticallyResume)
}
