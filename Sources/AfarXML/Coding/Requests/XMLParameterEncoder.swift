public import AfarCore

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// An `Encodable` value as an XML body.
// @unchecked: it is open, so that the compiler can't check it; its one property is an immutable Sendable value.
open class XMLParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// An encoder with default settings.
    public static var `default`: XMLParameterEncoder { XMLParameterEncoder() }

    /// An encoder that writes line breaks and indentation.
    public static var prettyPrinted: XMLParameterEncoder {
        XMLParameterEncoder(encoder: XMLEncoder(outputFormatting: .prettyPrinted))
    }

    /// What writes the XML.
    public let encoder: XMLEncoder

    /// Makes an encoder.
    public init(encoder: XMLEncoder = XMLEncoder()) {
        self.encoder = encoder
    }

    /// The request with the parameters as its body. The content type `application/xml` is set unless there is one.
    ///
    /// - Throws: `AFError.parameterEncoderFailed` if the value cannot be encoded.
    open func encode<Parameters: Encodable>(
        _ parameters: Parameters?,
        into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        var request = request
        do {
            request.httpBody = try encoder.encode(parameters)
        } catch {
            throw AFError.parameterEncoderFailed(reason: .encoderFailed(error: error))
        }
        if request.value(forHTTPHeaderField: "Content-Type") == nil {
            request.setValue("application/xml", forHTTPHeaderField: "Content-Type")
        }
        return request
    }
}

extension ParameterEncoder where Self == XMLParameterEncoder {
    /// An encoder of XML bodies with default settings.
    public static var xml: XMLParameterEncoder { XMLParameterEncoder() }

    /// An encoder of XML bodies.
    ///
    /// - Parameter encoder: What writes the XML.
    public static func xml(encoder: XMLEncoder = XMLEncoder()) -> XMLParameterEncoder {
        XMLParameterEncoder(encoder: encoder)
    }
}
