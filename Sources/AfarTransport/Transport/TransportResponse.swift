public import Foundation
public import HTTPTypes

/// A final response with its head, its body, and a report on the exchange.
public struct TransportResponse: Sendable {
    /// The location of the body.
    public enum Body: Sendable {
        /// The complete body, in memory.
        case data(Data)
        /// The complete body, in the delivery's file. The value is the number of bytes that were written.
        case file(byteCount: Int64)
        /// A body that is still arriving.
        case stream(ResponseBodyStream)
        /// A connection instead of a body. The receiver owns the connection and closes it. Releasing the connection also closes it.
        case connection(any Connection)
    }

    /// The status and the header fields.
    public var head: ResponseHead
    /// The body.
    public var body: Body
    /// Metrics, trailers and byte counts. If the body is still arriving, this report describes the exchange up to the head.
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
    package func applying(_ decision: HeadDecision, deliveringTo delivery: ResponseDelivery) -> Result<
        TransportResponse, any Error
    > {
        switch decision {
        case .take(let other): return delivered(to: other ?? delivery)
        case .discard, .deferred:
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

// MARK: - Reports

/// A transport's report on an exchange that has ended, whether it succeeded or failed.
public struct TransportReport: Sendable {
    /// The metrics of the exchange's requests and responses, in order. The array has several elements if redirects were followed or
    /// challenges were answered.
    public var transactions: [TransactionMetrics]
    /// The redirects that were followed, in order.
    public var redirects: [Redirect] = []
    /// The trailer fields after a chunked body (RFC 9110, section 6.5).
    public var trailers: HTTPFields

    /// Creates a report.
    public init(transactions: [TransactionMetrics] = [], trailers: HTTPFields = HTTPFields()) {
        self.transactions = transactions
        self.trailers = trailers
    }

    package mutating func append(_ next: TransportReport) {
        transactions += next.transactions
        redirects += next.redirects
        trailers = next.trailers
    }
}

// MARK: - Redirects

/// A redirect that was followed: the response, and the request that was sent next.
public struct Redirect: Sendable {
    /// The head of the redirect response.
    public var response: ResponseHead
    /// The request that was sent next, after the redirect rules were applied.
    public var request: HTTPRequest
    /// The URL of ``request``. Its fragment comes from the `Location`, or from the previous request if the `Location` has none.
    public var url: URL
    /// The body of ``request``.
    public var body: RequestBody

    /// Creates a redirect.
    public init(response: ResponseHead, request: HTTPRequest, url: URL, body: RequestBody = .none) {
        self.response = response
        self.request = request
        self.url = url
        self.body = body
    }
}

extension ResponseHead {
    /// Whether the response is a redirect that can be followed (RFC 9110, section 15.4). Responses without a `Location`, and responses with
    /// the statuses 300, 304, 305 and 306, can't be followed.
    package var isRedirect: Bool {
        switch status {
        case 301, 302, 303, 307, 308: values(for: .location).contains { !$0.isEmpty }
        default: false
        }
    }
}

// MARK: - Deliveries

/// The destination of a response's body.
public enum ResponseDelivery: Sendable, Hashable {
    /// Collects the body in memory and returns it when it is complete. A body of more than `limit` decoded bytes fails with
    /// ``TransportError/Code-swift.struct/responseTooLarge``; nil means no limit.
    case collect(limit: Int64? = nil)

    /// Writes the body to an open file descriptor at its current position. The caller keeps the descriptor open until `send`
    /// returns, and closes it. `limit` is the same as for ``collect(limit:)``.
    case file(descriptor: Int32, limit: Int64? = nil)

    /// Streams the body in chunks, which the caller reads from ``TransportResponse/body``. When more than `highWaterMark` bytes
    /// are unread, the transport stops reading from the network until the reader has caught up.
    case stream(highWaterMark: Int = 256 * 1024)

    /// Delivers the connection itself, as ``TransportResponse/Body/connection(_:)``, for a protocol other than HTTP.
    ///
    /// The request uses its own HTTP/1.1 connection, which the server can upgrade (RFC 9110, section 7.8). The connection is delivered if
    /// the status is 101. A response with any other status is returned without its body, and the connection is closed. A transport can send
    /// a request for a WebSocket over a shared HTTP/2 connection instead (RFC 8441). In this case, the connection is delivered if the
    /// status is from 200 to 299.
    ///
    /// With the method CONNECT, the transport doesn't send a request. It connects to the request's host and port, over TLS if the scheme is
    /// `https`, and delivers the connection with the status 200.
    case connection
}

extension ResponseDelivery {
    /// The maximum number of bytes in the body; nil if there is no limit.
    public var limit: Int64? {
        switch self {
        case .collect(let limit), .file(_, let limit): limit
        case .stream, .connection: nil
        }
    }

    /// The file that the body is written to; nil for other destinations.
    package var descriptor: Int32? { if case .file(let descriptor, _) = self { descriptor } else { nil } }
}

// MARK: - Files

extension Data {
    /// Reads back the last bytes that were written to a file. Returns nil if they can't be read.
    package init?(lastBytes count: Int, of descriptor: Int32) {
        let end = lseek(descriptor, 0, SEEK_CUR)
        guard count > 0, end >= count else { return nil }
        var data = Data(count: count)
        let read = data.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, count, end - off_t(count)) }
        guard read == count else { return nil }
        self = data
    }
}

extension UnsafeRawBufferPointer {
    /// Writes all bytes to an open file, at its current position.
    ///
    /// - Returns: The `errno` if writing failed; nil if all bytes were written.
    package func write(to descriptor: Int32) -> Int32? {
        var rest = self
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno != EINTR { return errno }
            rest = UnsafeRawBufferPointer(rebasing: rest[Swift.max(count, 0)...])
        }
        return nil
    }
}
