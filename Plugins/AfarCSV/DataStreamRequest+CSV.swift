public import AfarCore
public import Foundation

extension DataStreamRequest {
    /// Adds a handler that gets each row decoded from a CSV stream, wherever chunks end.
    ///
    /// - Parameters:
    ///   - type: What a row is.
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - decoder: Says how rows are written and decoded. The default is RFC 4180 with a header.
    ///   - stream: Called for each value or error, and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStreamCSV<Row: Decodable & Sendable>(
        of type: Row.Type = Row.self,
        on queue: DispatchQueue = .main,
        decoder: CSVDataDecoder = CSVDataDecoder(),
        stream: @escaping Handler<Row, AFError>
    ) -> Self {
        responseStream(using: CSVRowsParser<Row>(decoder: decoder), on: queue, stream: stream)
    }
}

extension DataStreamTask {
    /// Each row decoded from a CSV stream, wherever chunks end. The request starts with the iteration, if handlers start
    /// requests here.
    ///
    /// - Parameters:
    ///   - type: What a row is.
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The
    ///     default is true.
    ///   - decoder: Says how rows are written and decoded. The default is RFC 4180 with a header.
    ///   - bufferingPolicy: Which values are kept for a loop that falls behind. The default, nil, is to keep none and hold
    ///     the server back.
    public func streamingCSV<Row: Decodable & Sendable>(
        _ type: Row.Type = Row.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        decoder: CSVDataDecoder = CSVDataDecoder(),
        bufferingPolicy: Stream<Row, AFError>.BufferingPolicy? = nil
    ) -> Stream<Row, AFError> {
        streamingResponses(
            parsedUsing: CSVRowsParser<Row>(decoder: decoder),
            automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy)
    }
}
