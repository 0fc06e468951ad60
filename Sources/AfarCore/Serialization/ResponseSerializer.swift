public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Makes a value of a response, in memory or in a file, with the usual rules about empty bodies.
public protocol ResponseSerializer<SerializedObject>: DataResponseSerializerProtocol, DownloadResponseSerializerProtocol
{
    /// Changes the bytes before they are serialized.
    var dataPreprocessor: any DataPreprocessor { get }
    /// The methods whose responses may be empty.
    var emptyRequestMethods: Set<HTTPMethod> { get }
    /// The status codes whose responses may be empty.
    var emptyResponseCodes: Set<Int> { get }
}

extension ResponseSerializer {
    /// Bytes are left as they are.
    public static var defaultDataPreprocessor: any DataPreprocessor { PassthroughPreprocessor() }
    /// HEAD (RFC 9110, section 9.3.2).
    public static var defaultEmptyRequestMethods: Set<HTTPMethod> { headOnly }
    /// 204 and 205 (RFC 9110, sections 15.3.5 and 15.3.6).
    public static var defaultEmptyResponseCodes: Set<Int> { withoutContent }

    /// Bytes are left as they are.
    public var dataPreprocessor: any DataPreprocessor { Self.defaultDataPreprocessor }
    /// HEAD.
    public var emptyRequestMethods: Set<HTTPMethod> { Self.defaultEmptyRequestMethods }
    /// 204 and 205.
    public var emptyResponseCodes: Set<Int> { Self.defaultEmptyResponseCodes }

    /// Whether the request's method allows an empty response; nil without a request.
    public func requestAllowsEmptyResponseData(_ request: URLRequest?) -> Bool? {
        request?.httpMethod.map { emptyRequestMethods.contains(HTTPMethod(rawValue: $0)) }
    }

    /// Whether the status code allows an empty response; nil without a response.
    public func responseAllowsEmptyResponseData(_ response: HTTPURLResponse?) -> Bool? {
        (response?.statusCode).map { emptyResponseCodes.contains($0) }
    }

    /// Whether method or status code allow an empty response.
    public func emptyResponseAllowed(forRequest request: URLRequest?, response: HTTPURLResponse?) -> Bool {
        requestAllowsEmptyResponseData(request) == true || responseAllowsEmptyResponseData(response) == true
    }

    /// Whether method or status code allow an empty response.
    public func emptyResponseAllowed(for input: SerializationInput) -> Bool {
        requestAllowsEmptyResponseData(input.request) == true
            || input.head.map { emptyResponseCodes.contains($0.status) } == true
    }

    /// What most serializers begin with: throws the error of before, runs the preprocessor, and tells an allowed empty
    /// body (nil) from a forbidden one.
    ///
    /// - Throws: The input's error, the preprocessor's, or
    ///   ``AFError/ResponseSerializationFailureReason/inputDataNilOrZeroLength``.
    public func bytes(of input: SerializationInput) throws -> Data? {
        if let error = input.error { throw error }
        guard let data = input.data, !data.isEmpty else {
            guard emptyResponseAllowed(for: input) else {
                throw AFError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
            }
            return nil
        }
        return try dataPreprocessor.preprocess(data)
    }
}

// Made once, because every request's serializer holds them.
private let headOnly: Set<HTTPMethod> = [.head]
private let withoutContent: Set<Int> = [204, 205]
