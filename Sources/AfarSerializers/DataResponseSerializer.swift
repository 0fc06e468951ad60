public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A serializer that returns the bytes of a response.
public final class DataResponseSerializer: ResponseSerializer {
    /// The preprocessor to apply to the body before serialization.
    public let dataPreprocessor: any DataPreprocessor
    /// The status codes that allow an empty body.
    public let emptyResponseCodes: Set<Int>
    /// The request methods that allow an empty response body.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Creates a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    public init(
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// Returns the bytes of the response. For an allowed empty body, returns empty data.
    ///
    /// - Throws: The errors of ``ResponseSerializer/bytes(of:)``.
    public func serialize(_ input: SerializationInput) throws -> Data { try bytes(of: input) ?? Data() }

    /// Returns the bytes of the response. For an allowed empty body, returns empty data.
    ///
    /// - Throws: `error`, the preprocessor's error, or
    ///   ``AFError/ResponseSerializationFailureReason/inputDataNilOrZeroLength``.
    public func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> Data {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}

extension ResponseSerializer where Self == DataResponseSerializer {
    /// A serializer that returns the bytes of the response.
    public static var data: DataResponseSerializer { DataResponseSerializer() }

    /// Returns a serializer that returns the bytes of the response.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    public static func data(
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) -> DataResponseSerializer {
        DataResponseSerializer(
            dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods)
    }
}

extension DataRequest {
    /// Adds a handler for the response's bytes.
    ///
    /// - Parameters:
    ///   - queue: The queue on which to call the handler. The default and `nil` mean the main queue.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    ///   - completionHandler: The handler to call once with the result.
    @preconcurrency
    @discardableResult
    public func responseData(
        queue: DispatchQueue? = .main,
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDataResponse<Data>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: .data(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            completionHandler: completionHandler)
    }

    /// Returns a task that serializes the response's bytes.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether canceling the waiting task cancels the request. The default is `true`.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    public func serializingData(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) -> DataTask<Data> {
        serializingResponse(
            using: .data(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }
}

extension DownloadRequest {
    /// Adds a handler for the file's bytes.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - queue: The queue on which to call the handler. The default and `nil` mean the main queue.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    ///   - completionHandler: The handler to call once with the result.
    @preconcurrency
    @discardableResult
    public func responseData(
        queue: DispatchQueue? = .main,
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Data>) -> Void
    ) -> Self {
        response(
            queue: queue,
            responseSerializer: .data(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            completionHandler: completionHandler)
    }

    /// Returns a task that serializes the file's bytes.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether canceling the waiting task cancels the request. The default is `true`.
    ///   - dataPreprocessor: The preprocessor to apply to the body before serialization.
    ///   - emptyResponseCodes: The status codes that allow an empty body. The default is 204 and 205.
    ///   - emptyRequestMethods: The request methods that allow an empty response body. The default is HEAD.
    public func serializingData(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) -> DownloadTask<Data> {
        serializingDownload(
            using: .data(
                dataPreprocessor: dataPreprocessor, emptyResponseCodes: emptyResponseCodes,
                emptyRequestMethods: emptyRequestMethods),
            automaticallyCancelling: shouldAutomaticallyCancel)
    }
}
