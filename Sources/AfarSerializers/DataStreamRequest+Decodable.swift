public import AfarCore
public import Foundation

extension DataStreamRequest {
    /// Adds a handler that gets a value decoded from each chunk, which must be a whole document by itself.
    ///
    /// Servers and networks may cut a body anywhere, so this is for bodies whose chunks are known to be whole.
    ///
    /// - Parameters:
    ///   - type: What to decode.
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - preprocessor: Changes each chunk before.
    ///   - stream: Called for each chunk, and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStreamDecodable<T: Decodable & Sendable>(
        of type: T.Type = T.self,
        on queue: DispatchQueue = .main,
        using decoder: any DataDecoder = JSONDecoder(),
        preprocessor: any DataPreprocessor = PassthroughPreprocessor(),
        stream: @escaping Handler<T, AFError>
    ) -> Self {
        responseStream(
            using: DecodableStreamSerializer<T>(decoder: decoder, dataPreprocessor: preprocessor), on: queue,
            stream: stream)
    }
}

extension DataStreamTask {
    /// A value decoded from each chunk, which must be a whole document by itself. The request starts with the iteration, if
    /// handlers start requests here.
    ///
    /// - Parameters:
    ///   - type: What to decode.
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The
    ///     default is true.
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
    ///   - preprocessor: Changes each chunk before.
    ///   - bufferingPolicy: Which values are kept for a loop that falls behind. The default, nil, is to keep none and hold
    ///     the server back.
    public func streamingDecodables<T: Decodable & Sendable>(
        _ type: T.Type = T.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        decoder: any DataDecoder = JSONDecoder(),
        preprocessor: any DataPreprocessor = PassthroughPreprocessor(),
        bufferingPolicy: Stream<T, AFError>.BufferingPolicy? = nil
    ) -> Stream<T, AFError> {
        streamingResponses(
            serializedUsing: DecodableStreamSerializer<T>(decoder: decoder, dataPreprocessor: preprocessor),
            automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy)
    }
}
