public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Makes Foundation's JSON values of a response: dictionaries, arrays, strings, numbers, `NSNull`.
public final class JSONResponseSerializer: ResponseSerializer {
    /// Changes the bytes before they are serialized.
    public let dataPreprocessor: any DataPreprocessor
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>
    /// How JSON is read.
    public let options: JSONSerialization.ReadingOptions

    /// Makes a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - options: How JSON is read. The default allows fragments.
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

    /// The value; `NSNull` for an allowed empty body.
    ///
    /// - Throws: ``AFError/ResponseSerializationFailureReason/jsonSerializationFailed(error:)`` when the bytes are no
    ///   JSON, with an ``InvalidJSON`` that tells where, and what ``ResponseSerializer/bytes(of:)`` throws.
    public func serialize(_ input: SerializationInput) throws -> Any {
        guard let data = try bytes(of: input) else { return NSNull() }
        do {
            return try JSONText.object(with: data, options: options)
        } catch {
            throw AFError.responseSerializationFailed(reason: .jsonSerializationFailed(error: error))
        }
    }

    /// The value.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Any {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer where Self == JSONResponseSerializer {
    /// Makes Foundation's JSON values.
    public static var json: JSONResponseSerializer { JSONResponseSerializer() }
}

// MARK: - Requests

extension DataRequest {
    /// Adds a handler that gets the response as Foundation's JSON values.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - options: How JSON is read. The default allows fragments.
    ///   - completionHandler: Called once.
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

    /// The response as Foundation's JSON values, awaited.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether cancelling the waiting task cancels the request. The default is true.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - options: How JSON is read. The default allows fragments.
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
    /// Adds a handler that gets the file as Foundation's JSON values.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - options: How JSON is read. The default allows fragments.
    ///   - completionHandler: Called once.
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

    /// The file as Foundation's JSON values, awaited.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether cancelling the waiting task cancels the request. The default is true.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - options: How JSON is read. The default allows fragments.
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

// MARK: - Values across tasks

/// Lets Foundation's freshly made values cross from the request's task to the one that waits. Nobody else has them, so
/// that is safe, though their static type, `Any`, cannot say so.
struct SendableSerializer<Base: DataResponseSerializerProtocol>: DataResponseSerializerProtocol,
    DownloadResponseSerializerProtocol
where Base.SerializedObject == Any {
    let base: Base

    init(_ base: Base) { self.base = base }

    func serialize(_ input: SerializationInput) throws -> any Sendable {
        // Sendable is a marker: `Any` and `any Sendable` are laid out alike.
        unsafeBitCast(try base.serialize(input), to: (any Sendable).self)
    }

    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> any Sendable {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}
