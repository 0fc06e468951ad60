public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A type that creates a value from a response in memory.
///
/// Implement ``serialize(request:response:data:error:)``. If a serializer processes very many small responses, also implement
/// ``serialize(_:)``, which avoids creating Foundation's `HTTPURLResponse`.
public protocol DataResponseSerializerProtocol<SerializedObject>: Sendable {
    /// The type of the value.
    associatedtype SerializedObject

    /// Creates the value.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - data: The response's bytes, or nil if there are none.
    ///   - error: The error of an earlier step. Throw it, unless the serializer can handle it.
    /// - Throws: Any error. An error that isn't an ``AFError`` is wrapped in one.
    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> SerializedObject

    /// Creates the value. The default implementation calls ``serialize(request:response:data:error:)``.
    func serialize(_ input: SerializationInput) throws -> SerializedObject
}

extension DataResponseSerializerProtocol {
    /// Calls ``serialize(request:response:data:error:)``.
    public func serialize(_ input: SerializationInput) throws -> SerializedObject {
        try serialize(request: input.request, response: input.response, data: input.data, error: input.error)
    }
}

/// A type that creates a value from a response in a file.
public protocol DownloadResponseSerializerProtocol<SerializedObject>: Sendable {
    /// The type of the value.
    associatedtype SerializedObject

    /// Creates the value.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - fileURL: The location of the body's file, or nil without a body.
    ///   - error: The error of an earlier step. Throw it, unless the serializer can handle it.
    /// - Throws: Any error. An error that isn't an ``AFError`` is wrapped in one.
    func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> SerializedObject
}

extension DownloadResponseSerializerProtocol where Self: DataResponseSerializerProtocol {
    /// Reads the whole file into memory and serializes its bytes.
    public func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> Self.SerializedObject {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        let data: Data
        do {
            let size = try FileManager.default.attributesOfItem(atPath: fileURL.path)[.size] as? NSNumber
            // Foundation on Linux leaks 4 KiB each time it reads an empty file.
            data = size == 0 ? Data() : try Data(contentsOf: fileURL)
        } catch {
            throw AFError.responseSerializationFailed(reason: .inputFileReadFailed(at: fileURL))
        }
        return try serialize(request: request, response: response, data: data, error: nil)
    }
}

/// A type that creates a value from a response, in memory or in a file, with the usual rules for empty bodies.
public protocol ResponseSerializer<SerializedObject>: DataResponseSerializerProtocol, DownloadResponseSerializerProtocol
{
    /// Changes the bytes before they are serialized.
    var dataPreprocessor: any DataPreprocessor { get }
    /// The methods whose responses can be empty.
    var emptyRequestMethods: Set<HTTPMethod> { get }
    /// The status codes whose responses can be empty.
    var emptyResponseCodes: Set<Int> { get }
}

extension ResponseSerializer {
    /// A preprocessor that returns the bytes unchanged.
    public static var defaultDataPreprocessor: any DataPreprocessor { PassthroughPreprocessor() }
    /// HEAD (RFC 9110, section 9.3.2).
    public static var defaultEmptyRequestMethods: Set<HTTPMethod> { headOnly }
    /// 204 and 205 (RFC 9110, sections 15.3.5 and 15.3.6).
    public static var defaultEmptyResponseCodes: Set<Int> { withoutContent }

    /// A preprocessor that returns the bytes unchanged.
    public var dataPreprocessor: any DataPreprocessor { Self.defaultDataPreprocessor }
    /// HEAD.
    public var emptyRequestMethods: Set<HTTPMethod> { Self.defaultEmptyRequestMethods }
    /// 204 and 205.
    public var emptyResponseCodes: Set<Int> { Self.defaultEmptyResponseCodes }

    /// Returns whether the request's method allows an empty response, or nil without a request.
    public func requestAllowsEmptyResponseData(_ request: URLRequest?) -> Bool? {
        request?.httpMethod.map { emptyRequestMethods.contains(HTTPMethod(rawValue: $0)) }
    }

    /// Returns whether the status code allows an empty response, or nil without a response.
    public func responseAllowsEmptyResponseData(_ response: HTTPURLResponse?) -> Bool? {
        (response?.statusCode).map { emptyResponseCodes.contains($0) }
    }

    /// Returns whether the method or the status code allows an empty response.
    public func emptyResponseAllowed(forRequest request: URLRequest?, response: HTTPURLResponse?) -> Bool {
        requestAllowsEmptyResponseData(request) == true || responseAllowsEmptyResponseData(response) == true
    }

    /// Returns whether the method or the status code allows an empty response.
    public func emptyResponseAllowed(for input: SerializationInput) -> Bool {
        requestAllowsEmptyResponseData(input.request) == true
            || input.head.map { emptyResponseCodes.contains($0.status) } == true
    }

    /// Performs the first steps of most serializers: throws the error of an earlier step, checks an empty body, and runs the
    /// preprocessor.
    ///
    /// - Returns: The preprocessed bytes, or nil for an allowed empty body.
    /// - Throws: The input's error, the preprocessor's error, or
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

// Created once, because every request's serializer uses them.
private let headOnly: Set<HTTPMethod> = [.head]
private let withoutContent: Set<Int> = [204, 205]

/// The input of a serializer. Foundation's type of the response's head is created on access.
public struct SerializationInput: Sendable {
    /// The request that was sent, after adaptation.
    public let request: URLRequest?
    /// The response's head.
    public let head: ResponseHead?
    /// The response's bytes.
    public let data: Data?
    /// The error of a step before serialization, or nil.
    public let error: AFError?

    /// Creates an input.
    public init(request: URLRequest?, head: ResponseHead?, data: Data?, error: AFError?) {
        self.request = request
        self.head = head
        self.data = data
        self.error = error
    }

    /// The response's head as Foundation's type.
    public var response: HTTPURLResponse? { head?.httpURLResponse }
}

extension SerializationInput {
    /// Creates an input from Foundation's types, for serializers that are called directly.
    ///
    /// - Throws: `error`, if it isn't an ``AFError``.
    public init(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) throws {
        if let error, error.asAFError == nil { throw error }
        self.init(request: request, head: response.map { ResponseHead($0) }, data: data, error: error?.asAFError)
    }
}

extension ResponseHead {
    /// Creates a head from Foundation's type.
    package convenience init(_ response: HTTPURLResponse) {
        var fields = HTTPFields()
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let fieldName = HTTPField.Name(name) else { continue }
            fields.append(HTTPField(name: fieldName, value: "\(value)"))
        }
        self.init(status: response.statusCode, fields: fields, url: response.url?.absoluteString ?? "")
    }
}
