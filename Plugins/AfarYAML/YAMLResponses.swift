public import AfarCore
import AfarSerializers
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Decodes a value from a YAML response (`application/yaml`, RFC 9512).
public final class YAMLResponseSerializer<T: Decodable>: ResponseSerializer {
    /// Changes the bytes before they are serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// What a document may cost.
    public let limits: YAMLLimits
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Makes a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - limits: What a document may cost.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public init(
        dataPreprocessor: any DataPreprocessor = YAMLResponseSerializer.defaultDataPreprocessor,
        limits: YAMLLimits = YAMLLimits(),
        emptyResponseCodes: Set<Int> = YAMLResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = YAMLResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.limits = limits
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// The value. An allowed empty body is `T`'s empty value, if `T` is an ``AfarCore/EmptyResponse``.
    ///
    /// - Throws: ``AfarCore/AFError/ResponseSerializationFailureReason/decodingFailed(error:)`` with a
    ///   ``YAMLLimitExceeded`` or a `DecodingError`, and what a `DecodableResponseSerializer` throws.
    public func serialize(_ input: SerializationInput) throws -> T {
        try DecodableResponseSerializer<T>(
            dataPreprocessor: dataPreprocessor, decoder: YAMLDataDecoder(limits: limits),
            emptyResponseCodes: emptyResponseCodes, emptyRequestMethods: emptyRequestMethods
        ).serialize(input)
    }

    /// The value.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> T {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer {
    /// Decodes a value from YAML.
    public static func yaml<T: Decodable>(
        of type: T.Type,
        dataPreprocessor: any DataPreprocessor = YAMLResponseSerializer<T>.defaultDataPreprocessor,
        limits: YAMLLimits = YAMLLimits(),
        emptyResponseCodes: Set<Int> = YAMLResponseSerializer<T>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = YAMLResponseSerializer<T>.defaultEmptyRequestMethods
    ) -> YAMLResponseSerializer<T> where Self == YAMLResponseSerializer<T> {
        YAMLResponseSerializer(
            dataPreprocessor: dataPreprocessor, limits: limits, emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods)
    }
}
