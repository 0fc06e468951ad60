public import AfarCore
public import Foundation
public import SwiftProtobuf

extension DataStreamRequest {
    /// Adds a handler that gets each message of a stream of length-delimited ones, wherever chunks end.
    ///
    /// - Parameters:
    ///   - type: The messages' type.
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - options: How messages are decoded, and what each may cost.
    ///   - stream: Called for each message or error, and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStreamProtobuf<M: Message>(
        of type: M.Type = M.self,
        on queue: DispatchQueue = .main,
        options: ProtobufDecodingOptions = ProtobufDecodingOptions(),
        stream: @escaping Handler<M, AFError>
    ) -> Self {
        responseStream(using: ProtobufMessagesParser<M>(options: options), on: queue, stream: stream)
    }
}

extension DataStreamTask {
    /// Each message of a stream of length-delimited ones, wherever chunks end. The request starts with the iteration, if
    /// handlers start requests here.
    ///
    /// - Parameters:
    ///   - type: The messages' type.
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The
    ///     default is true.
    ///   - options: How messages are decoded, and what each may cost.
    ///   - bufferingPolicy: Which messages are kept for a loop that falls behind. The default, nil, is to keep none and hold
    ///     the server back.
    public func streamingProtobuf<M: Message>(
        _ type: M.Type = M.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        options: ProtobufDecodingOptions = ProtobufDecodingOptions(),
        bufferingPolicy: Stream<M, AFError>.BufferingPolicy? = nil
    ) -> Stream<M, AFError> {
        streamingResponses(
            parsedUsing: ProtobufMessagesParser<M>(options: options),
            automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy)
    }
}
