public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Parameters as a JSON body.
public struct JSONEncoding: ParameterEncoding {
    /// What is wrong with a value that is no JSON object.
    public enum Error: Swift.Error {
        /// The value is no array or dictionary, or has in it what JSON cannot express.
        case invalidJSONObject
    }

    /// The encoding without options: compact.
    public static var `default`: JSONEncoding { JSONEncoding() }

    /// The encoding with line breaks and indentation.
    public static var prettyPrinted: JSONEncoding { JSONEncoding(options: .prettyPrinted) }

    /// How the JSON is written.
    public let options: JSONSerialization.WritingOptions

    /// Makes an encoding.
    public init(options: JSONSerialization.WritingOptions = []) {
        self.options = options
    }

    /// The request with the parameters as its body. The content type `application/json` is set unless there is one.
    ///
    /// - Throws: `AFError.parameterEncodingFailed` with `jsonEncodingFailed`; what the convertible throws.
    public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        try encode(urlRequest, withJSONObject: parameters)
    }

    /// The request with a JSON object, such as an array of dictionaries, as its body.
    ///
    /// The content type `application/json` is set unless there is one.
    ///
    /// - Throws: `AFError.parameterEncodingFailed` with `jsonEncodingFailed`; what the convertible throws.
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
        // JSONSerialization traps on what is not valid, so ask first; a fragment is valid if an array of it is.
        guard JSONSerialization.isValidJSONObject(options.contains(.fragmentsAllowed) ? [object] : object) else {
            throw Error.invalidJSONObject
        }
        return try JSONSerialization.data(withJSONObject: object, options: options)
    }
}

extension JSONEncoding.Error: LocalizedError {
    /// What was wrong, for a person.
    public var errorDescription: String? {
        "The value is no valid JSON object. It must be an array or a dictionary with text keys, "
            + "of text, finite numbers, booleans, null, and such arrays and dictionaries."
    }
}

/// An `Encodable` value as a JSON body.
// @unchecked: it is open, so that the compiler can't check it; its one property is an immutable Sendable reference.
open class JSONParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// An encoder with Foundation's default settings.
    public static var `default`: JSONParameterEncoder { JSONParameterEncoder() }

    /// An encoder that writes line breaks and indentation.
    public static var prettyPrinted: JSONParameterEncoder { formatted(.prettyPrinted) }

    /// An encoder that sorts keys, so that equal values give equal bodies.
    public static var sortedKeys: JSONParameterEncoder { formatted(.sortedKeys) }

    /// What writes the JSON.
    public let encoder: JSONEncoder

    /// Makes an encoder.
    public init(encoder: JSONEncoder = JSONEncoder()) {
        self.encoder = encoder
    }

    /// The request with the parameters as its body. The content type `application/json` is set unless there is one.
    ///
    /// - Throws: `AFError.parameterEncodingFailed(reason: .jsonEncodingFailed)` if the value cannot be encoded, with an
    ///   ``AFError/ParameterNestingError`` if it is nested more than 128 levels deep, deeper than the stack has room
    ///   for, or contains itself.
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

    /// An encoder of JSON bodies.
    ///
    /// - Parameter encoder: What writes the JSON.
    public static func json(encoder: JSONEncoder = JSONEncoder()) -> JSONParameterEncoder {
        JSONParameterEncoder(encoder: encoder)
    }
}
