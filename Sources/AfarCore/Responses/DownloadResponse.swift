public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A download response whose failure is an ``AFError``.
public typealias AFDownloadResponse<Success> = DownloadResponse<Success, AFError>

/// The result of a ``DownloadRequest``: the request that was sent, the response, the location of its file, and the serialized
/// value or the error.
public struct DownloadResponse<Success, Failure: Error> {
    /// The location of the file, or nil if there is no file.
    public let fileURL: URL?
    /// The location where the body was written before the file was moved.
    public let temporaryURL: URL?
    /// The location to which the file was moved, or nil if there was no destination.
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
        temporaryURL: URL? = nil,
        destinationURL: URL? = nil,
        resumeData: Data?,
        metrics: TaskMetrics?,
        serializationDuration: TimeInterval,
        timeline: Timeline = Timeline(),
        result: Result<Success, Failure>
    ) {
        self.fileURL = fileURL
        self.temporaryURL = temporaryURL
        self.destinationURL = destinationURL
        self.resumeData = resumeData
        self.result = result
        details = ResponseDetails(
            request: request, origin: .provided(response, metrics), timeline: timeline,
            serializationDuration: serializationDuration)
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
    /// The trailer fields, which the server sent after the response's body (RFC 9110, section 6.5). `URLSessionTransport` doesn't report them.
    public var trailers: HTTPHeaders { details.origin.trailers }
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

    /// A description of the request and the response on several lines. It includes their headers, the locations of the file, the
    /// size of the resume data, the timestamps and the result. Secrets in headers and URLs are redacted.
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
