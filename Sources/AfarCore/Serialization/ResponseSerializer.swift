public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Makes a value of a response in memory.
///
/// Implement ``serialize(request:response:data:error:)``. A serializer that is used for very many small responses gains by
/// implementing ``serialize(_:)`` too, which does not need Foundation's `HTTPURLResponse`.
public protocol DataResponseSerializerProtocol<SerializedObject>: Sendable {
    /// What is made.
    associatedtype SerializedObject

    /// Makes the value.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - data: The response's bytes; nil when there are none.
    ///   - error: What went wrong before; throw it, unless the serializer can do without.
    /// - Throws: Anything; what is no ``AFError`` is put into one.
    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> SerializedObject

    /// Makes the value. The default calls ``serialize(request:response:data:error:)``.
    func serialize(_ input: SerializationInput) throws -> SerializedObject
}

extension DataResponseSerializerProtocol {
    /// Calls ``serialize(request:response:data:error:)``.
    public func serialize(_ input: SerializationInput) throws -> SerializedObject {
        try serialize(request: input.request, response: input.response, data: input.data, error: input.error)
    }
}

/// Makes a value of a response in a file.
public protocol DownloadResponseSerializerProtocol<SerializedObject>: Sendable {
    /// What is made.
    associatedtype SerializedObject

    /// Makes the value.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - fileURL: Where the body is; nil when there is none.
    ///   - error: What went wrong before; throw it, unless the serializer can do without.
    /// - Throws: Anything; what is no ``AFError`` is put into one.
    func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> SerializedObject
}

extension DownloadResponseSerializerProtocol where Self: DataResponseSerializerProtocol {
    /// Reads the whole file into memory and serializes that.
    public func serializeDownload(
        request: URLRequest?, response: HTTPURLResponse?, fileURL: URL?, error: (any Error)?
    ) throws -> Self.SerializedObject {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        let data: Data
        do {
            let size = try FileManager.default.attributesOfItem(atPath: fileURL.path)[.size] as? NSNumber
            // Foundation on Linux loses 4 KiB each time that it reads an empty file.
            data = size == 0 ? Data() : try Data(contentsOf: fileURL)
        } catch {
            throw AFError.responseSerializationFailed(reason: .inputFileReadFailed(at: fileURL))
        }
        return try serialize(request: request, response: response, data: data, error: nil)
    }
}

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

/// What a serializer works on. Foundation's form of the response's head is made only when it is asked for.
public struct SerializationInput: Sendable {
    /// The request that was sent, as adapted.
    public let request: URLRequest?
    /// The response's head.
    public let head: ResponseHead?
    /// The response's bytes.
    public let data: Data?
    /// What went wrong before serialization, if anything did.
    public let error: AFError?

    /// Makes an input.
    public init(request: URLRequest?, head: ResponseHead?, data: Data?, error: AFError?) {
        self.request = request
        self.head = head
        self.data = data
        self.error = error
    }

    /// The response's head in Foundation's form.
    public var response: HTTPURLResponse? { head?.httpURLResponse }
}

extension SerializationInput {
    /// Makes an input from Foundation's values, for serializers that are called by hand.
    ///
    /// - Throws: `error`, when it is no ``AFError``.
    public init(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) throws {
        if let error, error.asAFError == nil { throw error }
        self.init(request: request, head: response.map { ResponseHead($0) }, data: data, error: error?.asAFError)
    }
}

extension ResponseHead {
    /// Takes over Foundation's form of a head.
    package convenience init(_ response: HTTPURLResponse) {
        var fields = HTTPFields()
        for (name, value) in response.allHeaderFields {
            guard let name = name as? String, let fieldName = HTTPField.Name(name) else { continue }
            fields.append(HTTPField(name: fieldName, value: "\(value)"))
        }
        self.init(status: response.statusCode, fields: fields, url: response.url?.absoluteString ?? "")
    }
}
