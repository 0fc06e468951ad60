public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// The parameters of a request, by name.
public typealias Parameters = [String: any Any & Sendable]

/// A type that adds a dictionary of parameters to a request.
public protocol ParameterEncoding: Sendable {
    /// Returns the request with the parameters added. If they are nil, the request is unchanged.
    ///
    /// - Throws: Any error. The encodings of this library throw `AFError.parameterEncodingFailed`.
    func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest
}

/// A type that adds an `Encodable` value to a request.
public protocol ParameterEncoder: Sendable {
    /// Returns the request with the parameters added. If they are nil, the request is unchanged.
    ///
    /// - Throws: Any error. ``JSONParameterEncoder`` throws `AFError.parameterEncodingFailed`. The other encoders of this library
    ///   throw `AFError.parameterEncoderFailed`.
    func encode<Parameters: Encodable & Sendable>(
        _ parameters: Parameters?,
        into request: URLRequest
    ) throws -> URLRequest
}

/// An encoder that stands for the session's encoder, ``SessionConfiguration/encoder``.
///
/// It is the default of the methods that create requests from `Encodable` values or dictionaries. If the session's encoder is a
/// ``URLEncodedFormParameterEncoder``, ``URLEncoding`` encodes the dictionaries. Outside of these methods, these two types encode
/// the parameters.
public struct SessionEncoder: ParameterEncoder, ParameterEncoding {
    private static let ofURLs: [HTTPMethod] = [.get, .head, .delete]

    /// Creates the value.
    public init() {}

    /// Adds parameters as a ``URLEncodedFormParameterEncoder`` does.
    public func encode<Parameters: Encodable & Sendable>(
        _ parameters: Parameters?, into request: URLRequest
    ) throws -> URLRequest {
        try URLEncodedFormParameterEncoder.default.encode(parameters, into: request)
    }

    /// Adds parameters as ``URLEncoding`` does.
    public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        try URLEncoding.default.encode(urlRequest, with: parameters)
    }

    /// Returns the encoder to use for a method.
    func resolved(by configuration: SessionConfiguration, for method: HTTPMethod) -> any ParameterEncoder {
        ownEncoder(of: configuration, for: method) ?? URLEncodedFormParameterEncoder.default
    }

    /// Returns the encoding to use for a method.
    func resolvedEncoding(by configuration: SessionConfiguration, for method: HTTPMethod) -> any ParameterEncoding {
        guard let encoder = ownEncoder(of: configuration, for: method), !(encoder is URLEncodedFormParameterEncoder)
        else { return URLEncoding.default }
        return EncoderEncoding(encoder: encoder)
    }

    /// Returns the configuration's encoder, or nil if the configuration has none for the method.
    private func ownEncoder(of configuration: SessionConfiguration, for method: HTTPMethod) -> (any ParameterEncoder)? {
        let encoder = configuration.encoder
        let isSuitable = encoder is URLEncodedFormParameterEncoder || !Self.ofURLs.contains(method)
        return isSuitable && !(encoder is SessionEncoder) ? encoder : nil
    }
}

/// An encoding that passes dictionaries to an encoder.
private struct EncoderEncoding: ParameterEncoding {
    let encoder: any ParameterEncoder

    func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        try encoder.encode(parameters?.mapValues(Value.init), into: try urlRequest.asURLRequest())
    }

    private struct Value: Encodable, @unchecked Sendable {
        // Sendable because the values of `Parameters` are.
        let value: Any

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch value {
            case let value as any Encodable: try container.encode(value)
            case is NSNull: try container.encodeNil()
            case let number as NSNumber: try container.encode(number.decimalValue)
            case let list as [Any]: try container.encode(list.map(Value.init))
            case let dictionary as [String: Any]: try container.encode(dictionary.mapValues(Value.init))
            default:
                throw EncodingError.invalidValue(
                    value,
                    EncodingError.Context(
                        codingPath: encoder.codingPath,
                        debugDescription:
                            "A value of type \(type(of: value)) can't be encoded, because it isn't Encodable."))
            }
        }
    }
}

