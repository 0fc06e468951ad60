public import AfarCore
public import Foundation

#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// Publishes the response of a ``DataRequest``, and finishes.
///
/// The first demand resumes the request, and cancelling the subscription cancels it. Each subscription adds a handler to the one
/// request; they all get its response. Failures are in the response, so this never fails; ``value()`` does.
public struct DataResponsePublisher<Value: Sendable>: Publisher {
    /// A response with its result, the request, the head and metrics.
    public typealias Output = AFDataResponse<Value>
    /// There is none.
    public typealias Failure = Never

    private typealias Completion = @Sendable (AFDataResponse<Value>) -> Void

    private let request: DataRequest
    private let addHandler: (@escaping Completion) -> Void

    /// Publishes what a serializer makes of the response.
    ///
    /// - Parameters:
    ///   - request: The request. It is resumed by the first demand.
    ///   - queue: Where subscribers are called.
    ///   - serializer: Makes the value.
    public init<Serializer: ResponseSerializer>(_ request: DataRequest, queue: DispatchQueue, serializer: Serializer)
    where Serializer.SerializedObject == Value {
        self.request = request
        addHandler = { request.response(queue: queue, responseSerializer: serializer, completionHandler: $0) }
    }

    /// Publishes the response with its bytes as they are, nil where there are none.
    public init(_ request: DataRequest, queue: DispatchQueue) where Value == Data? {
        self.request = request
        addHandler = { request.response(queue: queue, completionHandler: $0) }
    }

    /// The result alone.
    public func result() -> AnyPublisher<AFResult<Value>, Never> { map(\.result).eraseToAnyPublisher() }

    /// The value alone; the request's error is the publisher's.
    public func value() -> AnyPublisher<Value, AFError> { result().unwrapped() }

    /// Adds a subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
        subscriber.receive(
            subscription: RequestSubscription(subscriber, to: request) { [addHandler] subscription in
                addHandler { response in
                    subscription.deliver(response)
                    subscription.finish()
                }
            })
    }
}
