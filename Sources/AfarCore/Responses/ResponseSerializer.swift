public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A type that creates a value from a response in memory.
///
/// Implement ``serialize(request:response:data:error:)``. If a serializer processes many small responses, also implement
/// ``serialize(_:)``, which avoids the creation of an `HTTPURLResponse`.
public protocol DataResponseSerializerProtocol<SerializedObject>: Sendable {
    /// The type of the value.
    associatedtype SerializedObject

    /// Creates the value.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - data: The response's bytes, or nil if there are none.
    ///   - error: The error of an earlier step. Throw this error, unless the serializer can recover from it.
    /// - Throws: Any error. An error that isn't an ``AFError`` is wrapped in an ``AFError``.
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

    /// Creates the value. See ``DataResponseSerializerProtocol/serialize(request:response:data:error:)``.
    ///
    /// - `fileURL`: The location of the body's file, or nil without a body.
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
            // On Linux, Foundation leaks 4 KiB when it reads an empty file.
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

    /// Performs the first steps of most serializers. It throws the error of an earlier step, checks whether an empty body is
    /// allowed, and runs the preprocessor.
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

// Created once, because every serializer uses them.
private let headOnly: Set<HTTPMethod> = [.head]
private let withoutContent: Set<Int> = [204, 205]

/// The input of a serializer. The response's head is converted to an `HTTPURLResponse` only when ``response`` is accessed.
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
    package convenience init(_ response: HTTPURLResponse) {
        var fields = HTTPFields()
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let fieldName = HTTPField.Name(name) else { continue }
            fields.append(HTTPField(name: fieldName, value: "\(value)"))
        }
        self.init(status: response.statusCode, fields: fields, url: response.url?.absoluteString ?? "")
    }
}

/// A serializer that calls a closure.
///
/// ```swift
/// let lines = ClosureResponseSerializer<[Substring]> { _, _, data, error in
///     if let error { throw error }
///     return String(decoding: data ?? Data(), as: UTF8.self).split(separator: "\n")
/// }
/// ```
///
/// The closure decides which responses can be empty. For a download, it receives the bytes of the whole file.
public final class ClosureResponseSerializer<Value>: ResponseSerializer {
    private let serializeResponse: @Sendable (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) throws -> Value

    /// Creates a serializer.
    ///
    /// - Parameter serializeResponse: Creates the value from the request, the response's head, its bytes, and the error of an
    ///   earlier step. If the closure throws an error, the request fails with it. An error that isn't an ``AFError`` is wrapped
    ///   in an ``AFError``.
    @preconcurrency
    public init(
        _ serializeResponse: @escaping @Sendable (URLRequest?, HTTPURLResponse?, Data?, (any Error)?) throws -> Value
    ) {
        self.serializeResponse = serializeResponse
    }

    /// Creates the value.
    ///
    /// - Throws: The error that the closure throws.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Value {
        try serializeResponse(request, response, data, error)
    }
}

/// A serializer that returns the location of a downloaded file.
public struct URLResponseSerializer: DownloadResponseSerializerProtocol {
    /// Creates the serializer.
    public init() {}

    /// Returns the location of the file.
    ///
    /// - Throws: The error of an earlier step, or ``AFError/ResponseSerializationFailureReason/inputFileNil``.
    public func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> URL {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        return fileURL
    }
}

extension DownloadResponseSerializerProtocol where Self == URLResponseSerializer {
    /// Returns the location of a downloaded file.
    public static var url: URLResponseSerializer { URLResponseSerializer() }
}

/// A type that provides a value for a response without a body.
public protocol EmptyResponse: Sendable {
    /// The value for an empty body.
    static func emptyValue() -> Self
}

/// A type that represents a response without a body.
public struct Empty: Codable, Sendable, Hashable, EmptyResponse {
    /// The shared value.
    public static let value = Empty()

    /// The shared value.
    public static func emptyValue() -> Empty { value }
}

/// A type that changes a response's bytes before they are serialized.
public protocol DataPreprocessor: Sendable {
    /// Returns the bytes to serialize.
    ///
    /// - Throws: Any error, which ends the serialization.
    func preprocess(_ data: Data) throws -> Data
}

/// A preprocessor that returns the bytes unchanged.
public struct PassthroughPreprocessor: DataPreprocessor {
    /// Creates the preprocessor.
    public init() {}

    /// Returns the bytes unchanged.
    public func preprocess(_ data: Data) throws -> Data { data }
}

/// A preprocessor that removes the line that Google's services add before JSON: `)]}',` and a newline.
public struct GoogleXSSIPreprocessor: DataPreprocessor {
    private static let prefix = Data(")]}',\n".utf8)

    /// Creates the preprocessor.
    public init() {}

    /// Returns the bytes after this line, or all bytes if they don't begin with the line.
    public func preprocess(_ data: Data) throws -> Data {
        data.starts(with: Self.prefix) ? data.dropFirst(Self.prefix.count) : data
    }
}

extension DataPreprocessor where Self == PassthroughPreprocessor {
    /// Returns the bytes unchanged.
    public static var passthrough: PassthroughPreprocessor { PassthroughPreprocessor() }
}

extension DataPreprocessor where Self == GoogleXSSIPreprocessor {
    /// Removes the line that Google's services add before JSON.
    public static var googleXSSI: GoogleXSSIPreprocessor { GoogleXSSIPreprocessor() }
}
