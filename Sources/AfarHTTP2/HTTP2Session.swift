package import AfarHTTP1
package import AfarTransport
import CNghttp2
package import HTTPTypes

/// An HTTP/2 client connection (RFC 9113). nghttp2 implements the frames, HPACK and the sending side of flow control. The session
/// performs no I/O and reads no clock. Only one thread at a time can use it.
///
/// Pass received bytes to ``receive(_:)``, and send the bytes that ``write(into:)`` returns. After calling any method, call
/// ``write(into:)`` until it returns 0. Both methods call the streams' handlers.
///
/// The connection's receive window is refilled when bytes arrive, so a slow stream can't block others. Each stream's window is refilled
/// when its handler consumes the bytes. The received bytes that wait in handlers are therefore limited to the stream windows.
package final class HTTP2Session {
    /// The limits of a connection.
    package struct Configuration: Hashable, Sendable {
        /// The number of body bytes that a stream can receive before its handler consumes them.
        package var streamWindow: Int32 = 1 << 20
        /// The number of body bytes that can be in transit on the whole connection.
        package var connectionWindow: Int32 = 16 << 20
        /// The maximum size of a response's head, trailers and informational heads together, in bytes.
        package var maximumHeadSize = 256 * 1024
        /// The maximum number of fields in a head or trailer section, at most 65,000.
        package var maximumFieldCount = 1_000
        /// The maximum number of informational (1xx) responses to a request.
        package var maximumInformationalResponses = 20

        /// The maximum size of a compressed header block, in bytes.
        var maximumHeaderBlockSize: Int { min(max(maximumHeadSize, 0), 1 << 30) + 16_384 }

        package init() {}

        package init(_ options: ExchangeOptions) {
            maximumHeadSize = options.maximumResponseHeadSize
            maximumFieldCount = options.maximumFieldCount
            maximumInformationalResponses = options.maximumInformationalResponses
        }
    }

    /// The server's announcement that it accepts no further streams (RFC 9113, section 6.8).
    package struct GoAway {
        package let lastStreamID: Int32
        package let errorCode: UInt32
        /// The beginning of the debug data, without control characters.
        package let message: String

        /// The code and the message, for errors.
        var reason: String {
            " (GOAWAY, \(HTTP2Session.name(of: errorCode))\(message.isEmpty ? "" : ", \(message)"))"
        }
    }

    let configuration: Configuration
    /// The streams that haven't ended.
    @exclusivity(unchecked) var streams: [Int32: Stream] = [:]
    /// The header block that is being received.
    @exclusivity(unchecked) var block = HeaderBlock()
    /// nghttp2's description of the last problem.
    @exclusivity(unchecked) var lastProblem = ""
    /// The connection error that nghttp2 has reported to the server.
    @exclusivity(unchecked) var sentError: Fault?
    @exclusivity(unchecked) var session: OpaquePointer?
    @exclusivity(unchecked) var frameGuard: FrameGuard
    /// The part of the next frame's header that has been received.
    @exclusivity(unchecked) private var headerBytes: [UInt8] = []
    @exclusivity(unchecked) private var header: FrameHeader?
    /// The number of bytes of the current frame that haven't been processed.
    @exclusivity(unchecked) private var frameLeft = 0
    /// The rest of the bytes that nghttp2 has returned. They are valid until the next call of `nghttp2_session_mem_send`.
    @exclusivity(unchecked) private var unsent: UnsafeBufferPointer<UInt8>.SubSequence = UnsafeBufferPointer(
        start: nil, count: 0)[...]
    /// The last bytes to send, after the connection has failed.
    @exclusivity(unchecked) private var lastOutput: ArraySlice<UInt8> = []
    /// Whether nghttp2 is receiving or returning bytes. During this time, its callbacks can't receive or write bytes.
    @exclusivity(unchecked) private var isRunning = false
    @exclusivity(unchecked) private var hasSentGoAway = false
    @exclusivity(unchecked) private var pingCount: UInt64 = 0

    /// The error that ended the connection and all streams.
    @exclusivity(unchecked) package private(set) var failure: Fault?
    @exclusivity(unchecked) package internal(set) var goAway: GoAway?
    /// Whether the server's settings have arrived.
    @exclusivity(unchecked) package internal(set) var hasReceivedSettings = false
    /// The maximum number of concurrent streams until the server's settings arrive.
    @exclusivity(unchecked) package var assumedStreamLimit = 100
    /// The number of ``ping()`` calls that the server hasn't acknowledged.
    @exclusivity(unchecked) package internal(set) var pendingPingCount = 0

    /// Creates a connection. The client's preface is ready to be written.
    package init(_ configuration: Configuration = Configuration()) throws(Fault) {
        self.configuration = configuration
        frameGuard = FrameGuard(maximumHeaderBlockSize: configuration.maximumHeaderBlockSize)
        session = makeSession()
        guard let session else { throw Fault(.outOfResources, "an HTTP/2 session can't be created") }
        let settings = [
            (NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
            (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, UInt32(clamping: max(configuration.streamWindow, 1))),
            (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(clamping: configuration.maximumHeadSize)),
        ].map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
        try check(nghttp2_submit_settings(session, 0, settings, settings.count))
        try check(
            nghttp2_session_set_local_window_size(session, 0, 0, max(configuration.connectionWindow, 65_535)))
    }

    deinit { nghttp2_session_del(session) }

    // MARK: State

    /// The maximum number of concurrent streams (SETTINGS_MAX_CONCURRENT_STREAMS).
    package var maximumConcurrentStreams: Int {
        guard hasReceivedSettings else { return assumedStreamLimit }
        return Int(nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    /// The number of streams that have a handler.
    package var activeStreamCount: Int { streams.count }

    /// Whether the connection accepts no further streams, because of a GOAWAY frame, a failure or exhausted identifiers.
    package var isDraining: Bool {
        failure != nil || goAway != nil || hasSentGoAway || nghttp2_session_check_request_allowed(session) == 0
    }

    /// Whether ``submit(_:defaultFields:body:url:handler:)`` can open a stream without waiting.
    package var canOpenStream: Bool { !isDraining && activeStreamCount < maximumConcurrentStreams }

    /// Whether the server supports extended CONNECT (RFC 8441, section 3).
    package var supportsExtendedConnect: Bool {
        nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL) == 1
    }

    /// Whether ``write(into:)`` has bytes to return. Streams that wait for their body or their window don't count.
    package var wantsWrite: Bool {
        if failure != nil { return !lastOutput.isEmpty }
        return !unsent.isEmpty || nghttp2_session_want_write(session) != 0
    }

    // MARK: Streams

    /// Opens a stream with a request.
    ///
    /// Beyond ``maximumConcurrentStreams``, the stream waits until another one ends.
    ///
    /// - Parameters:
    ///   - request: The request. `Host` replaces the authority from the URL. `Proxy-Authorization` isn't sent.
    ///   - defaults: Fields that are sent unless the request has a field of the same name.
    ///   - body: The length of the body. With any value except `none` and `length(0)`, the body is read from the handler. If its length
    ///     differs from the declared one, the stream fails. `chunked` means that the length is unknown.
    ///   - url: The URL for the response's head.
    ///   - report: A closure that receives the head.
    /// - Returns: The stream's identifier.
    /// - Throws: `invalidURL` or `invalidUse` like ``RequestHead``; `connectionLost` if the connection accepts no further streams;
    ///   `unsupportedByTransport` for extended CONNECT if the server doesn't support it. Nothing has been sent in these cases.
    package func submit(
        _ request: HTTPRequest, defaultFields defaults: HTTPFields = HTTPFields(),
        body: RequestHead.BodyFraming = .none,
        url: String, handler: any HTTP2StreamHandler, report: ((SentHead) -> Void)? = nil
    ) throws(Fault) -> Int32 {
        if let failure { throw failure }
        guard !isDraining else { throw Fault(.connectionLost, "the HTTP/2 connection accepts no further requests") }
        guard request.extendedConnectProtocol == nil || supportsExtendedConnect else {
            throw Fault(.unsupportedByTransport, "the server doesn't support extended CONNECT (RFC 8441)")
        }
        let fields = try RequestFields(request, defaultFields: defaults, body: body)
        let hasBody = body != .none && body != .length(0)
        let id = fields.withLines { lines, count in
            withUnsafePointer(to: bodySource) { source in
                nghttp2_submit_request(session, nil, lines, count, hasBody ? source : nil, nil)
            }
        }
        try check(id)
        report?(fields.sentHead)
        let stream = Stream(id: id, url: url, handler: handler)
        if case .length(let length) = body { stream.bodyLeft = length }
        streams[id] = stream
        allowFrames(8)
        return id
    }

    /// Continues to read a stream's body after ``HTTP2BodyPart/wait``.
    package func resumeBody(of id: Int32) {
        if failure == nil { nghttp2_session_resume_data(session, id) }
    }

    /// Reports that a handler has processed bytes of the body, so that the server can send more.
    package func consume(_ count: Int, of id: Int32) {
        guard failure == nil, let stream = streams[id] else { return }
        let count = min(max(count, 0), stream.unconsumed)
        stream.unconsumed -= count
        nghttp2_session_consume_stream(session, id, count)
    }

    /// Resets a stream. Its handler is released and isn't called again.
    package func cancel(_ id: Int32) {
        if remove(id) { reset(id, NGHTTP2_CANCEL) }
    }

    // MARK: Connection

    /// Sends a PING frame. The server must acknowledge it (RFC 9113, section 6.7).
    package func ping() {
        guard failure == nil else { return }
        pingCount += 1
        let data = withUnsafeBytes(of: pingCount.bigEndian) { [UInt8]($0) }
        if nghttp2_submit_ping(session, 0, data) == 0 {
            pendingPingCount += 1
            allowFrames(1)
        }
    }

    /// Announces that no further streams follow (RFC 9113, section 6.8). Active streams continue.
    package func sendGoAway() {
        guard failure == nil, !hasSentGoAway else { return }
        hasSentGoAway = true
        nghttp2_submit_goaway(session, 0, 0, NGHTTP2_NO_ERROR.rawValue, nil, 0)
    }

    /// Restores the number of frames without content that the server can send, such as PING and WINDOW_UPDATE. Call this method on a
    /// timer, about every 10 seconds.
    package func refillFrameBudget() { frameGuard.refill() }

    /// Ends all streams with this fault. Call this method if the connection can't be used anymore.
    ///
    /// This method ignores the fault's phase. For a closed connection, use ``receiveEndOfInput()``.
    package func fail(_ fault: Fault) {
        fail { _ in
            fault
        } connection: {
            fault
        }
    }

    /// Ends all streams because the server has closed the connection.
    package func receiveEndOfInput() {
        let reason = goAway?.reason ?? ""
        fail { stream in
            guard stream.hasHead else {
                return Fault(.connectionLost, "the server closed the connection\(reason) without a response")
            }
            return Fault(.bodyIncomplete, "the connection was closed\(reason) before the end of the response's body")
        } connection: {
            Fault(.connectionLost, "the server closed the connection\(reason)")
        }
    }

    // MARK: Bytes

    /// Processes received bytes. The sizes of the received pieces affect only the sizes of the body pieces that handlers receive.
    ///
    /// - Throws: The connection error. All streams have failed. ``write(into:)`` returns the last frames, which report the error to the
    ///   server.
    package func receive(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
        var rest = bytes[...]
        while !rest.isEmpty {
            if let failure { throw failure }
            guard !isRunning else { throw Fault(.invalidUse, "the HTTP/2 session is used by its own callback") }
            if header == nil {
                guard headerBytes.isEmpty, rest.count >= FrameHeader.byteCount else {
                    try receivePartOfHeader(&rest)
                    continue
                }
                try beginFrame(rest)
            }
            let part = rest.prefix(frameLeft)
            rest = rest.dropFirst(part.count)
            try process(part)
        }
        if let failure { throw failure }
    }

    /// Receives a frame's header that is divided among calls of ``receive(_:)``.
    private func receivePartOfHeader(_ rest: inout UnsafeRawBufferPointer.SubSequence) throws(Fault) {
        let part = rest.prefix(FrameHeader.byteCount - headerBytes.count)
        headerBytes += part
        rest = rest.dropFirst(part.count)
        guard headerBytes.count == FrameHeader.byteCount else { return }
        let bytes = headerBytes
        headerBytes.removeAll(keepingCapacity: true)
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(Fault) in
                try beginFrame(bytes[...])
                try process(bytes[...])
            }
        }.get()
    }

    /// Writes bytes for the server into a buffer. The bytes consist of frames, which can be divided among calls.
    ///
    /// A connection error that is found here sets ``failure`` and ends all streams. After an error, the method still returns the last frames.
    ///
    /// - Returns: The number of bytes; 0 if there is nothing to send at the moment.
    package func write(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var written = 0
        func take<Bytes: Collection<UInt8>>(_ bytes: inout Bytes) where Bytes.SubSequence == Bytes {
            let part = bytes.prefix(buffer.count - written)
            UnsafeMutableRawBufferPointer(rebasing: buffer[written...]).copyBytes(from: part)
            written += part.count
            bytes = bytes.dropFirst(part.count)
        }
        while written < buffer.count, failure == nil, !isRunning {
            if unsent.isEmpty, !pull() { break }
            take(&unsent)
            if sentError != nil { terminate() }
        }
        if failure != nil { take(&lastOutput) }
        return written
    }

    /// Checks the header of a frame.
    private func beginFrame(_ bytes: UnsafeRawBufferPointer.SubSequence) throws(Fault) {
        let header = FrameHeader(bytes)
        do throws(FrameGuard.Violation) {
            try frameGuard.check(header)
        } catch {
            terminate(error.code, error.fault)
            throw error.fault
        }
        checkLength(of: header)
        (self.header, frameLeft) = (header, FrameHeader.byteCount + header.length)
    }

    /// Rejects a body that is longer than its Content-Length. nghttp2 would reset the stream, but doesn't report that the body is too long.
    private func checkLength(of header: FrameHeader) {
        guard header.isType(NGHTTP2_DATA), !header.hasFlag(NGHTTP2_FLAG_PADDED), let stream = streams[header.streamID],
            let length = stream.bodyLength, stream.bodyCount + Int64(header.length) > length
        else { return }
        reject(stream, .malformed("the response's body is longer than its Content-Length"), NGHTTP2_PROTOCOL_ERROR)
    }

    private func endFrame() {
        defer { header = nil }
        // nghttp2 doesn't report a frame that ends a body of the wrong length.
        guard let header, header.isType(NGHTTP2_DATA), header.hasFlag(NGHTTP2_FLAG_END_STREAM),
            let stream = streams[header.streamID]
        else { return }
        reject(stream, stream.bodyFault, NGHTTP2_PROTOCOL_ERROR)
    }

    /// Passes bytes of the current frame to nghttp2.
    private func process(_ part: UnsafeRawBufferPointer.SubSequence) throws(Fault) {
        let bytes = UnsafeRawBufferPointer(rebasing: part)
        frameLeft -= bytes.count
        isRunning = true
        let count = nghttp2_session_mem_recv(
            session, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        isRunning = false
        if let failure { throw failure }
        // After an error, nghttp2 allows no requests, and has queued a GOAWAY frame that contains the reason.
        let hasError =
            count < 0 || goAway == nil && !hasSentGoAway && nghttp2_session_check_request_allowed(session) == 0
        guard hasError, nextStreamIDExists || count < 0 else {
            if frameLeft == 0 { endFrame() }
            return
        }
        let fault = count < 0 ? Self.fault(of: Int32(count)) : nil
        terminate(count < 0 ? NGHTTP2_ENHANCE_YOUR_CALM : nil, fault)
        throw failure ?? Fault(.connectionLost, "the HTTP/2 connection failed")
    }

    private var nextStreamIDExists: Bool { nghttp2_session_get_next_stream_id(session) <= UInt32(Int32.max) }

    /// Requests the next frame from nghttp2.
    ///
    /// - Returns: Whether nghttp2 has returned a frame.
    private func pull() -> Bool {
        let (bytes, error) = nextBytes()
        unsent = bytes[...]
        guard let error else { return !bytes.isEmpty }
        if sentError == nil { sentError = error }
        terminate()
        return false
    }

    /// Returns the next bytes from nghttp2, or its error. The bytes are valid until the next call.
    private func nextBytes() -> (bytes: UnsafeBufferPointer<UInt8>, error: Fault?) {
        var data: UnsafePointer<UInt8>?
        isRunning = true
        let count = nghttp2_session_mem_send(session, &data)
        isRunning = false
        return (UnsafeBufferPointer(start: data, count: max(count, 0)), count < 0 ? Self.fault(of: Int32(count)) : nil)
    }

    /// Ends the connection with an error.
    ///
    /// - Parameters:
    ///   - code: The error code to report to the server; nil if nghttp2 has queued the report.
    ///   - fault: The error for the streams. By default, it is nghttp2's description of the error.
    private func terminate(_ code: nghttp2_error_code? = nil, _ fault: Fault? = nil) {
        var last = [UInt8](unsent)
        unsent = UnsafeBufferPointer(start: nil, count: 0)[...]
        if let code { nghttp2_session_terminate_session(session, code.rawValue) }
        // The GOAWAY frame precedes requests and bodies.
        while sentError == nil {
            let bytes = nextBytes().bytes
            guard !bytes.isEmpty else { break }
            last += bytes
        }
        lastOutput = last[...]
        fail(fault ?? sentError ?? .malformed("the HTTP/2 connection failed: \(lastProblem)"))
    }

    private func fail(_ streamFault: (Stream) -> Fault, connection: () -> Fault) {
        guard failure == nil else { return }
        failure = connection()
        let ended = streams.values.sorted { $0.id < $1.id }
        streams = [:]
        for stream in ended {
            stream.handler.streamDidFail(
                HTTP2StreamFailure(fault: streamFault(stream), isUnprocessed: !stream.isSent, errorCode: nil))
        }
    }

    private func check(_ result: Int32) throws(Fault) {
        guard result >= 0 else { throw Self.fault(of: result) }
    }
}
