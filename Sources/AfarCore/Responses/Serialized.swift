import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A value made of what a request received, or what went wrong, and what every kind of response tells beside it.
struct Serialized<Value> {
    var request: URLRequest?
    var origin: ResponseOrigin
    var timeline: Timeline
    /// Seconds.
    var duration: TimeInterval
    var result: AFResult<Value>
}

/// Where a response's head and metrics come from. Foundation's forms of both are made when they are asked for.
enum ResponseOrigin: Sendable {
    case network(ResponseHead?, AttemptReport?, secretHeaders: Set<String>)
    case given(HTTPURLResponse?, TaskMetrics?)

    var response: HTTPURLResponse? {
        switch self {
        case .network(let head, _, _): head?.httpURLResponse
        case .given(let response, _): response
        }
    }

    /// The names of headers that are not to be shown, beside those whose names tell.
    var secretHeaders: Set<String> {
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
