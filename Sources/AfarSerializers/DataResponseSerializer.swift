public import AfarCore
public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Gives a response's bytes themselves.
public final class DataResponseSerializer: ResponseSerializer {
    /// Changes the bytes before they are handed on.
    public let dataPreprocessor: any DataPreprocessor
    /// The status codes whose responses may be empty.
    public let emptyResponseCodes: Set<Int>
    /// The methods whose responses may be empty.
    public let emptyRequestMethods: Set<HTTPMethod>

    /// Makes a serializer.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    public init(
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) {
        self.dataPreprocessor = dataPreprocessor
        self.emptyResponseCodes = emptyResponseCodes
        self.emptyRequestMethods = emptyRequestMethods
    }

    /// The bytes. An allowed empty body gives empty data.
    ///
    /// - Throws: What ``ResponseSerializer/bytes(of:)`` throws.
    public func serialize(_ input: SerializationInput) throws -> Data { try bytes(of: input) ?? Data() }

    /// The bytes. An allowed empty body gives empty data.
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
    /// Gives the bytes themselves.
    public static var data: DataResponseSerializer { DataResponseSerializer() }

    /// Gives the bytes themselves.
    ///
    /// - Parameters:
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
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

// MARK: - Requests

extension DataRequest {
    /// Adds a handler that gets the response's bytes.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - completionHandler: Called once.
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

    /// The response's bytes, awaited.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether cancelling the waiting task cancels the request. The default is true.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
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
    /// Adds a handler that gets the file's bytes.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default, and nil, mean the main queue.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
    ///   - completionHandler: Called once.
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

    /// The file's bytes, awaited.
    ///
    /// The whole file is read into memory.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether cancelling the waiting task cancels the request. The default is true.
    ///   - dataPreprocessor: Changes the bytes before.
    ///   - emptyResponseCodes: The status codes whose responses may be empty. The default is 204 and 205.
    ///   - emptyRequestMethods: The methods whose responses may be empty. The default is HEAD.
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
