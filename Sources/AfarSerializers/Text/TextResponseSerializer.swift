public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Makes text of a response, and tells which encoding it was in and why that one.
public final class TextResponseSerializer: ResponseSerializer {
    /// Changes the bytes before they are serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// How bytes become text.
    public let decoding: TextDecoding
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Makes a serializer.
    ///
    /// - Parameters:
    ///   - decoding: How bytes become text. The default is ``TextDecoding/automatic``.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public init(
        decoding: TextDecoding = .automatic,
        dataPreprocessor: any DataPreprocessor = TextResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = TextResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = TextResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.decoding = decoding
        self.dataPreprocessor = dataPreprocessor
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// The text.
    ///
    /// - Throws: ``AFError/ResponseSerializationFailureReason/textDecodingFailed(encoding:error:)`` with a
    ///   ``TextDecodingError``, and what ``ResponseSerializer/bytes(of:)`` throws.
    public func serialize(_ input: SerializationInput) throws -> DecodedText {
        try decoding.decode(bytes(of: input) ?? Data(), of: input.head)
    }

    /// The text.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> DecodedText {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer where Self == TextResponseSerializer {
    /// Decodes text, and reports its encoding.
    public static var text: TextResponseSerializer { TextResponseSerializer() }

    /// Decodes text, and reports its encoding.
    public static func text(decoding: TextDecoding) -> TextResponseSerializer {
        TextResponseSerializer(decoding: decoding)
    }
}
