public import Foundation

/// A final response with its head, its body, and a report on the exchange.
public struct TransportResponse: Sendable {
    /// The location of the body.
    public enum Body: Sendable {
        /// In memory, complete.
        case data(Data)
        /// Complete, in the given file descriptor. The value is the number of bytes that were written.
        case file(byteCount: Int64)
        /// Still arriving.
        case stream(ResponseBodyStream)
        /// No body. The receiver owns the connection and closes it. Releasing the connection closes it too.
        case connection(any Connection)
    }

    /// The status and the header fields.
    public var head: ResponseHead
    /// The body.
    public var body: Body
    /// Metrics, trailers and byte counts. If the body is still arriving, this is what was known when the head arrived, and
    /// ``ResponseBodyStream/report()`` returns the complete report.
    public var report: TransportReport

    /// Creates a response.
    public init(head: ResponseHead, body: Body, report: TransportReport = TransportReport()) {
        self.head = head
        self.body = body
        self.report = report
    }
}

extension TransportResponse.Body {
    /// Cancels the stream or closes the connection.
    package func abandon() {
        switch self {
        case .data, .file: break
        case .stream(let stream): stream.cancel()
        case .connection(let connection): connection.close()
        }
    }
}

extension TransportResponse {
    /// Returns this response after applying a decision about its head.
    ///
    /// - Parameter delivery: The destination of the body, unless the decision contains another one.
    package func applying(_ decision: HeadDecision, instead delivery: ResponseDelivery) -> Result<
        TransportResponse, any Error
    > {
        switch decision {
        case .take(let other): return delivered(to: other ?? delivery)
        case .discard, .ask:
            body.abandon()
            return .success(TransportResponse(head: head, body: .data(Data()), report: report))
        case .refuse(let error):
            body.abandon()
            var failure = TransportError(refused: head.url, because: error)
            failure.report = report
            return .failure(failure)
        }
    }

    /// Moves a body in memory to its destination.
    private func delivered(to delivery: ResponseDelivery) -> Result<TransportResponse, any Error> {
        guard case .data(let data) = body else { return .success(self) }
        var response = self
        switch delivery {
        case .collect, .connection: break
        case .file(let descriptor, _):
            if let code = data.withUnsafeBytes({ $0.write(to: descriptor) }) {
                return .failure(
                    TransportError(
                        .deliveryFailed, phase: .receiving, url: head.url,
                        message: "the response's body could not be written", systemError: code))
            }
            response.body = .file(byteCount: Int64(data.count))
        case .stream(let highWaterMark):
            let (stream, source) = ResponseBodyStream.make(highWaterMark: highWaterMark, onDemand: {}, onCancel: {})
            if !data.isEmpty { source.yield(data) }
            source.finish(throwing: nil, report: report)
            response.body = .stream(stream)
        }
        return .success(response)
    }
}
