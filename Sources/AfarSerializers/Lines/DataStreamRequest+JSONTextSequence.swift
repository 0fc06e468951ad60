public import AfarCore
public import Foundation

extension DataStreamRequest {
    /// Adds a handler that gets the values of a JSON text sequence (RFC 7464), wherever chunks end.
    ///
    /// A record that cannot be decoded is an error that carries a ``JSONStreamError``; it ends the request if
    /// ``DataStreamRequest/automaticallyCancelOnStreamError`` says so, else the next one is read.
    ///
    /// - Parameters:
    ///   - type: What to decode.
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - maximumLength: The bytes that a record may have. The default is 1 MiB.
    ///   - stream: Called for each value or error, and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStreamJSONTextSequence<T: Decodable & Sendable>(
        of type: T.Type = T.self,
        on queue: DispatchQueue = .main,
        using decoder: any DataDecoder = JSONDecoder(),
        maximumLength: Int = JSONTextSequenceParser<T>.defaultMaximumLength,
        stream: @escaping Handler<T, AFError>
    ) -> Self {
        responseStream(
            using: JSONTextSequenceParser<T>(decoder: decoder, maximumLength: maximumLength), on: queue, stream: stream)
    }
}

extension DataStreamTask {
    /// The values of a JSON text sequence (RFC 7464), wherever chunks end. The request starts with the iteration, if handlers start
    /// requests here.
    ///
    /// - Parameters:
    ///   - type: What to decode.
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The
    ///     default is true.
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - maximumLength: The bytes that a record may have. The default is 1 MiB.
    ///   - bufferingPolicy: Which values are kept for a loop that falls behind. The default, nil, is to keep none and hold
    ///     the server back.
    public func streamingJSONTextSequence<T: Decodable & Sendable>(
        _ type: T.Type = T.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        decoder: any DataDecoder = JSONDecoder(),
        maximumLength: Int = JSONTextSequenceParser<T>.defaultMaximumLength,
        bufferingPolicy: Stream<T, AFError>.BufferingPolicy? = nil
    ) -> Stream<T, AFError> {
        streamingResponses(
            parsedUsing: JSONTextSequenceParser<T>(decoder: decoder, maximumLength: maximumLength),
            automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy)
    }
}
