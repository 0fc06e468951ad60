public import AfarCore
public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Makes a document of a response: of XML, or of an HTML page.
public final class XMLResponseSerializer: ResponseSerializer {
    /// What a response is read as.
    public enum Format: Hashable, Sendable {
        /// XML, which must be well-formed.
        case xml
        /// HTML, which is repaired: ``XML/Document/init(html:contentType:options:)``.
        case html
    }

    /// Changes the bytes before they are serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>
    /// What a response is read as.
    public let format: Format
    /// How documents are read, and what they may be and hold.
    public let options: XML.ParsingOptions

    /// Makes a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - format: What a response is read as, whatever its Content-Type says. The default is XML.
    ///   - options: How documents are read, and what they may be and hold. The defaults are safe for documents of strangers.
    public init(
        dataPreprocessor: any DataPreprocessor = XMLResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = XMLResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = XMLResponseSerializer.defaultEmptyRequestMethods,
        format: Format = .xml,
        options: XML.ParsingOptions = XML.ParsingOptions()
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
        self.format = format
        self.options = options
    }

    /// The document. Its charset is a byte-order mark's, else the Content-Type's, else the one that it declares.
    ///
    /// An allowed empty body gives no document, and so is an error: validate the status before, or serialize with
    /// `serializingData`.
    ///
    /// - Throws: ``AFError/ResponseSerializationFailureReason/customSerializationFailed(error:)`` with an ``XML/Error``, and
    ///   what ``ResponseSerializer/bytes(of:)`` throws.
    public func serialize(_ input: SerializationInput) throws -> XML.Document {
        guard let data = try bytes(of: input) else {
            throw AFError.responseSerializationFailed(reason: .invalidEmptyResponse(type: "\(XML.Document.self)"))
        }
        let contentType = input.head?.values(for: .contentType).last
        do throws(XML.Error) {
            return switch format {
            case .xml: try XML.Document(data, contentType: contentType, options: options)
            case .html: try XML.Document(html: data, contentType: contentType, options: options)
            }
        } catch {
            throw AFError.responseSerializationFailed(reason: .customSerializationFailed(error: error))
        }
    }

    /// The document.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> XML.Document {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer where Self == XMLResponseSerializer {
    /// Makes a document of XML.
    public static var xml: XMLResponseSerializer { XMLResponseSerializer() }

    /// Makes a document of an HTML page.
    public static var html: XMLResponseSerializer { XMLResponseSerializer(format: .html) }

    /// Makes a document.
    public static func xml(
        dataPreprocessor: any DataPreprocessor = XMLResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = XMLResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = XMLResponseSerializer.defaultEmptyRequestMethods,
        format: XMLResponseSerializer.Format = .xml,
        options: XML.ParsingOptions = XML.ParsingOptions()
    ) -> XMLResponseSerializer {
        XMLResponseSerializer(
            dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods, format: format, options: options)
    }
}

// MARK: - Decoded responses

extension XMLDecoder: DataDecoder {
    /// Reads a value from a response's document, in which the charset of the Content-Type outranks the document's own
    /// declaration (RFC 7303, section 3.2).
    ///
    /// - Throws: As ``decode(_:from:contentType:)``.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, of head: ResponseHead?) throws -> Value {
        try decode(type, from: data, contentType: head?.values(for: .contentType).last)
    }
}

// MARK: - Bodies of requests

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
