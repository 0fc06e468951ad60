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
