public import AfarCore
public import Foundation

extension DataStreamRequest {
    /// Adds a handler that gets a value decoded from each document of a YAML stream, wherever chunks end.
    ///
    /// - Parameters:
    ///   - type: What to decode.
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - limits: What a document may cost.
    ///   - stream: Called for each value or error, and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStreamYAML<T: Decodable & Sendable>(
        of type: T.Type = T.self,
        on queue: DispatchQueue = .main,
        limits: YAMLLimits = YAMLLimits(),
        stream: @escaping Handler<T, AFError>
    ) -> Self {
        responseStream(using: YAMLDocumentsParser<T>(limits: limits), on: queue, stream: stream)
    }
}

extension DataStreamTask {
    /// A value decoded from each document of a YAML stream, wherever chunks end. The request starts with the iteration, if
    /// handlers start requests here.
    ///
    /// - Parameters:
    ///   - type: What to decode.
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The
    ///     default is true.
    ///   - limits: What a document may cost.
    ///   - bufferingPolicy: Which values are kept for a loop that falls behind. The default, nil, is to keep none and hold
    ///     the server back.
    public func streamingYAML<T: Decodable & Sendable>(
        _ type: T.Type = T.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        limits: YAMLLimits = YAMLLimits(),
        bufferingPolicy: Stream<T, AFError>.BufferingPolicy? = nil
    ) -> Stream<T, AFError> {
        streamingResponses(
            parsedUsing: YAMLDocumentsParser<T>(limits: limits),
            automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy)
    }
}
