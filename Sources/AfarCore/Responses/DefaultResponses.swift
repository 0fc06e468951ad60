public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// What the 4.x generation called the response to a request without a serializer.
public typealias DefaultDataResponse = AFDataResponse<Data?>

/// What the 4.x generation called the response to a download without a serializer.
public typealias DefaultDownloadResponse = AFDownloadResponse<URL?>

extension DataResponse where Success == Data?, Failure == AFError {
    /// Makes a response by hand, as the 4.x generation did.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - data: The response's bytes.
    ///   - error: What went wrong; an error that is no ``AFError`` is put into ``AFError/sessionTaskFailed(error:)``.
    ///     With nil, the result is the data.
    ///   - timeline: The moments of the request's life. The default is none.
    ///   - metrics: What was measured. The default is nothing.
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
    /// Makes a response by hand, as the 4.x generation did.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - temporaryURL: Where the file arrived.
    ///   - destinationURL: Where the file was moved to.
    ///   - resumeData: What a download that resumes this one needs.
    ///   - error: What went wrong; an error that is no ``AFError`` is put into ``AFError/sessionTaskFailed(error:)``.
    ///     With nil, the result is the place of the file.
    ///   - timeline: The moments of the request's life. The default is none.
    ///   - metrics: What was measured. The default is nothing.
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
    /// Makes a response by hand, as the 4.x generation did.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - data: The response's bytes.
    ///   - result: What came of it.
    ///   - timeline: The moments of the request's life. The default is none.
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
    /// Makes a response by hand, as the 4.x generation did. Its ``fileURL`` is where the file was moved to, or else where it
    /// arrived.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - temporaryURL: Where the file arrived.
    ///   - destinationURL: Where the file was moved to.
    ///   - resumeData: What a download that resumes this one needs.
    ///   - result: What came of it.
    ///   - timeline: The moments of the request's life. The default is none.
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
