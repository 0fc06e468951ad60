public import Foundation

/// A final response: its head, its body, and a report of how it came.
public struct TransportResponse: Sendable {
    /// Where the body is.
    public enum Body: Sendable {
        /// In memory, complete.
        case data(Data)
        /// In the file descriptor given, complete: so many bytes were written.
        case file(byteCount: Int64)
        /// Still arriving.
        case stream(ResponseBodyStream)
        /// There is none: the connection is the receiver's, who closes it. It closes when it is released.
        case connection(any Connection)
    }

    /// The status and the header fields.
    public var head: ResponseHead
    /// The body.
    public var body: Body
    /// Metrics, trailers and byte counts. For a body that is still arriving, what was known at the head; the whole is
    /// in ``ResponseBodyStream/report()``.
    public var report: TransportReport

    /// Makes a response.
    public init(head: ResponseHead, body: Body, report: TransportReport = TransportReport()) {
        self.head = head
        self.body = body
        self.report = report
    }
}

extension TransportResponse.Body {
    /// Cancels a stream and closes a connection.
    package func abandon() {
        switch self {
        case .data, .file: break
        case .stream(let stream): stream.cancel()
        case .connection(let connection): connection.close()
        }
    }
}

extension TransportResponse {
    /// This response, as a transport returns one that was judged at its head.
    ///
    /// - Parameter delivery: Where the body goes unless the decision names another place.
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

    /// Puts a body that is in memory where it belongs.
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
