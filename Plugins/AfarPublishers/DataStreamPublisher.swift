public import AfarCore
import AfarSerializers
public import Foundation

#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// Publishes what a ``DataStreamRequest`` brings, its completion last, and finishes.
///
/// The first demand resumes the request, and cancelling the subscription cancels it. Demand beyond the first holds nothing back:
/// who cannot keep up puts a buffer between.
public struct DataStreamPublisher<Value: Sendable>: Publisher {
    /// A value, or the completion.
    public typealias Output = DataStreamRequest.Stream<Value, AFError>
    /// There is none.
    public typealias Failure = Never

    private typealias Handler = DataStreamRequest.Handler<Value, AFError>

    private let request: DataStreamRequest
    private let addHandler: (@escaping Handler) -> Void

    /// Publishes what a serializer makes of each piece.
    ///
    /// - Parameters:
    ///   - request: The request. It is resumed by the first demand.
    ///   - queue: Where subscribers are called.
    ///   - serializer: Makes the values.
    public init<Serializer: DataStreamSerializer>(
        _ request: DataStreamRequest, queue: DispatchQueue, serializer: Serializer
    ) where Serializer.SerializedObject == Value {
        self.request = request
        addHandler = { request.responseStream(using: serializer, on: queue, stream: $0) }
    }

    /// The results alone; an error that ended the request is the last.
    public func result() -> AnyPublisher<Result<Value, AFError>, Never> {
        compactMap { stream in
            switch stream.event {
            case .stream(let result): result
            case .complete(let completion): completion.error.map(Result.failure)
            }
        }.eraseToAnyPublisher()
    }

    /// The values alone; the first error is the publisher's.
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

// MARK: - Requests

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
