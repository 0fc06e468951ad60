public import AfarCore
public import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A serializer that parses a response as an XML document or an HTML page.
public final class XMLResponseSerializer: ResponseSerializer {
    /// The format of a response.
    public enum Format: Hashable, Sendable {
        /// XML, which must be well-formed.
        case xml
        /// HTML, which is repaired if necessary. See ``XML/Document/init(html:contentType:options:)``.
        case html
    }

    /// The preprocessor to apply to the body before serialization.
    public let dataPreprocessor: any DataPreprocessor
    /// The status codes that allow an empty body.
    public let emptyResponseCodes: Set<Int>
    /// The request methods that allow an empty response body.
    public let emptyRequestMethods: Set<HTTPMethod>
    /// The format of responses.
    public let format: Format
    /// The options and limits for parsing.
    public let options: XML.ParsingOptions

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    ///   - format: The format of responses, regardless of their `Content-Type`. The default is XML.
    ///   - options: The options and limits for parsing. The defaults are safe for untrusted documents.
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

    /// Returns the document. A byte-order mark, the charset of the `Content-Type` or the document's own declaration determines
    /// the encoding, in this order of precedence.
    ///
    /// An empty body is an error even if the status code or the method allows it, because it contains no document. Validate
    /// the status first, or use `serializingData`.
    ///
    /// - Throws: ``AFError/ResponseSerializationFailureReason/customSerializationFailed(error:)`` with an
    ///   ``XML/Error``, or the errors of ``ResponseSerializer/bytes(of:)``.
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

    /// Returns the document.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> XML.Document {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer where Self == XMLResponseSerializer {
    /// A serializer that parses an XML document.
    public static var xml: XMLResponseSerializer { XMLResponseSerializer() }

    /// A serializer that parses an HTML page.
    public static var html: XMLResponseSerializer { XMLResponseSerializer(format: .html) }

    /// Returns a serializer that parses a document.
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

extension XMLDecoder: DataDecoder {
    /// Decodes a value from a response. The charset of the `Content-Type` overrides the document's own declaration (RFC
    /// 7303, section 3.2).
    ///
    /// - Throws: The same errors as ``decode(_:from:contentType:)``.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data, of head: ResponseHead?) throws -> Value {
        try decode(type, from: data, contentType: head?.values(for: .contentType).last)
    }
}

/// A parameter encoder that encodes a value as an XML body.
// Unchecked because the class is open. Its only property is immutable and Sendable.
open class XMLParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// An encoder with default settings.
    public static var `default`: XMLParameterEncoder { XMLParameterEncoder() }

    /// An encoder that writes line breaks and indentation.
    public static var prettyPrinted: XMLParameterEncoder {
        XMLParameterEncoder(encoder: XMLEncoder(outputFormatting: .prettyPrinted))
    }

    /// The encoder that writes the XML.
    public let encoder: XMLEncoder

    /// Creates a parameter encoder.
    public init(encoder: XMLEncoder = XMLEncoder()) {
        self.encoder = encoder
    }

    /// Returns the request with the parameters as its body. Sets the `Content-Type` to `application/xml` unless the
    /// request has one.
    ///
    /// - Throws: `AFError.parameterEncoderFailed` if the value can't be encoded.
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
    /// A parameter encoder for XML bodies with default settings.
    public static var xml: XMLParameterEncoder { XMLParameterEncoder() }

    /// Returns a parameter encoder for XML bodies.
    ///
    /// - Parameter encoder: The encoder that writes the XML.
    public static func xml(encoder: XMLEncoder = XMLEncoder()) -> XMLParameterEncoder {
        XMLParameterEncoder(encoder: encoder)
    }
}
