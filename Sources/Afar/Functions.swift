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

/// Makes a download on ``Session/default`` that goes on where another broke off.
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
    requestModifier: Session.RequestModifier? = nil
) -> UploadRequest {
    AF.upload(
        data, to: convertible, method: method, headers: headers, interceptor: interceptor,
        shouldAutomaticallyResume: shouldAutomaticallyResume, requestModifier: requestModifier)
}

/// Makes a request on ``Session/default`` that sends bytes from memory, from a value that can make a `URLRequest`.
public func upload(
    _ data: Data,
    with convertible: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil
) -> UploadRequest {
    AF.upload(
        data, with: convertible, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
}

/// Makes a request on ``Session/default`` that sends a file.
public func upload(
    _ fileURL: URL,
    to convertible: any URLConvertible,
    method: HTTPMethod = .post,
    headers: HTTPHeaders? = nil,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil,
    requestModifier: Session.RequestModifier? = nil
) -> UploadRequest {
    AF.upload(
        fileURL, to: convertible, method: method, headers: headers, interceptor: interceptor,
        shouldAutomaticallyResume: shouldAutomaticallyResume, requestModifier: requestModifier)
}

/// Makes a request on ``Session/default`` that sends a file, from a value that can make a `URLRequest`.
public func upload(
    _ fileURL: URL,
    with convertible: any URLRequestConvertible,
    interceptor: (any RequestInterceptor)? = nil,
    shouldAutomaticallyResume: Bool? = nil
) -> UploadRequest {
    AF.upload(
        fileURL, with: convertible, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
}
