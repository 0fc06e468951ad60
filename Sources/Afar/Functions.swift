public import AfarCore
import Foundation

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
