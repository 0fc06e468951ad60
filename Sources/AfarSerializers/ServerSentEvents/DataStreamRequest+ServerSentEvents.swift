public import AfarCore
public import Foundation

extension DataStreamRequest {
    /// Adds a handler that gets the events of this one response. Give the request the header
    /// `Accept: text/event-stream`.
    ///
    /// The status code must be 200, or 204 for no events, and the content type `text/event-stream`, else the request fails
    /// before anything is read. An event that is too large is an error that carries a ``ServerSentEventTooLarge``; it ends
    /// the request if ``DataStreamRequest/automaticallyCancelOnStreamError`` says so. Nothing is connected again after the
    /// end:
    /// ``AfarCore/Session/serverSentEvents(_:method:headers:lastEventID:reconnection:maximumEventSize:interceptor:requestModifier:)``
    /// does that.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - maximumEventSize: The bytes that an event may have. The default is 1 MiB.
    ///   - stream: Called for each event or error, and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStreamServerSentEvents(
        on queue: DispatchQueue = .main,
        maximumEventSize: Int = ServerSentEventParser.defaultMaximumEventSize,
        stream: @escaping Handler<ServerSentEvent, AFError>
    ) -> Self {
        validateEventStream().responseStream(
            using: .serverSentEvents(maximumEventSize: maximumEventSize), on: queue, stream: stream)
    }

    /// Requires a stream of events, or none (WHATWG HTML, section 9.2.3).
    @discardableResult
    func validateEventStream() -> Self {
        validate(statusCode: [200, 204]).validate(contentType: ["text/event-stream"])
    }
}

extension DataStreamTask {
    /// The events of this one response, with what
    /// ``DataStreamRequest/responseStreamServerSentEvents(on:maximumEventSize:stream:)`` requires of it. The request starts
    /// with the iteration, if handlers start requests here.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The
    ///     default is true.
    ///   - maximumEventSize: The bytes that an event may have. The default is 1 MiB.
    ///   - bufferingPolicy: Which events are kept for a loop that falls behind. The default, nil, is to keep none and hold
    ///     the server back.
    public func streamingServerSentEvents(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        maximumEventSize: Int = ServerSentEventParser.defaultMaximumEventSize,
        bufferingPolicy: Stream<ServerSentEvent, AFError>.BufferingPolicy? = nil
    ) -> Stream<ServerSentEvent, AFError> {
        request.validateEventStream()
        return streamingResponses(
            parsedUsing: .serverSentEvents(maximumEventSize: maximumEventSize),
            automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy)
    }
}
