public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A serializer that returns Foundation's JSON values: dictionaries, arrays, strings, numbers and `NSNull`.
public final class JSONResponseSerializer: ResponseSerializer {
    /// The preprocessor to apply to the body before serialization.
    public let dataPreprocessor: any DataPreprocessor
    /// The status codes that allow an empty body.
    public let emptyResponseCodes: Set<Int>
    /// The request methods that allow an empty response body.
    public let emptyRequestMethods: Set<HTTPMethod>
    /// The options for reading JSON.
    public let options: JSONSerialization.ReadingOptions

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    ///   - options: The options for reading JSON. The default allows fragments.
    public init(
        dataPreprocessor: any DataPreprocessor = JSONResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = JSONResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = JSONResponseSerializer.defaultEmptyRequestMethods,
        options: JSONSerialization.ReadingOptions = .fragmentsAllowed
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
        self.options = options
    }

    /// Returns the JSON value, or `NSNull` for an allowed empty body.
    ///
    /// - Throws: ``AFError/ResponseSerializationFailureReason/jsonSerializationFailed(error:)`` with an ``InvalidJSON``
    ///   if the body isn't valid JSON, or the errors of ``ResponseSerializer/bytes(of:)``.
    public func serialize(_ input: SerializationInput) throws -> Any {
        guard let data = try bytes(of: input) else { return NSNull() }
        do {
            return try JSONText.object(with: data, options: options)
        } catch {
            throw AFError.responseSerializationFailed(reason: .jsonSerializationFailed(error: error))
        }
    }

    /// Returns the JSON value.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Any {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer where Self == JSONResponseSerializer {
    /// A serializer that returns Foundation's JSON values.
    public static var json: JSONResponseSerializer { JSONResponseSerializer() }
}

extension DataRequest {
    /// Adds a handler that receives the response as Foundation's JSON values.
    ///
    /// - Parameters:
    ///   - queue: The queue on which to call the handler. The default and `nil` mean the main queue.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    ///   - options: The options for reading JSON. The default allows fragments.
    ///   - completionHandler: The handler to call once with the result.
    @preconcurrency
    @discardableResult
    public func responseJSON(
        queue: DispatchQueue? = .main,
        dataPreprocessor: any DataPreprocessor = JSONResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = JSONResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = JSONResponseSerializer.defaultEmptyRequestMethods,
        options: JSONSerialization.ReadingOptions = .fragmentsAllowed,
        completionHandler: @escaping @Sendable (AFDataResponse<Any>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: JSONResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods, options: options),
            completionHandler: completionHandler)
    }

    /// Returns a task that serializes the response as Foundation's JSON values.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether canceling the waiting task cancels the request. The default is `true`.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    ///   - options: The options for reading JSON. The default allows fragments.
    public func serializingJSON(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = JSONResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = JSONResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = JSONResponseSerializer.defaultEmptyRequestMethods,
        options: JSONSerialization.ReadingOptions = .fragmentsAllowed
    ) -> DataTask<any Sendable> {
        serializingResponse(
            using: SendableSerializer(
                JSONResponseSerializer(
                    dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                    emptyRequestMethods: emptyRequestMethods, options: options)),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }
}

extension DownloadRequest {
    /// Adds a handler that receives the file's contents as Foundation's JSON values.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - queue: The queue on which to call the handler. The default and `nil` mean the main queue.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    ///   - options: The options for reading JSON. The default allows fragments.
    ///   - completionHandler: The handler to call once with the result.
    @preconcurrency
    @discardableResult
    public func responseJSON(
        queue: DispatchQueue? = .main,
        dataPreprocessor: any DataPreprocessor = JSONResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = JSONResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = JSONResponseSerializer.defaultEmptyRequestMethods,
        options: JSONSerialization.ReadingOptions = .fragmentsAllowed,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Any>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: JSONResponseSerializer(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods, options: options),
            completionHandler: completionHandler)
    }

    /// Returns a task that serializes the file's contents as Foundation's JSON values.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether canceling the waiting task cancels the request. The default is `true`.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    ///   - options: The options for reading JSON. The default allows fragments.
    public func serializingJSON(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = JSONResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = JSONResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = JSONResponseSerializer.defaultEmptyRequestMethods,
        options: JSONSerialization.ReadingOptions = .fragmentsAllowed
    ) -> DownloadTask<any Sendable> {
        serializingDownload(
            using: SendableSerializer(
                JSONResponseSerializer(
                    dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                    emptyRequestMethods: emptyRequestMethods, options: options)),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }
}

/// Transfers newly created Foundation values from the request's task to the waiting task. This is safe because no other
/// code has a reference to the values. Their static type, `Any`, doesn't express that.
struct SendableSerializer<Base: DataResponseSerializerProtocol>: DataResponseSerializerProtocol,
    DownloadResponseSerializerProtocol
where Base.SerializedObject == Any {
    let base: Base

    init(_ base: Base) { self.base = base }

    func serialize(_ input: SerializationInput) throws -> any Sendable {
        // Sendable is a marker protocol, so the layouts are equal.
        unsafeBitCast(try base.serialize(input), to: (any Sendable).self)
    }

    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> any Sendable {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}
