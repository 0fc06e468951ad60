public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Parameters as a property list body.
public struct PropertyListEncoding: ParameterEncoding {
    /// The encoding as XML.
    public static var `default`: PropertyListEncoding { PropertyListEncoding() }

    /// The encoding as XML.
    public static var xml: PropertyListEncoding { PropertyListEncoding(format: .xml) }

    /// The encoding in the binary format.
    public static var binary: PropertyListEncoding { PropertyListEncoding(format: .binary) }

    /// The format of the property list.
    public let format: PropertyListSerialization.PropertyListFormat

    /// How the property list is written. Foundation knows no such options yet.
    public let options: PropertyListSerialization.WriteOptions

    /// Makes an encoding.
    public init(
        format: PropertyListSerialization.PropertyListFormat = .xml,
        options: PropertyListSerialization.WriteOptions = 0
    ) {
        self.format = format
        self.options = options
    }

    /// The request with the parameters as its body. The content type `application/x-plist` is set unless there is one.
    ///
    /// - Throws: `AFError.parameterEncodingFailed` with `propertyListEncodingFailed`; what the convertible throws.
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

/// An `Encodable` value as a property list body.
// @unchecked: it is open, so that the compiler can't check it; its one property is an immutable Sendable reference.
open class PropertyListParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// An encoder with Foundation's default settings.
    public static var `default`: PropertyListParameterEncoder { PropertyListParameterEncoder() }

    /// What writes the property list.
    public let encoder: PropertyListEncoder

    /// Makes an encoder.
    public init(encoder: PropertyListEncoder = PropertyListEncoder()) {
        self.encoder = encoder
    }

    /// The request with the parameters as its body. The content type `application/x-plist` is set unless there is one.
    ///
    /// - Throws: `AFError.parameterEncoderFailed` if the value cannot be encoded, with an
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

    /// An encoder of property list bodies.
    ///
    /// - Parameter encoder: What writes the property list.
    public static func propertyList(
        encoder: PropertyListEncoder = PropertyListEncoder()
    ) -> PropertyListParameterEncoder {
        PropertyListParameterEncoder(encoder: encoder)
    }
}