extension URLRequest {
    /// Sets the body, and the content type unless the request has one.
    mutating func setBody(_ body: Data, contentType: String) {
        if value(forHTTPHeaderField: "Content-Type") == nil {
            setValue(contentType, forHTTPHeaderField: "Content-Type")
        }
        httpBody = body
    }

    /// Returns this request with the body from `makeBody`. Sets the content type unless the request has one.
    ///
    /// - Throws: The error of `makeBody`, converted by `wrap`.
    func settingBody(
        _ contentType: String, orThrow wrap: (any Error) -> AFError, _ makeBody: () throws -> Data
    ) throws -> URLRequest {
        var request = self
        do { request.setBody(try makeBody(), contentType: contentType) } catch { throw wrap(error) }
        return request
    }
}

extension URL {
    /// Returns this URL with pairs appended to its query. The existing query is unchanged.
    ///
    /// The text is concatenated, because `URLComponents` traps on a query with unexpected percent-encoding.
    ///
    /// - Parameter query: The percent-encoded pairs to append. The method also percent-encodes any other characters that aren't
    ///   allowed in a URL.
    /// - Throws: `AFError.invalidURL` if the result isn't a valid URL.
    func appendingQuery(_ query: String) throws -> URL {
        guard !query.isEmpty else { return self }
        let text = absoluteString
        let fragment = text.firstIndex(of: "#") ?? text.endIndex
        let head = text[..<fragment]
        let separator =
            if !head.contains("?") { "?" } else if head.hasSuffix("?") || head.hasSuffix("&") { "" } else { "&" }
        let escaped = query.addingPercentEncoding(withAllowedCharacters: Self.escapedQueryCharacters) ?? query
        let result = String(head + separator + escaped + text[fragment...])
        // With true, Foundation would encode every percent sign again if a character is invalid.
        guard let url = URL(string: result, encodingInvalidCharacters: false) else {
            throw AFError.invalidURL(url: result)
        }
        return url
    }

    private static let escapedQueryCharacters = CharacterSet.urlQueryAllowed.union(CharacterSet(charactersIn: "%"))
}

extension HTTPMethod {
    /// Whether the parameters of a request with this method are added to the URL instead of a body.
    var prefersParametersInURL: Bool {
        self == .get || self == .head || self == .delete
    }
}

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
        let request = try urlRequest.asURLRequest()
        guard let jsonObject else { return request }
        return try request.settingBody(
            "application/json", orThrow: { .parameterEncodingFailed(reason: .jsonEncodingFailed(error: $0)) }
        ) { try data(of: jsonObject) }
    }

    private func data(of object: Any) throws -> Data {
        try AFError.ParameterNestingError.check(object)
        // JSONSerialization traps on invalid objects. A fragment is valid if an array that contains it is valid.
        guard JSONSerialization.isValidJSONObject(options.contains(.fragmentsAllowed) ? [object] : object) else {
            throw Error.invalidJSONObject
        }
        return try JSONSerialization.data(withJSONObject: object, options: options)
    }
}

extension JSONEncoding.Error: LocalizedError {
    /// A human-readable description of the error.
    public var errorDescription: String? {
        "The value isn't a valid JSON object. It must be an array, or a dictionary with string keys, "
            + "and contain only strings, finite numbers, Booleans, null, and such arrays and dictionaries."
    }
}

