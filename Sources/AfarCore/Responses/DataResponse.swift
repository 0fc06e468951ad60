public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A data response whose failure is an ``AFError``.
public typealias AFDataResponse<Success> = DataResponse<Success, AFError>

/// The result of a ``DataRequest``: the request that was sent, the response, its bytes, and the serialized value or the error.
public struct DataResponse<Success, Failure: Error> {
    /// The value or the error.
    public let result: Result<Success, Failure>
    private let details: ResponseDetails

    /// Creates a response from its parts, for use in tests.
    public init(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data?,
        metrics: TaskMetrics?,
        serializationDuration: TimeInterval,
        timeline: Timeline = Timeline(),
        result: Result<Success, Failure>
    ) {
        self.result = result
        details = ResponseDetails(
            request: request, origin: .provided(response, metrics), data: data, timeline: timeline,
            serializationDuration: serializationDuration)
    }

    @inline(__always)
    init(_ result: Result<Success, Failure>, _ details: ResponseDetails) {
        self.result = result
        self.details = details
    }

    /// The request that was sent, after adaptation.
    public var request: URLRequest? { details.request }
    /// The response's head.
    public var response: HTTPURLResponse? { details.origin.response }
    /// The trailer fields, which the server sent after the response's body (RFC 9110, section 6.5). `URLSessionTransport` doesn't
    /// report them.
    public var trailers: HTTPHeaders { details.origin.trailers }
    /// The response's bytes, after decoding.
    public var data: Data? { details.data }
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

extension DataResponse: Sendable where Success: Sendable {}

extension DataResponse: SettledResponse where Failure == AFError {
    func failing(with error: AFError) -> Self { Self(.failure(error), details) }
}

extension DataResponse {
    /// Returns the response with its value transformed.
    public func map<NewSuccess>(_ transform: (Success) -> NewSuccess) -> DataResponse<NewSuccess, Failure> {
        DataResponse<NewSuccess, Failure>(result.map(transform), details)
    }

    /// Returns the response with its value transformed by a closure that can throw.
    public func tryMap<NewSuccess>(
        _ transform: (Success) throws -> NewSuccess
    ) -> DataResponse<NewSuccess, any Error> {
        DataResponse<NewSuccess, any Error>(
            result.mapError { $0 as any Error }.flatMap { value in Result { try transform(value) } }, details)
    }

    /// Returns the response with its error transformed.
    public func mapError<NewFailure: Error>(
        _ transform: (Failure) -> NewFailure
    ) -> DataResponse<Success, NewFailure> {
        DataResponse<Success, NewFailure>(result.mapError(transform), details)
    }

    /// Returns the response with its error transformed by a closure that can throw.
    public func tryMapError<NewFailure: Error>(
        _ transform: (Failure) throws -> NewFailure
    ) -> DataResponse<Success, any Error> {
        DataResponse<Success, any Error>(
            result.mapError { error in
                do { return try transform(error) } catch { return error }
            }, details)
    }
}

extension DataResponse: CustomStringConvertible, CustomDebugStringConvertible {
    /// The result.
    public var description: String { result.logDescription }

    /// A description of the request and the response on several lines. It includes their headers and bodies, the timestamps and
    /// the result. Secrets in headers and URLs are redacted. Bodies are truncated to a readable length; binary bodies are
    /// described by their size.
    public var debugDescription: String {
        var report = Report(sensitiveHeaders: details.origin.sensitiveHeaders)
        report.add(request)
        report.add(response, body: data)
        report.add("Times", "\(timeline)")
        report.add("Result", result.logDescription)
        return report.text
    }
}

/// The properties of a response other than its value. All copies of a response share one object.
final class ResponseDetails: Sendable {
    let request: URLRequest?
    let origin: ResponseOrigin
    let data: Data?
    let timeline: Timeline
    /// The duration of serialization, in seconds.
    let serializationDuration: TimeInterval

    init(
        request: URLRequest?, origin: ResponseOrigin, data: Data? = nil, timeline: Timeline,
        serializationDuration: TimeInterval
    ) {
        self.request = request
        self.origin = origin
        self.data = data
        self.timeline = timeline
        self.serializationDuration = serializationDuration
    }
}

/// The source of a response's head and metrics. The Foundation objects are created on access.
enum ResponseOrigin: Sendable {
    case network(ResponseHead?, AttemptReport?, sensitiveHeaders: Set<String>)
    case provided(HTTPURLResponse?, TaskMetrics?)

    var response: HTTPURLResponse? {
        switch self {
        case .network(let head, _, _): head?.httpURLResponse
        case .provided(let response, _): response
        }
    }

    var trailers: HTTPHeaders {
        if case .network(_, let attempt?, _) = self { attempt.trailers } else { HTTPHeaders() }
    }

    var sensitiveHeaders: Set<String> {
        if case .network(_, _, let names) = self { names } else { [] }
    }

    var metrics: TaskMetrics? {
        switch self {
        case .network(_, let attempt, _): attempt?.metrics
        case .provided(_, let metrics): metrics
        }
    }
}

/// A response whose error is an `AFError` and can be replaced.
protocol SettledResponse: SendableMetatype {
    var error: AFError? { get }
    func failing(with error: AFError) -> Self
}

extension Result {
    /// Swift's description of the result. Control characters for terminals are escaped in values, and secrets are redacted in
    /// errors.
    var logDescription: String {
        switch self {
        case .success: TerminalText.safe("\(self)")
        case .failure: Redaction.standard.line("\(self)")
        }
    }
}
