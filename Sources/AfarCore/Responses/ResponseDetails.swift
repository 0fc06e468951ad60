import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What every kind of response tells beside its value; one object for all copies of a response.
final class ResponseDetails: Sendable {
    let request: URLRequest?
    let origin: ResponseOrigin
    /// The bytes of a data request's response.
    let data: Data?
    let timeline: Timeline
    /// How long serialization took, in seconds.
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

/// Where a response's head and metrics come from. Foundation's forms of both are made when they are asked for.
enum ResponseOrigin: Sendable {
    case network(ResponseHead?, AttemptReport?, sensitiveHeaders: Set<String>)
    case given(HTTPURLResponse?, TaskMetrics?)

    var response: HTTPURLResponse? {
        switch self {
        case .network(let head, _, _): head?.httpURLResponse
        case .given(let response, _): response
        }
    }

    /// The names of headers that are sensitive beside those that are so by their names.
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

/// A response whose error is an `AFError`, or can be made one.
protocol SettledResponse: SendableMetatype {
    var error: AFError? { get }
    /// The same response with this error in place of its result.
    func failing(with error: AFError) -> Self
}

extension Result {
    /// What Swift says of a result: values are shown as they are but for what steers a terminal, errors without secrets.
    var words: String {
        switch self {
        case .success: TerminalText.safe("\(self)")
        case .failure: Redaction.standard.line("\(self)")
        }
    }
}
