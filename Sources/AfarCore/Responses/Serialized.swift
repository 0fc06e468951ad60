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
    case network(ResponseHead?, Request.Attempt?)
    case given(HTTPURLResponse?, TaskMetrics?)

    var response: HTTPURLResponse? {
        switch self {
        case .network(let head, _): head?.httpURLResponse
        case .given(let response, _): response
        }
    }

    var metrics: TaskMetrics? {
        switch self {
        case .network(_, let attempt): attempt?.metrics
        case .given(_, let metrics): metrics
        }
    }
}
