public import Afar

/// The response to a request without a serializer.
public typealias DefaultDataResponse = AFDataResponse<Data?>

extension DataResponse where Success == Data?, Failure == AFError {
    /// Creates a response from its parts.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - data: The response's bytes.
    ///   - error: The error. An error that isn't an `AFError` is wrapped in `AFError.sessionTaskFailed`. If nil,
    ///     the result is the data.
    ///   - timeline: The timestamps of the request. The default is an empty timeline.
    ///   - metrics: The metrics. The default is nil.
    public init(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data?,
        error: (any Error)?,
        timeline: Timeline = Timeline(),
        metrics: TaskMetrics? = nil
    ) {
        self.init(
            request: request, response: response, data: data, metrics: metrics,
            serializationDuration: timeline.serializationDuration, timeline: timeline,
            result: error.map { .failure($0 as? AFError ?? .sessionTaskFailed(error: $0)) } ?? .success(data))
    }
}

extension DataResponse {
    /// Creates a response from its parts.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - data: The response's bytes.
    ///   - result: The value or the error.
    ///   - timeline: The timestamps of the request. The default is an empty timeline.
    public init(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data?,
        result: Result<Success, Failure>,
        timeline: Timeline = Timeline()
    ) {
        self.init(
            request: request, response: response, data: data, metrics: nil,
            serializationDuration: timeline.serializationDuration, timeline: timeline, result: result)
    }
}

/// The response to a download without a serializer.
public typealias DefaultDownloadResponse = AFDownloadResponse<URL?>

extension DownloadResponse where Success == URL?, Failure == AFError {
    /// Creates a response from its parts.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - temporaryURL: The location where the file was written.
    ///   - destinationURL: The location to which the file was moved.
    ///   - resumeData: The data to resume the download.
    ///   - error: The error. An error that isn't an `AFError` is wrapped in `AFError.sessionTaskFailed`. If nil,
    ///     the result is the location of the file.
    ///   - timeline: The timestamps of the request. The default is an empty timeline.
    ///   - metrics: The metrics. The default is nil.
    public init(
        request: URLRequest?,
        response: HTTPURLResponse?,
        temporaryURL: URL?,
        destinationURL: URL?,
        resumeData: Data?,
        error: (any Error)?,
        timeline: Timeline = Timeline(),
        metrics: TaskMetrics? = nil
    ) {
        self.init(
            request: request, response: response, fileURL: destinationURL ?? temporaryURL, temporaryURL: temporaryURL,
            destinationURL: destinationURL, resumeData: resumeData, metrics: metrics,
            serializationDuration: timeline.serializationDuration, timeline: timeline,
            result: error.map { .failure($0 as? AFError ?? .sessionTaskFailed(error: $0)) }
                ?? .success(destinationURL ?? temporaryURL))
    }
}

extension DownloadResponse {
    /// Creates a response from its parts. Its `fileURL` is `destinationURL` or, if `destinationURL` is nil,
    /// `temporaryURL`.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - temporaryURL: The location where the file was written.
    ///   - destinationURL: The location to which the file was moved.
    ///   - resumeData: The data to resume the download.
    ///   - result: The value or the error.
    ///   - timeline: The timestamps of the request. The default is an empty timeline.
    public init(
        request: URLRequest?,
        response: HTTPURLResponse?,
        temporaryURL: URL?,
        destinationURL: URL?,
        resumeData: Data?,
        result: Result<Success, Failure>,
        timeline: Timeline = Timeline()
    ) {
        self.init(
            request: request, response: response, fileURL: destinationURL ?? temporaryURL, temporaryURL: temporaryURL,
            destinationURL: destinationURL, resumeData: resumeData, metrics: nil,
            serializationDuration: timeline.serializationDuration, timeline: timeline, result: result)
    }
}

extension DataResponse {
    /// Calls `tryMap(_:)`.
    public func flatMap<NewSuccess>(
        _ transform: (Success) throws -> NewSuccess
    ) -> DataResponse<NewSuccess, any Error> {
        tryMap(transform)
    }

    /// Calls `tryMapError(_:)`.
    public func flatMapError<NewFailure: Error>(
        _ transform: (Failure) throws -> NewFailure
    ) -> DataResponse<Success, any Error> {
        tryMapError(transform)
    }
}

extension DownloadResponse {
    /// Calls `tryMap(_:)`.
    public func flatMap<NewSuccess>(
        _ transform: (Success) throws -> NewSuccess
    ) -> DownloadResponse<NewSuccess, any Error> {
        tryMap(transform)
    }

    /// Calls `tryMapError(_:)`.
    public func flatMapError<NewFailure: Error>(
        _ transform: (Failure) throws -> NewFailure
    ) -> DownloadResponse<Success, any Error> {
        tryMapError(transform)
    }
}

// These members are disfavored overloads, because many programs define their own.
extension Result {
    /// A Boolean value that indicates whether the result is a success.
    @_disfavoredOverload
    public var isSuccess: Bool {
        if case .success = self { true } else { false }
    }

    /// A Boolean value that indicates whether the result is a failure.
    @_disfavoredOverload
    public var isFailure: Bool { !isSuccess }

    /// The value of a success, or nil for a failure.
    @_disfavoredOverload
    public var value: Success? {
        if case .success(let value) = self { value } else { nil }
    }

    /// The error of a failure, or nil for a success.
    @_disfavoredOverload
    public var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
