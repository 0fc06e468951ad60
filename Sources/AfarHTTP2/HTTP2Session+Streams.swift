import AfarHTTP1
import AfarTransport
import CNghttp2

/// The state of the streams, which the callbacks use.
extension HTTP2Session {
    /// A stream that hasn't ended.
    final class Stream {
        let id: Int32
        let url: String
        let handler: any HTTP2StreamHandler
        /// Whether the request's head has been written.
        @exclusivity(unchecked) var isSent = false
        /// The final response's head.
        @exclusivity(unchecked) var head: ResponseHead? { didSet { bodyLength = head?.contentLength } }
        /// The declared length of the response's body.
        @exclusivity(unchecked) private(set) var bodyLength: Int64?
        /// The size of all heads and trailers so far.
        @exclusivity(unchecked) var headSize = 0
        @exclusivity(unchecked) var informationalCount = 0
        /// The number of received body bytes.
        @exclusivity(unchecked) var bodyCount: Int64 = 0
        /// The number of body bytes that the handler hasn't consumed.
        @exclusivity(unchecked) var unconsumed = 0
        /// The number of bytes of the request's body that haven't been sent; nil if the length is unknown.
        @exclusivity(unchecked) var bodyLeft: Int64?

        init(id: Int32, url: String, handler: any HTTP2StreamHandler) {
            (self.id, self.url, self.handler) = (id, url, handler)
        }

        var hasHead: Bool { head != nil }

        /// The fault to report if the response's body is invalid, given what has arrived so far.
        var bodyFault: Fault {
            guard hasHead else { return .malformed("the response's body precedes its head (RFC 9113, section 8.1)") }
            guard let length = bodyLength, length > bodyCount else {
                return .malformed("the response's body is longer than its Content-Length, or invalid")
            }
            return Fault(
                .bodyIncomplete, "the stream ended \(length - bodyCount) bytes before the end of the response's body")
        }
    }

    /// The lines of a header block. Header blocks of different streams can't be interleaved (RFC 9113, section 4.3).
    struct HeaderBlock {
        /// Nil if the stream has ended.
        var stream: Stream?
        var status = 0
        /// The lines in the form of HTTP/1.1.
        private(set) var lines: [UInt8] = []
        var fieldCount = 0

        mutating func append(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
            if lines.isEmpty {
                lines.reserveCapacity(512)
                lines += "\(HTTP2Session.version) \(status)\r\n".utf8
            }
            lines += name
            lines.append(UInt8(ascii: ":"))
            lines.append(0x20)
            lines += value
            lines.append(0x0D)
            lines.append(0x0A)
        }
    }

    /// Removes a stream. Returns false if it has already ended.
    func remove(_ id: Int32) -> Bool {
        if block.stream?.id == id { block.stream = nil }
        return streams.removeValue(forKey: id) != nil
    }

    func allowFrames(_ count: Int) { frameGuard.allow(count, activeStreams: streams.count) }

    func reset(_ id: Int32, _ code: nghttp2_error_code) {
        if failure == nil { nghttp2_submit_rst_stream(session, 0, id, code.rawValue) }
    }

    func end(_ stream: Stream) {
        guard remove(stream.id) else { return }
        // The rest of the request isn't needed (RFC 9113, section 8.1).
        if nghttp2_session_get_stream_local_close(session, stream.id) == 0 { reset(stream.id, NGHTTP2_NO_ERROR) }
        stream.handler.streamDidEnd()
    }

    /// Ends a stream whose request or response is invalid.
    func reject(_ stream: Stream, _ fault: Fault, _ code: nghttp2_error_code) {
        reset(stream.id, code)
        fail(stream, HTTP2StreamFailure(fault: fault, isUnprocessed: !stream.isSent))
    }

    func fail(_ stream: Stream, _ failure: HTTP2StreamFailure) {
        guard remove(stream.id) else { return }
        stream.handler.streamDidFail(failure)
    }

    /// Consumes bytes of the connection's window.
    func consumeConnection(_ count: Int) { nghttp2_session_consume_connection(session, count) }

    func submitTrailers(_ fields: RequestFields, of id: Int32) -> Bool {
        fields.withLines { nghttp2_submit_trailer(session, id, $0, $1) } == 0
    }

    static func fault(of error: Int32) -> Fault {
        let text = nghttp2_strerror(error).map { String(cString: $0) } ?? "\(error)"
        return Fault(
            error == NGHTTP2_ERR_NOMEM.rawValue ? .outOfResources : .malformedResponse,
            "HTTP/2 connection error: \(text)")
    }

    static func name(of code: UInt32) -> String {
        let name = nghttp2_http2_strerror(code).map { String(cString: $0) } ?? ""
        return name.isEmpty || name == "unknown" ? "error \(code)" : name
    }
}
