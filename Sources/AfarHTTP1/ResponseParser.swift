package import AfarTransport
package import HTTPTypes

/// A parser for the response to a single HTTP/1.1 request (RFC 9112). It returns the events that the response's bytes
/// represent. It performs no I/O and reads no clock.
///
/// Call ``next(in:at:)`` until it returns nil, then again when more bytes have arrived. The sizes of the received pieces affect only the
/// sizes of the body pieces in the events. The parser isn't copyable, because reading a property of a copyable value from another module
/// copies the value.
package struct ResponseParser: ~Copyable {
    package enum Event {
        /// An informational response (1xx), except 101.
        case informational(ResponseHead)
        /// The final response, or a 101 response to a request for an upgrade.
        case head(ResponseHead)
        /// Bytes of the body, as a range of the caller's buffer. Content codings are not decoded.
        case body(Range<Int>)
        /// The response is complete. Later bytes in the buffer don't belong to it. After a response that switches protocols, they
        /// belong to the other protocol.
        case end
    }

    /// The properties of the request that affect the parsing of its response.
    package struct Request {
        /// The method. A response to HEAD has no body, and a 2xx response to CONNECT opens a tunnel.
        package var method: HTTPRequest.Method
        /// The URL for the response's head.
        package var url: String
        /// Whether the request has an `Upgrade` field, so the server can switch protocols (101).
        package var requestsUpgrade = false
        /// Whether the request has `Connection: close`.
        package var closesConnection = false
        /// Whether the status line can contain HTTP/2 or HTTP/3. libcurl writes such status lines.
        package var allowsLaterVersions = false

        package init(method: HTTPRequest.Method, url: String) { (self.method, self.url) = (method, url) }

        /// Reads the properties of the request's head that affect how its response is parsed.
        ///
        /// - Parameter canUpgrade: Whether the connection can be used for another protocol.
        package init(_ head: RequestHead, url: String, canUpgrade: Bool = true) {
            self.init(method: head.method, url: url)
            (requestsUpgrade, closesConnection) = (canUpgrade && head.requestsUpgrade, head.closesConnection)
        }
    }

    private enum State {
        case head
        case body(remaining: Int64)
        case chunked(ChunkedBody)
        case bodyUntilClose
        /// The last byte has been parsed, but ``Event/end`` hasn't been returned.
        case complete
        case ended
        case failed(Fault)
    }

    private let request: Request
    private let maximumInformationalResponses: Int
    private var lines: HeadLines
    private var state = State.head
    private var informationalCount = 0
    private var framing: MessageFraming?
    /// Whether the connection can't be reused because of an informational response or the end of input.
    private var mustClose = false

    /// The number of body bytes as transferred, without chunk framing.
    package private(set) var bodyByteCount: Int64 = 0

    package init(_ request: Request, options: ExchangeOptions) {
        self.request = request
        maximumInformationalResponses = options.maximumInformationalResponses
        lines = HeadLines(
            maximumBytes: options.maximumResponseHeadSize, maximumFields: options.maximumFieldCount,
            allowsLaterVersions: request.allowsLaterVersions)
    }

    /// Whether any bytes of a response have been received. If not, a request on a reused connection can be sent again (section
    /// 9.3.1).
    package var hasReceivedBytes: Bool { !lines.isEmpty }

    /// The total size of all heads and the trailer section, in bytes.
    package var headByteCount: Int { lines.byteCount }

    /// The fields of the trailer section (RFC 9112, section 7.1.2), except those that are forbidden there.
    package var trailers: HTTPFields { lines.trailerFields }

    /// The length of the body before content codings are decoded; nil before the head, and if the body is chunked or extends to the
    /// end of the connection.
    package var declaredLength: Int64? {
        switch framing?.body {
        case .some(.none), .tunnel: 0
        case .length(let length): length
        case .chunked, .untilClose, nil: nil
        }
    }

    /// The number of following bytes that belong to the body, without framing in between. The caller can read them directly into
    /// any buffer.
    package var bodyBytesLeft: Int64 { if case .body(let remaining) = state { remaining } else { 0 } }

    /// Whether the body extends to the end of the connection.
    package var bodyEndsWithConnection: Bool { framing?.body == .untilClose }

    /// Whether the response switches to another protocol or opens a tunnel. The connection belongs to that protocol after
    /// ``Event/end``. The caller must check that the request offered the protocol in the `Upgrade` field.
    package var switchesProtocol: Bool { framing?.body == .tunnel }

    /// Returns whether the connection can carry another request (RFC 9112, section 9.3).
    ///
    /// - Parameters:
    ///   - remainingByteCount: The number of bytes that were received after the response. The connection is reusable only if
    ///     this number is 0.
    ///   - isRequestSent: Whether the whole request was sent. If not, the server could mistake the rest for another request.
    package func isReusable(remainingByteCount: Int, isRequestSent: Bool) -> Bool {
        guard case .ended = state, let framing else { return false }
        return framing.isPersistent && !request.closesConnection && !mustClose && remainingByteCount == 0
            && isRequestSent
    }

    /// The timeout in the response's `Keep-Alive` field: the number of seconds for which the server keeps an idle connection. Nil if the
    /// response has no such timeout.
    package var keepAliveTimeout: Int? { framing?.keepAliveTimeout }

    /// Returns the next event, or nil if the parser needs more bytes.
    ///
    /// After an error, each call throws the same error.
    ///
    /// - Parameters:
    ///   - bytes: The received bytes.
    ///   - offset: The first byte that hasn't been parsed. The call advances it past the bytes of the event, or to the end if the
    ///     result is nil.
    package mutating func next(
        in bytes: UnsafeRawBufferPointer, at offset: inout Int
    ) throws(Fault) -> Event? {
        do throws(Fault) {
            return try parse(bytes, from: &offset)
        } catch {
            state = .failed(error)
            throw error
        }
    }

    private mutating func parse(
        _ bytes: UnsafeRawBufferPointer, from offset: inout Int
    ) throws(Fault) -> Event? {
        switch state {
        case .failed(let error): throw error
        case .head:
            guard try lines.append(bytes, from: &offset) else { return nil }
            return try completeHead()
        case .body(let remaining):
            guard let range = takeBody(bytes, from: &offset, atMost: remaining) else { return nil }
            let rest = remaining - Int64(range.count)
            state = rest == 0 ? .complete : .body(remaining: rest)
            return .body(range)
        case .bodyUntilClose: return takeBody(bytes, from: &offset, atMost: .max).map { .body($0) }
        case .chunked(var chunked):
            let range = try chunked.next(in: bytes, at: &offset, lines: &lines)
            state = .chunked(chunked)
            if let range {
                bodyByteCount += Int64(range.count)
                return .body(range)
            }
            guard chunked.isComplete else { return nil }
            if chunked.hasBareLineFeed { mustClose = true }
            state = .ended
            return .end
        case .complete:
            state = .ended
            return .end
        case .ended: return nil
        }
    }

    /// Parses lines of the trailer section. Use this method if other code has decoded the chunks.
    package mutating func receiveTrailers(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
        var offset = 0
        while try lines.append(bytes, from: &offset) {}
    }

    /// Parses the end of input. Call this method when the server has closed the connection.
    ///
    /// - Parameter isClean: Whether the server closed the connection properly. Over TLS, this requires `close_notify` (section
    ///   9.8).
    /// - Returns: ``Event/end`` if the end of input ends the body; nil if the response has already ended.
    package mutating func receiveEndOfInput(isClean: Bool) throws(Fault) -> Event? {
        mustClose = true
        do throws(Fault) {
            return try end(isClean: isClean)
        } catch {
            state = .failed(error)
            throw error
        }
    }

    private mutating func end(isClean: Bool) throws(Fault) -> Event? {
        switch state {
        case .failed(let error): throw error
        case .ended: return nil
        case .complete:
            state = .ended
            return .end
        case .bodyUntilClose:
            guard isClean else {
                throw Fault(
                    .bodyIncomplete,
                    "the server closed the TCP connection without a TLS alert (close_notify), so the body may be cut off after "
                        + "\(bodyByteCount) bytes")
            }
            state = .ended
            return .end
        case .head where lines.hasStatusLine:
            throw .malformed("the server closed the connection before the end of the response's head")
        case .head:
            throw Fault(
                .connectionLost,
                lines.isEmpty
                    ? "the server closed the connection without a response"
                    : "the server closed the connection before the response was complete")
        case .body(let remaining):
            throw Fault(
                .bodyIncomplete, "the connection was closed \(remaining) bytes before the end of the response's body")
        case .chunked:
            throw Fault(
                .bodyIncomplete,
                "the connection was closed after \(bodyByteCount) bytes of a chunked body, before its last chunk")
        }
    }

    private mutating func takeBody(
        _ bytes: UnsafeRawBufferPointer, from offset: inout Int, atMost limit: Int64
    ) -> Range<Int>? {
        guard offset < bytes.count else { return nil }
        let count = Int(min(Int64(bytes.count - offset), limit))
        defer { offset += count }
        bodyByteCount += Int64(count)
        return offset..<(offset + count)
    }

    private mutating func completeHead() throws(Fault) -> Event {
        let (head, fields) = try lines.takeHead(url: request.url)
        guard head.status >= 200 || head.status == 101 else {
            informationalCount += 1
            guard informationalCount <= maximumInformationalResponses else {
                throw .malformed("more than \(maximumInformationalResponses) informational (1xx) responses")
            }
            // An informational response has no body. But if its fields declare a body, other recipients could expect one.
            if fields.closesConnection || fields.framesBody { mustClose = true }
            return .informational(head)
        }
        guard head.status != 101 || request.requestsUpgrade && request.method != .connect && head.contains(.upgrade)
        else {
            throw .malformed(
                "the server switched protocols (101) without an Upgrade field in the request and in the response")
        }
        let framing = try MessageFraming(of: head, fields, to: request.method)
        self.framing = framing
        state =
            switch framing.body {
            case .none, .tunnel, .length(0): .complete
            case .length(let length): .body(remaining: length)
            case .chunked: .chunked(ChunkedBody())
            case .untilClose: .bodyUntilClose
            }
        return .head(head)
    }
}
