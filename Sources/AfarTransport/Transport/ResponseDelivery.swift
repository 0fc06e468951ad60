package import Foundation

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
    /// The request uses its own HTTP/1.1 connection, which the server can upgrade (RFC 9110, section 7.8). The connection is
    /// delivered if the status is 101. A response with any other status is returned without its body, and the connection is
    /// closed.
    ///
    /// With the method CONNECT, nothing is sent: the transport connects to the request's host and port, over TLS if the scheme is
    /// `https`, and delivers the connection with the status 200.
    case connection
}

extension ResponseDelivery {
    /// The maximum number of bytes in the body; nil if there is no limit.
    package var limit: Int64? {
        switch self {
        case .collect(let limit), .file(_, let limit): limit
        case .stream, .connection: nil
        }
    }

    /// The file that the body is written to; nil for other destinations.
    package var descriptor: Int32? { if case .file(let descriptor, _) = self { descriptor } else { nil } }
}

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
