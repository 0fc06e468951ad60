public import AfarCore
public import Foundation

#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// Publishes the response of a ``DownloadRequest``, and finishes. It behaves as ``DataResponsePublisher``.
public struct DownloadResponsePublisher<Value: Sendable>: Publisher {
    /// A response with its result, the request, the head, the file and metrics.
    public typealias Output = AFDownloadResponse<Value>
    /// There is none.
    public typealias Failure = Never

    private typealias Completion = @Sendable (AFDownloadResponse<Value>) -> Void

    private let request: DownloadRequest
    private let addHandler: (@escaping Completion) -> Void

    /// Publishes what a serializer makes of the file.
    ///
    /// - Parameters:
    ///   - request: The request. It is resumed by the first demand.
    ///   - queue: Where subscribers are called.
    ///   - serializer: Makes the value.
    public init<Serializer: DownloadResponseSerializerProtocol>(
        _ request: DownloadRequest, queue: DispatchQueue, serializer: Serializer
    ) where Serializer.SerializedObject == Value {
        self.request = request
        addHandler = { request.response(queue: queue, responseSerializer: serializer, completionHandler: $0) }
    }

    /// Publishes the response with the file's URL, nil where there is none.
    public init(_ request: DownloadRequest, queue: DispatchQueue) where Value == URL? {
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
