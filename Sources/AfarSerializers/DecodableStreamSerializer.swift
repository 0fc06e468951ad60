public import AfarCore
public import Foundation

/// Decodes a value from each chunk of a streamed response.
public struct DecodableStreamSerializer<T: Decodable & Sendable>: DataStreamSerializer {
    /// Decodes.
    public let decoder: any DataDecoder
    /// Changes each chunk before.
    public let dataPreprocessor: any DataPreprocessor

    /// Makes the serializer.
    ///
    /// - Parameters:
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - dataPreprocessor: Changes each chunk before.
    public init(
        decoder: any DataDecoder = JSONDecoder(),
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) {
        self.decoder = decoder
        self.dataPreprocessor = dataPreprocessor
    }

    /// The value.
    ///
    /// - Throws: ``AFError/ResponseSerializationFailureReason/decodingFailed(error:)``, or what the preprocessor throws.
    public func serialize(_ data: Data) throws -> T {
        let data = try dataPreprocessor.preprocess(data)
        do {
            return try decoder.decodeChecked(T.self, from: data, of: nil)
        } catch {
            throw AFError.responseSerializationFailed(reason: .decodingFailed(error: error))
        }
    }
}

extension DataStreamSerializer {
    /// Decodes a value from each chunk.
    public static func decodable<T: Decodable & Sendable>(
        of type: T.Type,
        decoder: any DataDecoder = JSONDecoder(),
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) -> Self where Self == DecodableStreamSerializer<T> {
        DecodableStreamSerializer(decoder: decoder, dataPreprocessor: dataPreprocessor)
    }
}
