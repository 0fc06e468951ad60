public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// The name in Alamofire 4 for the response to a request without a serializer.
public typealias DefaultDataResponse = AFDataResponse<Data?>

/// The name in Alamofire 4 for the response to a download without a serializer.
public typealias DefaultDownloadResponse = AFDownloadResponse<URL?>

extension DataResponse where Success == Data?, Failure == AFError {
    /// Creates a response from its parts, as in Alamofire 4.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - data: The response's bytes.
    ///   - error: The error. An error that isn't an ``AFError`` is wrapped in ``AFError/sessionTaskFailed(error:)``. With nil,
    ///     the result is the data.
    ///   - timeline: The timestamps of the request. The default has none.
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
            request: request, response: response, data: data,
            result: error.map { .failure($0.asAFError(or: .sessionTaskFailed(error: $0))) } ?? .success(data),
            timeline: timeline, metrics: metrics)
    }
}

extension DownloadResponse where Success == URL?, Failure == AFError {
    /// Creates a response from its parts, as in Alamofire 4.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - temporaryURL: The location where the file was written.
    ///   - destinationURL: The location to which the file was moved.
    ///   - resumeData: The data to resume the download.
    ///   - error: The error. An error that isn't an ``AFError`` is wrapped in ``AFError/sessionTaskFailed(error:)``. With nil,
    ///     the result is the location of the file.
    ///   - timeline: The timestamps of the request. The default has none.
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
            request: request, response: response, temporaryURL: temporaryURL, destinationURL: destinationURL,
            resumeData: resumeData,
            result: error.map { .failure($0.asAFError(or: .sessionTaskFailed(error: $0))) }
                ?? .success(destinationURL ?? temporaryURL),
            timeline: timeline, metrics: metrics)
    }
}

extension DataResponse {
    /// Creates a response from its parts, as in Alamofire 4.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - data: The response's bytes.
    ///   - result: The value or the error.
    ///   - timeline: The timestamps of the request. The default has none.
    public init(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data?,
        result: Result<Success, Failure>,
        timeline: Timeline = Timeline()
    ) {
        self.init(
            request: request, response: response, data: data, result: result, timeline: timeline, metrics: nil)
    }
}

extension DownloadResponse {
    /// Creates a response from its parts, as in Alamofire 4. Its ``fileURL`` is `destinationURL`, or `temporaryURL` if that is
    /// nil.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - temporaryURL: The location where the file was written.
    ///   - destinationURL: The location to which the file was moved.
    ///   - resumeData: The data to resume the download.
    ///   - result: The value or the error.
    ///   - timeline: The timestamps of the request. The default has none.
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
            request: request, response: response, temporaryURL: temporaryURL, destinationURL: destinationURL,
            resumeData: resumeData, result: result, timeline: timeline, metrics: nil)
    }
}
