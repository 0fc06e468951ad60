public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A data response whose failure is an ``AFError``.
public typealias AFDataResponse<Success> = DataResponse<Success, AFError>

/// What a ``DataRequest`` came to: the request sent, the response, its bytes, and the value made of them or the error.
public struct DataResponse<Success, Failure: Error> {
    /// The request that was sent, as adapted.
    public let request: URLRequest?
    /// The response's bytes, after decoding.
    public let data: Data?
    /// The moments of the request's life.
    public let timeline: Timeline
    /// How long serialization took, in seconds.
    public let serializationDuration: TimeInterval
    /// The value, or what went wrong.
    public let result: Result<Success, Failure>
    private let origin: ResponseOrigin

    /// Makes a response by hand, for tests.
    public init(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data?,
        metrics: TaskMetrics?,
        serializationDuration: TimeInterval,
        result: Result<Success, Failure>
    ) {
        self.request = request
        self.data = data
        self.serializationDuration = serializationDuration
        self.result = result
        timeline = Timeline()
        origin = .given(response, metrics)
    }

    init(
        request: URLRequest?,
        response: HTTPURLResponse?,
        data: Data?,
        result: Result<Success, Failure>,
        timeline: Timeline,
        metrics: TaskMetrics?
    ) {
        self.request = request
        self.data = data
        self.timeline = timeline
        self.result = result
        serializationDuration = timeline.serializationDuration
        origin = .given(response, metrics)
    }

    init(_ serialized: Serialized<Success>, data: Data?) where Failure == AFError {
        request = serialized.request
        self.data = data
        timeline = serialized.timeline
        serializationDuration = serialized.duration
        result = serialized.result
        origin = serialized.origin
    }

    private init<OldSuccess, OldFailure>(
        _ other: DataResponse<OldSuccess, OldFailure>, result: Result<Success, Failure>
    ) {
        request = other.request
        data = other.data
        timeline = other.timeline
        serializationDuration = other.serializationDuration
        self.result = result
        origin = other.origin
    }

    /// The response's head.
    public var response: HTTPURLResponse? { origin.response }
    /// What was measured of the last attempt.
    public var metrics: TaskMetrics? { origin.metrics }
    /// The value, if there is one.
    public var value: Success? { result.value }
    /// The error, if there is one.
    public var error: Failure? { result.error }
}

extension DataResponse: Sendable where Success: Sendable {}

extension DataResponse: SettledResponse where Failure == AFError {
    func failing(with error: AFError) -> Self { Self(self, result: .failure(error)) }
}

extension DataResponse {
    /// The same response with its value changed.
    public func map<NewSuccess>(_ transform: (Success) -> NewSuccess) -> DataResponse<NewSuccess, Failure> {
        DataResponse<NewSuccess, Failure>(self, result: result.map(transform))
    }

    /// The same response with its value changed by a function that may throw.
    public func tryMap<NewSuccess>(
        _ transform: (Success) throws -> NewSuccess
    ) -> DataResponse<NewSuccess, any Error> {
        DataResponse<NewSuccess, any Error>(
            self, result: result.mapError { $0 as any Error }.flatMap { value in Result { try transform(value) } })
    }

    /// The same response with its error changed.
    public func mapError<NewFailure: Error>(
        _ transform: (Failure) -> NewFailure
    ) -> DataResponse<Success, NewFailure> {
        DataResponse<Success, NewFailure>(self, result: result.mapError(transform))
    }

    /// The same response with its error changed by a function that may throw.
    public func tryMapError<NewFailure: Error>(
        _ transform: (Failure) throws -> NewFailure
    ) -> DataResponse<Success, any Error> {
        DataResponse<Success, any Error>(
            self,
            result: result.mapError { error in
                do { return try transform(error) } catch { return error }
            })
    }
}

extension DataResponse: CustomStringConvertible, CustomDebugStringConvertible {
    /// The result.
    public var description: String { result.words }

    /// Request and response with headers and bodies, times and result, in several lines. Secrets in headers and URLs are
    /// hidden; bodies are shown up to a readable length, what is no text as a number of bytes.
    public var debugDescription: String {
        var report = Report(secretHeaders: origin.secretHeaders)
        report.add(request)
        report.add(response, body: data)
        report.add("Times", "\(timeline)")
        report.add("Result", result.words)
        return report.text
    }
}
