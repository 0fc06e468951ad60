import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The properties of a response other than its value. All copies of a response share one object.
final class ResponseDetails: Sendable {
    let request: URLRequest?
    let origin: ResponseOrigin
    /// The bytes of a data request's response.
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

/// The source of a response's head and metrics. Their Foundation types are created on access.
enum ResponseOrigin: Sendable {
    case network(ResponseHead?, AttemptReport?, sensitiveHeaders: Set<String>)
    case given(HTTPURLResponse?, TaskMetrics?)

    var response: HTTPURLResponse? {
        switch self {
        case .network(let head, _, _): head?.httpURLResponse
        case .given(let response, _): response
        }
    }

    /// The additional names of sensitive headers.
    var sensitiveHeaders: Set<String> {
        if case .network(_, _, let names) = self { names } else { [] }
    }

    var metrics: TaskMetrics? {
        switch self {
        case .network(_, let attempt, _): attempt?.metrics
        case .given(_, let metrics): metrics
        }
    }
}

/// A response whose error is an `AFError` and can be replaced.
protocol SettledResponse: SendableMetatype {
    var error: AFError? { get }
    /// Returns the response with an error instead of its result.
    func failing(with error: AFError) -> Self
}

extension Result {
    /// Swift's description of the result. Control characters for terminals are escaped in values, and secrets are redacted in
    /// errors.
    var words: String {
        switch self {
        case .success: TerminalText.safe("\(self)")
        case .failure: Redaction.standard.line("\(self)")
        }
    }
}
