public import AfarCore
public import AfarSerializers
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

// MARK: - Requests

extension DownloadRequest {
    /// Publishes what a serializer makes of the response.
    ///
    /// - Parameters:
    ///   - serializer: Makes the value.
    ///   - queue: Where subscribers are called. The default is the main queue.
    public func publishResponse<Serializer: DownloadResponseSerializerProtocol, T>(
        using serializer: Serializer, on queue: DispatchQueue = .main
    ) -> DownloadResponsePublisher<T> where Serializer.SerializedObject == T {
        DownloadResponsePublisher(self, queue: queue, serializer: serializer)
    }

    /// Publishes the response with the file's URL.
    ///
    /// - Parameter queue: Where subscribers are called. The default is the main queue.
    public func publishURL(queue: DispatchQueue = .main) -> DownloadResponsePublisher<URL> {
        publishResponse(using: URLResponseSerializer(), on: queue)
    }

    /// Publishes the response with its bytes.
    ///
    /// - Parameters:
    ///   - queue: Where subscribers are called. The default is the main queue.
    ///   - preprocessor: Changes the bytes first. The default leaves them.
    ///   - emptyResponseCodes: The statuses for which no bytes are no error. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods for which they are none. The default is HEAD.
    public func publishData(
        queue: DispatchQueue = .main,
        preprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) -> DownloadResponsePublisher<Data> {
        publishResponse(
            using: DataResponseSerializer(
                dataPreprocessor: preprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods), on: queue)
    }

    /// Publishes the response with its text.
    ///
    /// - Parameters:
    ///   - queue: Where subscribers are called. The default is the main queue.
    ///   - preprocessor: Changes the bytes first. The default leaves them.
    ///   - encoding: The text's encoding; nil for the one that the response names.
    ///   - emptyResponseCodes: The statuses for which no bytes are no error. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods for which they are none. The default is HEAD.
    public func publishString(
        queue: DispatchQueue = .main,
        preprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) -> DownloadResponsePublisher<String> {
        publishResponse(
            using: StringResponseSerializer(
                dataPreprocessor: preprocessor, encoding: encoding, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods), on: queue)
    }

    /// Publishes the response with a value decoded from it.
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - queue: Where subscribers are called. The default is the main queue.
    ///   - preprocessor: Changes the bytes first. The default leaves them.
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - emptyResponseCodes: The statuses for which no bytes are no error. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods for which they are none. The default is HEAD.
    public func publishDecodable<T: Decodable & Sendable>(
        type: T.Type = T.self,
        queue: DispatchQueue = .main,
        preprocessor: any DataPreprocessor = DecodableResponseSerializer<T>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<T>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<T>.defaultEmptyRequestMethods
    ) -> DownloadResponsePublisher<T> {
        publishResponse(
            using: DecodableResponseSerializer<T>(
                dataPreprocessor: preprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods), on: queue)
    }

    /// Publishes the response with the file's URL, nil where there is none.
    ///
    /// - Parameter queue: Where subscribers are called. The default is the main queue.
    public func publishUnserialized(queue: DispatchQueue = .main) -> DownloadResponsePublisher<URL?> {
        DownloadResponsePublisher(self, queue: queue)
    }
}
