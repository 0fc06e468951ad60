public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A download response whose failure is an ``AFError``.
public typealias AFDownloadResponse<Success> = DownloadResponse<Success, AFError>

/// What a ``DownloadRequest`` came to: the request sent, the response, the place of its file, and the value made of it or
/// the error.
public struct DownloadResponse<Success, Failure: Error> {
    /// Where the file is; nil when there is none.
    public let fileURL: URL?
    /// Where the bytes arrived before the file was moved.
    public let temporaryURL: URL?
    /// Where the file was moved to; nil without a destination.
    public let destinationURL: URL?
    /// What is needed to resume the download; see ``DownloadRequest/resumeData``.
    public let resumeData: Data?
    /// The value, or what went wrong.
    public let result: Result<Success, Failure>
    private let details: ResponseDetails

    /// Makes a response by hand, for tests.
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
            request: request, origin: .given(response, metrics), timeline: Timeline(),
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
            request: request, origin: .given(response, metrics), timeline: timeline,
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

    /// The request that was sent, as adapted.
    public var request: URLRequest? { details.request }
    /// The response's head.
    public var response: HTTPURLResponse? { details.origin.response }
    /// What was measured of the last attempt.
    public var metrics: TaskMetrics? { details.origin.metrics }
    /// The moments of the request's life.
    public var timeline: Timeline { details.timeline }
    /// How long serialization took, in seconds.
    public var serializationDuration: TimeInterval { details.serializationDuration }
    /// The value, if there is one.
    public var value: Success? { result.value }
    /// The error, if there is one.
    public var error: Failure? { result.error }
}

extension DownloadResponse: Sendable where Success: Sendable {}

extension DownloadResponse: SettledResponse where Failure == AFError {
    func failing(with error: AFError) -> Self { Self(self, result: .failure(error)) }
}

extension DownloadResponse {
    /// The same response with its value changed.
    public func map<NewSuccess>(_ transform: (Success) -> NewSuccess) -> DownloadResponse<NewSuccess, Failure> {
        DownloadResponse<NewSuccess, Failure>(self, result: result.map(transform))
    }

    /// The same response with its value changed by a function that may throw.
    public func tryMap<NewSuccess>(
        _ transform: (Success) throws -> NewSuccess
    ) -> DownloadResponse<NewSuccess, any Error> {
        DownloadResponse<NewSuccess, any Error>(
            self, result: result.mapError { $0 as any Error }.flatMap { value in Result { try transform(value) } })
    }

    /// The same response with its error changed.
    public func mapError<NewFailure: Error>(
        _ transform: (Failure) -> NewFailure
    ) -> DownloadResponse<Success, NewFailure> {
        DownloadResponse<Success, NewFailure>(self, result: result.mapError(transform))
    }

    /// The same response with its error changed by a function that may throw.
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
    public var description: String { result.words }

    /// Request and response with headers, the places of the file, the size of the resume data, times and result, in
    /// several lines. Secrets in headers and URLs are hidden.
    public var debugDescription: String {
        var report = Report(sensitiveHeaders: details.origin.sensitiveHeaders)
        report.add(request)
        report.add(response)
        report.add("File", fileURL?.path ?? "none")
        report.add("Temporary file", temporaryURL?.path ?? "none")
        report.add("Destination", destinationURL?.path ?? "none")
        report.add("Resume data", resumeData.map { Quantity.bytes(Int64($0.count)) } ?? "none")
        report.add("Times", "\(timeline)")
        report.add("Result", result.words)
        return report.text
    }
}
