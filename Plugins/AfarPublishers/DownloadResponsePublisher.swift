public import AfarCore
public import AfarSerializers
public import Foundation

#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif

/// A publisher that emits the response of a ``DownloadRequest`` and then finishes. It behaves like ``DataResponsePublisher``.
public struct DownloadResponsePublisher<Value: Sendable>: Publisher {
    /// A response with its result, request, head, file and metrics.
    public typealias Output = AFDownloadResponse<Value>
    /// The publisher never fails.
    public typealias Failure = Never

    private typealias Completion = @Sendable (AFDownloadResponse<Value>) -> Void

    private let request: DownloadRequest
    private let addHandler: (@escaping Completion) -> Void

    /// Creates a publisher for the serialized response.
    ///
    /// - Parameters:
    ///   - request: The request, which the first demand resumes.
    ///   - queue: The queue on which subscribers are called.
    ///   - serializer: The serializer that creates the value.
    public init<Serializer: DownloadResponseSerializerProtocol>(
        _ request: DownloadRequest, queue: DispatchQueue, serializer: Serializer
    ) where Serializer.SerializedObject == Value {
        self.request = request
        addHandler = { request.response(queue: queue, responseSerializer: serializer, completionHandler: $0) }
    }

    /// Creates a publisher for the response with the file's URL, if any.
    public init(_ request: DownloadRequest, queue: DispatchQueue) where Value == URL? {
        self.request = request
        addHandler = { request.response(queue: queue, completionHandler: $0) }
    }

    /// Returns a publisher for only the result.
    public func result() -> AnyPublisher<AFResult<Value>, Never> { map(\.result).eraseToAnyPublisher() }

    /// Returns a publisher for only the value. It fails with the request's error.
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

extension DownloadRequest {
    /// Returns a publisher for the serialized response.
    ///
    /// - Parameters:
    ///   - serializer: The serializer that creates the value.
    ///   - queue: The queue on which subscribers are called. The default is the main queue.
    public func publishResponse<Serializer: DownloadResponseSerializerProtocol, T>(
        using serializer: Serializer, on queue: DispatchQueue = .main
    ) -> DownloadResponsePublisher<T> where Serializer.SerializedObject == T {
        DownloadResponsePublisher(self, queue: queue, serializer: serializer)
    }

    /// Returns a publisher for the response with the file's URL.
    ///
    /// - Parameter queue: The queue on which subscribers are called. The default is the main queue.
    public func publishURL(queue: DispatchQueue = .main) -> DownloadResponsePublisher<URL> {
        publishResponse(using: URLResponseSerializer(), on: queue)
    }

    /// Returns a publisher for the response with its bytes.
    ///
    /// - Parameters:
    ///   - queue: The queue on which subscribers are called. The default is the main queue.
    ///   - preprocessor: The preprocessor that is applied to the file's bytes. The default returns them unchanged.
    ///   - emptyResponseCodes: The status codes for which an empty body is allowed. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods for which an empty body is allowed. The default is HEAD.
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

    /// Returns a publisher for the response with its text.
    ///
    /// - Parameters:
    ///   - queue: The queue on which subscribers are called. The default is the main queue.
    ///   - preprocessor: The preprocessor that is applied to the file's bytes. The default returns them unchanged.
    ///   - encoding: The text's encoding. The default is nil, which uses the response's encoding.
    ///   - emptyResponseCodes: The status codes for which an empty body is allowed. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods for which an empty body is allowed. The default is HEAD.
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

    /// Returns a publisher for the response with a decoded value.
    ///
    /// - Parameters:
    ///   - type: The value's type.
    ///   - queue: The queue on which subscribers are called. The default is the main queue.
    ///   - preprocessor: The preprocessor that is applied to the file's bytes. The default returns them unchanged.
    ///   - decoder: The decoder. The default is the session's decoder.
    ///   - emptyResponseCodes: The status codes for which an empty body is allowed. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods for which an empty body is allowed. The default is HEAD.
    public func publishDecodable<T: Decodable & Sendable>(
        type: T.Type = T.self,
        queue: DispatchQueue = .main,
        preprocessor: any DataPreprocessor = DecodableResponseSerializer<T>.defaultDataPreprocessor,
        decoder: any DataDecoder = SessionDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<T>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<T>.defaultEmptyRequestMethods
    ) -> DownloadResponsePublisher<T> {
        publishResponse(
            using: DecodableResponseSerializer<T>(
                dataPreprocessor: preprocessor, decoder: decoder, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods), on: queue)
    }

    /// Returns a publisher for the response with the file's URL, if any.
    ///
    /// - Parameter queue: The queue on which subscribers are called. The default is the main queue.
    public func publishUnserialized(queue: DispatchQueue = .main) -> DownloadResponsePublisher<URL?> {
        DownloadResponsePublisher(self, queue: queue)
    }
}
