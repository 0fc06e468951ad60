public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A download response whose failure is an ``AFError``.
public typealias AFDownloadResponse<Success> = DownloadResponse<Success, AFError>

/// The result of a ``DownloadRequest``: the request that was sent, the response, the location of its file, and the serialized
/// value or the error.
public struct DownloadResponse<Success, Failure: Error> {
    /// The location of the file, or nil without a file.
    public let fileURL: URL?
    /// The location where the body was written before the file was moved.
    public let temporaryURL: URL?
    /// The location to which the file was moved, or nil without a destination.
    public let destinationURL: URL?
    /// The data to resume the download. See ``DownloadRequest/resumeData``.
    public let resumeData: Data?
    /// The value or the error.
    public let result: Result<Success, Failure>
    private let details: ResponseDetails

    /// Creates a response from its parts, for use in tests.
    public init(
        request: URLRequest?,
        response: HTTPURLResponse?,
        fileURL: URL?,
        resumeData: Data?,
        metrics: TaskMetrics?,
        serializationDuration: TimeInterval,
        result: Result<Success, Failure>
    ) {
        self.fileURL = fileURL
        self.resumeData = resumeData
        (temporaryURL, destinationURL) = (nil, nil)
        self.result = result
        details = ResponseDetails(
            request: request, origin: .provided(response, metrics), timeline: Timeline(),
            serializationDuration: serializationDuration)
    }

    init(
        request: URLRequest?,
        response: HTTPURLResponse?,
        temporaryURL: URL?,
        destinationURL: URL?,
        resumeData: Data?,
        result: Result<Success, Failure>,
        timeline: Timeline,
        metrics: TaskMetrics?
    ) {
        fileURL = destinationURL ?? temporaryURL
        self.temporaryURL = temporaryURL
        self.destinationURL = destinationURL
        self.resumeData = resumeData
        self.result = result
        details = ResponseDetails(
            request: request, origin: .provided(response, metrics), timeline: timeline,
            serializationDuration: timeline.serializationDuration)
    }

    init(_ result: Result<Success, Failure>, _ details: ResponseDetails, of files: DownloadFiles) {
        self.result = result
        self.details = details
        fileURL = files.fileURL
        temporaryURL = files.temporaryURL
        destinationURL = files.destinationURL
        resumeData = files.resumeData
    }

    private init<OldSuccess, OldFailure>(
        _ other: DownloadResponse<OldSuccess, OldFailure>, result: Result<Success, Failure>
    ) {
        fileURL = other.fileURL
        temporaryURL = other.temporaryURL
        destinationURL = other.destinationURL
        resumeData = other.resumeData
        self.result = result
        details = other.details
    }

    /// The request that was sent, after adaptation.
    public var request: URLRequest? { details.request }
    /// The response's head.
    public var response: HTTPURLResponse? { details.origin.response }
    /// The metrics of the last attempt.
    public var metrics: TaskMetrics? { details.origin.metrics }
    /// The timestamps of the request.
    public var timeline: Timeline { details.timeline }
    /// The duration of serialization, in seconds.
    public var serializationDuration: TimeInterval { details.serializationDuration }
    /// The value, or nil if the request failed.
    public var value: Success? { result.value }
    /// The error, or nil if the request succeeded.
    public var error: Failure? { result.error }
}

extension DownloadResponse: Sendable where Success: Sendable {}

extension DownloadResponse: SettledResponse where Failure == AFError {
    func failing(with error: AFError) -> Self { Self(self, result: .failure(error)) }
}

extension DownloadResponse {
    /// Returns the response with its value transformed.
    public func map<NewSuccess>(_ transform: (Success) -> NewSuccess) -> DownloadResponse<NewSuccess, Failure> {
        DownloadResponse<NewSuccess, Failure>(self, result: result.map(transform))
    }

    /// Returns the response with its value transformed by a closure that can throw.
    public func tryMap<NewSuccess>(
        _ transform: (Success) throws -> NewSuccess
    ) -> DownloadResponse<NewSuccess, any Error> {
        DownloadResponse<NewSuccess, any Error>(
            self, result: result.mapError { $0 as any Error }.flatMap { value in Result { try transform(value) } })
    }

    /// Returns the response with its error transformed.
    public func mapError<NewFailure: Error>(
        _ transform: (Failure) -> NewFailure
    ) -> DownloadResponse<Success, NewFailure> {
        DownloadResponse<Success, NewFailure>(self, result: result.mapError(transform))
    }

    /// Returns the response with its error transformed by a closure that can throw.
    public func tryMapError<NewFailure: Error>(
        _ transform: (Failure) throws -> NewFailure
    ) -> DownloadResponse<Success, any Error> {
        DownloadResponse<Success, any Error>(
            self,
            result: result.mapError { error in
                do { return try transform(error) } catch { return error }
            })
    }
}

extension DownloadResponse: CustomStringConvertible, CustomDebugStringConvertible {
    /// The result.
    public var description: String { result.logDescription }

    /// A description of the request and the response on several lines, with their headers, the locations of the file, the size
    /// of the resume data, the timestamps and the result. Secrets in headers and URLs are redacted.
    public var debugDescription: String {
        var report = Report(sensitiveHeaders: details.origin.sensitiveHeaders)
        report.add(request)
        report.add(response)
        report.add("File", fileURL?.path ?? "none")
        report.add("Temporary file", temporaryURL?.path ?? "none")
        report.add("Destination", destinationURL?.path ?? "none")
        report.add("Resume data", resumeData.map { Quantity.bytes(Int64($0.count)) } ?? "none")
        report.add("Times", "\(timeline)")
        report.add("Result", result.logDescription)
        return report.text
    }
}

// MARK: - As in Alamofire 4

/// The name in Alamofire 4 for the response to a download without a serializer.
public typealias DefaultDownloadResponse = AFDownloadResponse<URL?>

extension DownloadResponse where Success == URL?, Failure == AFError {
    /// Creates a response from its parts, as in Alamofire 4.
    ///
    /// - Parameters:
    ///   - request: The request that was sent.
    ///   - response: The response's head.
    ///   - temporaryURL: The location where the file was written.
    ///   - destinationURL: The location to which the file was moved.
    ///   - resumeData: The data to resume the download.
    ///   - error: The error. An error that isn't an ``AFError`` is wrapped in ``AFError/sessionTaskFailed(error:)``. If nil,
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
            request: request, response: response, temporaryURL: temporaryURL, destinationURL: destinationURL,
            resumeData: resumeData,
            result: error.map { .failure($0.asAFError(or: .sessionTaskFailed(error: $0))) }
                ?? .success(destinationURL ?? temporaryURL),
            timeline: timeline, metrics: metrics)
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
            request: request, response: response, temporaryURL: temporaryURL, destinationURL: destinationURL,
            resumeData: resumeData, result: result, timeline: timeline, metrics: nil)
    }
}
