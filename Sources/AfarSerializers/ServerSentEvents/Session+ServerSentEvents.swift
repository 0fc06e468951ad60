public import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Session {
    /// The events of a server, to await: connected when a loop begins, and again after each connection's end.
    ///
    /// `Accept: text/event-stream` and `Cache-Control: no-cache` are sent unless the headers say otherwise.
    ///
    /// - Parameters:
    ///   - convertible: The URL.
    ///   - method: The method. The default is GET.
    ///   - headers: Headers to add to the session's.
    ///   - lastEventID: The ID of the last event that was received before, for the server to go on from there. The default
    ///     is empty: there is none.
    ///   - reconnection: When to connect again.
    ///   - maximumEventSize: The bytes that an event may have; a larger one ends the events with
    ///     ``ServerSentEventTooLarge``. The default is 1 MiB.
    ///   - interceptor: Adapts and retries the request of each connection.
    ///   - requestModifier: Changes each `URLRequest`, for example its `timeoutInterval` for a server that may be silent
    ///     for long.
    @preconcurrency
    public func serverSentEvents(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        headers: HTTPHeaders? = nil,
        lastEventID: String = "",
        reconnection: EventSource.Reconnection = EventSource.Reconnection(),
        maximumEventSize: Int = ServerSentEventParser.defaultMaximumEventSize,
        interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> EventSource {
        EventSource(
            session: self, interceptor: interceptor, lastEventID: lastEventID, maximumEventSize: maximumEventSize,
            writtenURL: requestModifier == nil ? convertible as? String : nil,
            makeRequest: {
                var request = try URLRequest(url: convertible, method: method, headers: headers)
                try requestModifier?(&request)
                return request
            },
            reconnection: reconnection)
    }

    /// The events that a server sends as the answer to a request, to await: sent when a loop begins, and again after each
    /// connection's end.
    ///
    /// `Accept: text/event-stream` and `Cache-Control: no-cache` are sent unless the headers say otherwise.
    ///
    /// - Parameters:
    ///   - convertible: Makes the request of each connection.
    ///   - lastEventID: The ID of the last event that was received before, for the server to go on from there. The default
    ///     is empty: there is none.
    ///   - reconnection: When to connect again.
    ///   - maximumEventSize: The bytes that an event may have; a larger one ends the events with
    ///     ``ServerSentEventTooLarge``. The default is 1 MiB.
    ///   - interceptor: Adapts and retries the request of each connection.
    public func serverSentEvents(
        _ convertible: any URLRequestConvertible,
        lastEventID: String = "",
        reconnection: EventSource.Reconnection = EventSource.Reconnection(),
        maximumEventSize: Int = ServerSentEventParser.defaultMaximumEventSize,
        interceptor: (any RequestInterceptor)? = nil
    ) -> EventSource {
        EventSource(
            session: self, interceptor: interceptor, lastEventID: lastEventID, maximumEventSize: maximumEventSize,
            writtenURL: convertible.writtenURL, makeRequest: { try convertible.asURLRequest() },
            reconnection: reconnection)
    }
}
