public import AfarCore
import AfarSerializers
public import Foundation

#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// A publisher that emits the values of a ``DataStreamRequest`` and its completion, and then finishes.
///
/// The first demand resumes the request, and canceling the subscription cancels the request. The publisher ignores later
/// demand, so put a buffer between it and a slow subscriber.
public struct DataStreamPublisher<Value: Sendable>: Publisher {
    /// A value, or the completion.
    public typealias Output = DataStreamRequest.Stream<Value, AFError>
    /// The publisher never fails.
    public typealias Failure = Never

    private typealias Handler = DataStreamRequest.Handler<Value, AFError>

    private let request: DataStreamRequest
    private let addHandler: (@escaping Handler) -> Void

    /// Creates a publisher for the serialized chunks.
    ///
    /// - Parameters:
    ///   - request: The request, which the first demand resumes.
    ///   - queue: The queue on which subscribers are called.
    ///   - serializer: The serializer that creates the values.
    public init<Serializer: DataStreamSerializer>(
        _ request: DataStreamRequest, queue: DispatchQueue, serializer: Serializer
    ) where Serializer.SerializedObject == Value {
        self.request = request
        addHandler = { request.responseStream(using: serializer, on: queue, stream: $0) }
    }

    /// Returns a publisher for only the results. If an error ends the request, the error is the last result.
    public func result() -> AnyPublisher<Result<Value, AFError>, Never> {
        compactMap { stream in
            switch stream.event {
            case .stream(let result): result
            case .complete(let completion): completion.error.map(Result.failure)
            }
        }.eraseToAnyPublisher()
    }

    /// Returns a publisher for only the values. It fails with the first error.
    public func value() -> AnyPublisher<Value, AFError> { result().unwrapped() }

    /// Adds a subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
        subscriber.receive(
            subscription: RequestSubscription(subscriber, to: request) { [addHandler] subscription in
                addHandler { stream in
                    subscription.deliver(stream)
                    if case .complete = stream.event { subscription.finish() }
                }
            })
    }
}

extension DataStreamRequest {
    /// Returns a publisher for the serialized chunks.
    ///
    /// - Parameters:
    ///   - serializer: The serializer that creates the values.
    ///   - queue: The queue on which subscribers are called. The default is the main queue.
    public func publishStream<Serializer: DataStreamSerializer>(
        using serializer: Serializer, on queue: DispatchQueue = .main
    ) -> DataStreamPublisher<Serializer.SerializedObject> {
        DataStreamPublisher(self, queue: queue, serializer: serializer)
    }

    /// Returns a publisher for the bytes of each chunk.
    ///
    /// - Parameter queue: The queue on which subscribers are called. The default is the main queue.
    public func publishData(queue: DispatchQueue = .main) -> DataStreamPublisher<Data> {
        publishStream(using: PassthroughStreamSerializer(), on: queue)
    }

    /// Returns a publisher for each chunk as UTF-8 text.
    ///
    /// - Parameter queue: The queue on which subscribers are called. The default is the main queue.
    public func publishString(queue: DispatchQueue = .main) -> DataStreamPublisher<String> {
        publishStream(using: StringStreamSerializer(), on: queue)
    }

    /// Returns a publisher for a value decoded from each chunk.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - queue: The queue on which subscribers are called. The default is the main queue.
    ///   - decoder: The decoder. The default is the session's decoder.
    ///   - preprocessor: The preprocessor that is applied to each chunk. The default returns it unchanged.
    public func publishDecodable<T: Decodable & Sendable>(
        type: T.Type = T.self, queue: DispatchQueue = .main, decoder: any DataDecoder = SessionDecoder(),
        preprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) -> DataStreamPublisher<T> {
        publishStream(using: DecodableStreamSerializer(decoder: decoder, dataPreprocessor: preprocessor), on: queue)
    }
}