/// An encoder that writes an `Encodable` value as a JSON body.
// @unchecked because the class is open. Its property is immutable and Sendable.
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
    /// - Throws: `AFError.parameterEncodingFailed(reason: .jsonEncodingFailed)` if the value can't be encoded. If the value is
    ///   nested more than 128 levels deep, is too deep for the stack, or contains itself, the underlying error is an
    ///   ``AFError/ParameterNestingError``.
    open func encode<Parameters: Encodable>(
        _ parameters: Parameters?,
        into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        return try request.settingBody(
            "application/json", orThrow: { .parameterEncodingFailed(reason: .jsonEncodingFailed(error: $0)) }
        ) {
            try NestingLimit.encode(parameters, userInfo: encoder.userInfo) { try encoder.encode($0) }
        }
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

    /// Returns an encoder of JSON bodies that are written by a `JSONEncoder`.
    public static func json(encoder: JSONEncoder = JSONEncoder()) -> JSONParameterEncoder {
        JSONParameterEncoder(encoder: encoder)
    }
}

/// An encoding that writes parameters as a property list body.
public struct PropertyListEncoding: ParameterEncoding {
    /// An XML encoding.
    public static var `default`: PropertyListEncoding { PropertyListEncoding() }

    /// An XML encoding.
    public static var xml: PropertyListEncoding { PropertyListEncoding(format: .xml) }

    /// A binary encoding.
    public static var binary: PropertyListEncoding { PropertyListEncoding(format: .binary) }

    /// The format of the property list.
    public let format: PropertyListSerialization.PropertyListFormat

    /// The options for writing the property list. Foundation doesn't define any yet.
    public let options: PropertyListSerialization.WriteOptions

    /// Creates an encoding.
    public init(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        options: PropertyListSerialization.WriteOptions = 0
    ) {
        self.format = format
        self.options = options
    }

    /// Returns the request with the parameters as its body. Sets the content type `application/x-plist` unless the request has
    /// one.
    ///
    /// - Throws: `AFError.parameterEncodingFailed` with `customEncodingFailed`; any error thrown by the convertible.
    public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        let request = try urlRequest.asURLRequest()
        guard let parameters else { return request }
        return try request.settingBody(
            "application/x-plist", orThrow: { .parameterEncodingFailed(reason: .customEncodingFailed(error: $0)) }
        ) {
            try AFError.ParameterNestingError.check(parameters)
            return try PropertyListSerialization.data(fromPropertyList: parameters, format: format, options: options)
        }
    }
}

/// An encoder that writes an `Encodable` value as a property list body.
// @unchecked because the class is open. Its property is immutable and Sendable.
open class PropertyListParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// An encoder with Foundation's default settings.
    public static var `default`: PropertyListParameterEncoder { PropertyListParameterEncoder() }

    /// The encoder that writes the property list.
    public let encoder: PropertyListEncoder

    /// Creates an encoder.
    public init(encoder: PropertyListEncoder = PropertyListEncoder()) {
        self.encoder = encoder
    }

    /// Returns the request with the parameters as its body. Sets the content type `application/x-plist` unless the request has
    /// one.
    ///
    /// - Throws: `AFError.parameterEncoderFailed` if the value can't be encoded. If the value is nested more than 128 levels
    ///   deep, is too deep for the stack, or contains itself, the underlying error is an ``AFError/ParameterNestingError``.
    open func encode<Parameters: Encodable>(
        _ parameters: Parameters?,
        into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        return try request.settingBody(
            "application/x-plist", orThrow: { .parameterEncoderFailed(reason: .encoderFailed(error: $0)) }
        ) {
            try NestingLimit.encode(parameters, userInfo: encoder.userInfo) { try encoder.encode($0) }
        }
    }
}

extension ParameterEncoder where Self == PropertyListParameterEncoder {
    /// An encoder of property list bodies with Foundation's default settings.
    public static var propertyList: PropertyListParameterEncoder { PropertyListParameterEncoder() }

    /// Returns an encoder of property list bodies that are written by a `PropertyListEncoder`.
    public static func propertyList(
        encoder: PropertyListEncoder = PropertyListEncoder()
    ) -> PropertyListParameterEncoder {
        PropertyListParameterEncoder(encoder: encoder)
    }
}
