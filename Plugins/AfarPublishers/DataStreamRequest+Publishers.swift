public import AfarCore
import AfarSerializers
public import Foundation

extension DataStreamRequest {
    /// Publishes what a serializer makes of each piece.
    ///
    /// - Parameters:
    ///   - serializer: Makes the values.
    ///   - queue: Where subscribers are called. The default is the main queue.
    public func publishStream<Serializer: DataStreamSerializer>(
        using serializer: Serializer, on queue: DispatchQueue = .main
    ) -> DataStreamPublisher<Serializer.SerializedObject> {
        DataStreamPublisher(self, queue: queue, serializer: serializer)
    }

    /// Publishes the bytes as they come.
    ///
    /// - Parameter queue: Where subscribers are called. The default is the main queue.
    public func publishData(queue: DispatchQueue = .main) -> DataStreamPublisher<Data> {
        publishStream(using: PassthroughStreamSerializer(), on: queue)
    }

    /// Publishes each piece as text in UTF-8.
    ///
    /// - Parameter queue: Where subscribers are called. The default is the main queue.
    public func publishString(queue: DispatchQueue = .main) -> DataStreamPublisher<String> {
        publishStream(using: StringStreamSerializer(), on: queue)
    }

    /// Publishes a value decoded from each piece.
    ///
    /// - Parameters:
    ///   - type: The values' type.
    ///   - queue: Where subscribers are called. The default is the main queue.
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - preprocessor: Changes the bytes first. The default leaves them.
    public func publishDecodable<T: Decodable & Sendable>(
        type: T.Type = T.self, queue: DispatchQueue = .main, decoder: any DataDecoder = JSONDecoder(),
        preprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) -> DataStreamPublisher<T> {
        publishStream(using: DecodableStreamSerializer(decoder: decoder, dataPreprocessor: preprocessor), on: queue)
    }
}
