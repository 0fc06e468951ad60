public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Makes text of a response.
///
/// Which encoding the bytes are taken for, and what happens to those that are none, are a ``TextDecoding``'s rules:
/// ``TextDecoding/automatic`` unless others are given. ``TextResponseSerializer`` tells of the choice, too.
public final class StringResponseSerializer: ResponseSerializer {
    /// Changes the bytes before they are serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// The encoding to use whatever the response says; nil to go by the rules.
    public let encoding: String.Encoding?
    /// How bytes become text.
    public let decoding: TextDecoding
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Makes a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - encoding: The encoding to use whatever the response says. The default is nil: go by the response.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public init(
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.encoding = encoding
        decoding = TextDecoding(encoding: encoding.flatMap { TextEncoding($0) })
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// Makes a serializer with rules of one's own.
    ///
    /// - Parameters:
    ///   - decoding: How bytes become text.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public init(
        decoding: TextDecoding,
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        encoding = decoding.encoding?.stringEncoding
        self.decoding = decoding
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// The text.
    ///
    /// - Throws: ``AFError/ResponseSerializationFailureReason/textDecodingFailed(encoding:error:)`` with a
    ///   ``TextDecodingError`` when the bytes are not of the encoding or the charset is unknown, and what
    ///   ``ResponseSerializer/bytes(of:)`` throws. For the few encodings that only Foundation knows it is
    ///   ``AFError/ResponseSerializationFailureReason/stringSerializationFailed(encoding:)``.
    public func serialize(_ input: SerializationInput) throws -> String {
        guard let data = try bytes(of: input) else { return "" }
        guard let encoding, decoding.encoding == nil else { return try decoding.decode(data, of: input.head).text }
        guard let text = String(data: data, encoding: encoding) else {
            throw AFError.responseSerializationFailed(reason: .stringSerializationFailed(encoding: encoding))
        }
        return text
    }

    /// The text.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> String {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer where Self == StringResponseSerializer {
    /// Makes text.
    public static var string: StringResponseSerializer { StringResponseSerializer() }

    /// Makes text.
    public static func string(
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) -> StringResponseSerializer {
        StringResponseSerializer(
            dataPreprocessor: dataPreprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods)
    }

    /// Makes text, with rules of one's own.
    public static func string(decoding: TextDecoding) -> StringResponseSerializer {
        StringResponseSerializer(decoding: decoding)
    }
}
