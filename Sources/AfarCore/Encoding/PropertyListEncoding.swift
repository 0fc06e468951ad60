public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

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
    /// - Throws: `AFError.parameterEncodingFailed` with `propertyListEncodingFailed`; any error thrown by the convertible.
    public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        var request = try urlRequest.asURLRequest()
        guard let parameters else { return request }
        do {
            try AFError.ParameterNestingError.check(parameters)
            request.setBody(
                try PropertyListSerialization.data(fromPropertyList: parameters, format: format, options: options),
                contentType: "application/x-plist"
            )
        } catch {
            throw AFError.parameterEncodingFailed(reason: .propertyListEncodingFailed(error: error))
        }
        return request
    }
}

/// An encoder that writes an `Encodable` value as a property list body.
// @unchecked because the class is open, so the compiler can't check it. Its only property is an immutable Sendable reference.
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
    /// - Throws: `AFError.parameterEncoderFailed` if the value can't be encoded, with an ``AFError/ParameterNestingError`` if it
    ///   is nested more than 128 levels deep, is too deep for the stack, or contains itself.
    open func encode<Parameters: Encodable>(
        _ parameters: Parameters?,
        into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        var request = request
        do {
            let body = try NestingLimit.encode(parameters, userInfo: encoder.userInfo) { try encoder.encode($0) }
            request.setBody(body, contentType: "application/x-plist")
        } catch {
            throw AFError.parameterEncoderFailed(reason: .encoderFailed(error: error))
        }
        return request
    }
}

extension ParameterEncoder where Self == PropertyListParameterEncoder {
    /// An encoder of property list bodies with Foundation's default settings.
    public static var propertyList: PropertyListParameterEncoder { PropertyListParameterEncoder() }

    /// Returns an encoder of property list bodies.
    ///
    /// - Parameter encoder: The encoder that writes the property list.
    public static func propertyList(
        encoder: PropertyListEncoder = PropertyListEncoder()
    ) -> PropertyListParameterEncoder {
        PropertyListParameterEncoder(encoder: encoder)
    }
}
