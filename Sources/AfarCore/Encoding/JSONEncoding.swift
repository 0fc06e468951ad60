public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// An encoding that writes parameters as a JSON body.
public struct JSONEncoding: ParameterEncoding {
    /// An error that describes why a value isn't a JSON object.
    public enum Error: Swift.Error {
        /// The value isn't an array or a dictionary, or contains a value that JSON can't represent.
        case invalidJSONObject
    }

    /// A compact encoding without options.
    public static var `default`: JSONEncoding { JSONEncoding() }

    /// An encoding with line breaks and indentation.
    public static var prettyPrinted: JSONEncoding { JSONEncoding(options: .prettyPrinted) }

    /// The options for writing the JSON.
    public let options: JSONSerialization.WritingOptions

    /// Creates an encoding.
    public init(options: JSONSerialization.WritingOptions = []) {
        self.options = options
    }

    /// Returns the request with the parameters as its body. Sets the content type `application/json` unless the request has one.
    ///
    /// - Throws: `AFError.parameterEncodingFailed` with `jsonEncodingFailed`; any error thrown by the convertible.
    public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        try encode(urlRequest, withJSONObject: parameters)
    }

    /// Returns the request with a JSON object, such as an array of dictionaries, as its body.
    ///
    /// Sets the content type `application/json` unless the request has one.
    ///
    /// - Throws: `AFError.parameterEncodingFailed` with `jsonEncodingFailed`; any error thrown by the convertible.
    public func encode(
        _ urlRequest: any URLRequestConvertible,
        withJSONObject jsonObject: Any? = nil
    ) throws -> URLRequest {
        var request = try urlRequest.asURLRequest()
        guard let jsonObject else { return request }
        do {
            request.setBody(try data(of: jsonObject), contentType: "application/json")
        } catch {
            throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: error))
        }
        return request
    }

    private func data(of object: Any) throws -> Data {
        try AFError.ParameterNestingError.check(object)
        // JSONSerialization traps on invalid objects, so check first. A fragment is valid if an array of it is.
        guard JSONSerialization.isValidJSONObject(options.contains(.fragmentsAllowed) ? [object] : object) else {
            throw Error.invalidJSONObject
        }
        return try JSONSerialization.data(withJSONObject: object, options: options)
    }
}

extension JSONEncoding.Error: LocalizedError {
    /// A human-readable description of the error.
    public var errorDescription: String? {
        "The value is no valid JSON object. It must be an array or a dictionary with text keys, "
            + "of text, finite numbers, booleans, null, and such arrays and dictionaries."
    }
}

/// An encoder that writes an `Encodable` value as a JSON body.
// @unchecked because the class is open, so the compiler can't check it. Its only property is an immutable Sendable reference.
open class JSONParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// An encoder with Foundation's default settings.
    public static var `default`: JSONParameterEncoder { JSONParameterEncoder() }

    /// An encoder that writes line breaks and indentation.
    public static var prettyPrinted: JSONParameterEncoder { formatted(.prettyPrinted) }

    /// An encoder that sorts keys, so that equal values produce equal bodies.
    public static var sortedKeys: JSONParameterEncoder { formatted(.sortedKeys) }

    /// The encoder that writes the JSON.
    public let encoder: JSONEncoder

    /// Creates an encoder.
    public init(encoder: JSONEncoder = JSONEncoder()) {
        self.encoder = encoder
    }

    /// Returns the request with the parameters as its body. Sets the content type `application/json` unless the request has one.
    ///
    /// - Throws: `AFError.parameterEncodingFailed(reason: .jsonEncodingFailed)` if the value can't be encoded, with an
    ///   ``AFError/ParameterNestingError`` if it is nested more than 128 levels deep, is too deep for the stack, or contains
    ///   itself.
    open func encode<Parameters: Encodable>(
        _ parameters: Parameters?,
        into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        var request = request
        do {
            let body = try NestingLimit.encode(parameters, userInfo: encoder.userInfo) { try encoder.encode($0) }
            request.setBody(body, contentType: "application/json")
        } catch {
            throw AFError.parameterEncodingFailed(reason: .jsonEncodingFailed(error: error))
        }
        return request
    }

    private static func formatted(_ formatting: JSONEncoder.OutputFormatting) -> JSONParameterEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        return JSONParameterEncoder(encoder: encoder)
    }
}

extension ParameterEncoder where Self == JSONParameterEncoder {
    /// An encoder of JSON bodies with Foundation's default settings.
    public static var json: JSONParameterEncoder { JSONParameterEncoder() }

    /// Returns an encoder of JSON bodies.
    ///
    /// - Parameter encoder: The encoder that writes the JSON.
    public static func json(encoder: JSONEncoder = JSONEncoder()) -> JSONParameterEncoder {
        JSONParameterEncoder(encoder: encoder)
    }
}
