public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

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
