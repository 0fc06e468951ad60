public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A data response whose failure is an ``AFError``.
public typealias AFDataResponse<Success> = DataResponse<Success, AFError>

/// What a ``DataRequest`` came to: the request sent, the response, its bytes, and the value made of them or the error.
public struct DataResponse<Success, Failure: Error> {
    /// The value, or what went wrong.
    public let result: Result<Success, Failure>
    private let details: ResponseDetails

    /// Makes a response by hand, for tests.
    public init(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data?,
        metrics: TaskMetrics?,
        serializationDuration: TimeInterval,
        result: Result<Success, Failure>
    ) {
        self.result = result
        details = ResponseDetails(
            request: request, origin: .given(response, metrics), data: data, timeline: Timeline(),
            serializationDuration: serializationDuration)
    }

    init(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data?,
        result: Result<Success, Failure>,
        timeline: Timeline,
        metrics: TaskMetrics?
    ) {
        self.result = result
        details = ResponseDetails(
            request: request, origin: .given(response, metrics), data: data, timeline: timeline,
            serializationDuration: timeline.serializationDuration)
    }

    init(_ result: Result<Success, Failure>, _ details: ResponseDetails) {
        self.result = result
        self.details = details
    }

    /// The request that was sent, as adapted.
    public var request: URLRequest? { details.request }
    /// The response's head.
    public var response: HTTPURLResponse? { details.origin.response }
    /// The response's bytes, after decoding.
    public var data: Data? { details.data }
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

extension DataResponse: Sendable where Success: Sendable {}

extension DataResponse: SettledResponse where Failure == AFError {
    func failing(with error: AFError) -> Self { Self(.failure(error), details) }
}

extension DataResponse {
    /// The same response with its value changed.
    public func map<NewSuccess>(_ transform: (Success) -> NewSuccess) -> DataResponse<NewSuccess, Failure> {
        DataResponse<NewSuccess, Failure>(result.map(transform), details)
    }

    /// The same response with its value changed by a function that may throw.
    public func tryMap<NewSuccess>(
        _ transform: (Success) throws -> NewSuccess
    ) -> DataResponse<NewSuccess, any Error> {
        DataResponse<NewSuccess, any Error>(
            result.mapError { $0 as any Error }.flatMap { value in Result { try transform(value) } }, details)
    }

    /// The same response with its error changed.
    public func mapError<NewFailure: Error>(
        _ transform: (Failure) -> NewFailure
    ) -> DataResponse<Success, NewFailure> {
        DataResponse<Success, NewFailure>(result.mapError(transform), details)
    }

    /// The same response with its error changed by a function that may throw.
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
    public var description: String { result.words }

    /// Request and response with headers and bodies, times and result, in several lines. Secrets in headers and URLs are
    /// hidden; bodies are shown up to a readable length, what is no text as a number of bytes.
    public var debugDescription: String {
        var report = Report(sensitiveHeaders: details.origin.sensitiveHeaders)
        report.add(request)
        report.add(response, body: data)
        report.add("Times", "\(timeline)")
        report.add("Result", result.words)
        return report.text
    }
}
