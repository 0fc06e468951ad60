public import AfarCore
public import Foundation

extension DataStreamRequest {
    /// Adds a handler that gets a value decoded from each line, wherever chunks end.
    ///
    /// A line that cannot be decoded is an error that carries a ``JSONStreamError``; it ends the request if
    /// ``DataStreamRequest/automaticallyCancelOnStreamError`` says so, else the next one is read.
    ///
    /// - Parameters:
    ///   - type: What to decode.
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - maximumLineLength: The bytes that a line may have. The default is 1 MiB.
    ///   - stream: Called for each value or error, and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStreamJSONLines<T: Decodable & Sendable>(
        of type: T.Type = T.self,
        on queue: DispatchQueue = .main,
        using decoder: any DataDecoder = JSONDecoder(),
        maximumLineLength: Int = JSONLinesParser<T>.defaultMaximumLineLength,
        stream: @escaping Handler<T, AFError>
    ) -> Self {
        responseStream(
            using: JSONLinesParser<T>(decoder: decoder, maximumLineLength: maximumLineLength), on: queue, stream: stream
        )
    }
}

extension DataStreamTask {
    /// A value decoded from each line, wherever chunks end. The request starts with the iteration, if handlers start
    /// requests here.
    ///
    /// - Parameters:
    ///   - type: What to decode.
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The
    ///     default is true.
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - maximumLineLength: The bytes that a line may have. The default is 1 MiB.
    ///   - bufferingPolicy: Which values are kept for a loop that falls behind. The default, nil, is to keep none and hold
    ///     the server back.
    public func streamingJSONLines<T: Decodable & Sendable>(
        _ type: T.Type = T.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        decoder: any DataDecoder = JSONDecoder(),
        maximumLineLength: Int = JSONLinesParser<T>.defaultMaximumLineLength,
        bufferingPolicy: Stream<T, AFError>.BufferingPolicy? = nil
    ) -> Stream<T, AFError> {
        streamingResponses(
            parsedUsing: JSONLinesParser<T>(decoder: decoder, maximumLineLength: maximumLineLength),
            automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy)
    }
}
