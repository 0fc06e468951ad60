import AfarHTTP1
import AfarTransport
import CNghttp2
import HTTPTypes

extension HTTP2Session {
    static let version = "HTTP/2"
    /// `HTTPFields` traps beyond 65,535 fields.
    private static let largestFieldCount = 65_000
    private static let stop = NGHTTP2_ERR_CALLBACK_FAILURE.rawValue

    /// Returns the session of a callback. The pointer is valid because only methods of the session call nghttp2.
    private static func of(_ context: UnsafeMutableRawPointer?) -> HTTP2Session? {
        context.map { Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func result(_ session: HTTP2Session?, _ body: (HTTP2Session) -> Void) -> Int32 {
        guard let session, session.failure == nil else { return stop }
        body(session)
        return session.failure == nil ? 0 : stop
    }

    func makeSession() -> OpaquePointer? {
        var callbacks: OpaquePointer?
        var option: OpaquePointer?
        defer {
            nghttp2_session_callbacks_del(callbacks)
            nghttp2_option_del(option)
        }
        guard nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2_option_new(&option) == 0 else { return nil }
        nghttp2_option_set_no_auto_window_update(option, 1)
        // Values with white space around them are common and harmless. They are trimmed.
        nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(option, 1)
        // `FrameGuard` limits the size of header blocks.
        afar_set_maximum_continuations(option, configuration.maximumHeaderBlockSize / 16_384 + 8)
        nghttp2_option_set_max_send_header_block_length(option, RequestFields.maximumSize)
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, context in
            HTTP2Session.result(HTTP2Session.of(context)) { session in
                session.block = HeaderBlock(stream: frame.flatMap { session.streams[$0.pointee.hd.stream_id] })
            }
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, _, name, nameCount, value, valueCount, _, context in
            HTTP2Session.result(HTTP2Session.of(context)) { session in
                session.didReceiveField(
                    UnsafeBufferPointer(start: name, count: nameCount),
                    UnsafeBufferPointer(start: value, count: valueCount))
            }
        }
        nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) {
            _, frame, name, nameCount, _, _, _, context in
            // By default, nghttp2 ignores these fields. RFC 9113, section 8.2.1 requires an error.
            HTTP2Session.result(HTTP2Session.of(context)) { session in
                guard let frame, let stream = session.streams[frame.pointee.hd.stream_id] else { return }
                let name = Fault.quoted(UnsafeBufferPointer(start: name, count: nameCount))
                session.reject(
                    stream, .malformed("the name or value of the field \(name) is invalid (RFC 9113, section 8.2.1)"),
                    NGHTTP2_PROTOCOL_ERROR)
            }
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, context in
            HTTP2Session.result(HTTP2Session.of(context)) {
                $0.didReceiveBody(id, UnsafeRawBufferPointer(start: bytes, count: count))
            }
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, context in
            HTTP2Session.result(HTTP2Session.of(context)) { session in
                if let frame { session.didReceive(frame.pointee) }
            }
        }
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, _, context in
            HTTP2Session.result(HTTP2Session.of(context)) { session in
                guard let frame, let stream = session.streams[frame.pointee.hd.stream_id] else { return }
                session.reject(stream, .malformed(session.takeProblem()), NGHTTP2_PROTOCOL_ERROR)
            }
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, context in
            if let session = HTTP2Session.of(context), let frame { session.didSend(frame.pointee) }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, error, context in
            guard let session = HTTP2Session.of(context), let frame, frame.pointee.isType(NGHTTP2_HEADERS),
                let stream = session.streams[frame.pointee.hd.stream_id]
            else { return 0 }
            let reason = nghttp2_strerror(error).map { String(cString: $0) } ?? "\(error)"
            session.reject(
                stream, Fault(.connectionLost, "the request can't be sent over this connection: \(reason)"),
                NGHTTP2_CANCEL)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, context in
            HTTP2Session.of(context)?.didClose(id, code)
            return 0
        }
        nghttp2_session_callbacks_set_error_callback2(callbacks) { _, _, message, count, context in
            let bytes = UnsafeRawBufferPointer(start: message, count: count)
            HTTP2Session.of(context)?.lastProblem = String(decoding: bytes.prefix(200), as: UTF8.self)
            return 0
        }
        var session: OpaquePointer?
        let context = Unmanaged.passUnretained(self).toOpaque()
        return nghttp2_session_client_new2(&session, callbacks, context, option) == 0 ? session : nil
    }

    // MARK: Receiving

    private func didReceiveField(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        guard let stream = block.stream else { return }
        // The size of the line in HTTP/1.1: with a colon, a space, CR and LF.
        stream.headSize += name.count + value.count + 4
        guard stream.headSize <= configuration.maximumHeadSize else {
            return reject(
                stream, Fault(.headTooLarge, "the response's head exceeds \(configuration.maximumHeadSize) bytes"),
                NGHTTP2_CANCEL)
        }
        guard name.first != UInt8(ascii: ":") else {
            // nghttp2 has checked that this is `:status`, with three digits.
            block.status = value.reduce(0) { $0 * 10 + Int($1 & 0x0F) }
            return
        }
        block.fieldCount += 1
        let maximum = min(configuration.maximumFieldCount, Self.largestFieldCount)
        guard block.fieldCount <= maximum else {
            return reject(
                stream, Fault(.headTooLarge, "the response's head has more than \(maximum) fields"), NGHTTP2_CANCEL)
        }
        block.append(name, value)
    }

    private func didReceiveBody(_ id: Int32, _ bytes: UnsafeRawBufferPointer) {
        consumeConnection(bytes.count)
        guard let stream = streams[id] else { return }
        allowFrames(1)
        stream.bodyCount += Int64(bytes.count)
        stream.unconsumed += bytes.count
        // nghttp2 reports a frame that exceeds the window, and only then resets the stream. Until the server has received the
        // settings, the window has its default size.
        guard stream.unconsumed <= max(configuration.streamWindow, 65_535) else {
            return reject(
                stream, .malformed("the server sent more bytes than the stream's window allows"),
                NGHTTP2_FLOW_CONTROL_ERROR)
        }
        stream.handler.streamDidReceiveBody(bytes)
    }

    private func didReceive(_ frame: nghttp2_frame) {
        if frame.isType(NGHTTP2_SETTINGS) {
            if !frame.hasFlag(NGHTTP2_FLAG_ACK) { hasReceivedSettings = true }
        } else if frame.isType(NGHTTP2_PING) {
            if frame.hasFlag(NGHTTP2_FLAG_ACK), pendingPingCount > 0 { pendingPingCount -= 1 }
        } else if frame.isType(NGHTTP2_GOAWAY) {
            didReceiveGoAway(frame.goaway)
        } else if frame.isType(NGHTTP2_HEADERS) {
            didReceiveHeaders(frame)
        } else if frame.isType(NGHTTP2_DATA), frame.hasFlag(NGHTTP2_FLAG_END_STREAM) {
            if let stream = streams[frame.hd.stream_id] { end(stream) }
        }
    }

    private func didReceiveHeaders(_ frame: nghttp2_frame) {
        let block = block
        self.block = HeaderBlock()
        guard let stream = block.stream else { return }
        allowFrames(1)
        if stream.hasHead {
            // `RawHead` skips the status line.
            let fields = RawHead(bytes: block.lines).fields().filter { !$0.name.isForbiddenInTrailers }
            if !fields.isEmpty { stream.handler.streamDidReceiveTrailers(HTTPFields(fields)) }
        } else {
            guard block.status >= 100, block.status != 101 else {
                return reject(
                    stream, .malformed("the status \(block.status) is invalid in HTTP/2 (RFC 9113, section 8.6)"),
                    NGHTTP2_PROTOCOL_ERROR)
            }
            let head = ResponseHead(
                status: block.status, httpVersion: Self.version, raw: RawHead(bytes: block.lines), url: stream.url)
            guard block.status >= 200 else { return didReceiveInformational(head, stream) }
            stream.head = head
            stream.handler.streamDidReceiveHead(head)
        }
        // The handler may have canceled the stream.
        if frame.hasFlag(NGHTTP2_FLAG_END_STREAM), failure == nil, streams[stream.id] === stream { end(stream) }
    }

    private func didReceiveInformational(_ head: ResponseHead, _ stream: Stream) {
        stream.informationalCount += 1
        guard stream.informationalCount <= configuration.maximumInformationalResponses else {
            return reject(
                stream,
                .malformed("more than \(configuration.maximumInformationalResponses) informational (1xx) responses"),
                NGHTTP2_CANCEL)
        }
        stream.handler.streamDidReceiveInformational(head)
    }

    private func didReceiveGoAway(_ frame: nghttp2_goaway) {
        let message = UnsafeRawBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len)
        goAway = GoAway(
            lastStreamID: frame.last_stream_id, errorCode: frame.error_code,
            message: message.isEmpty ? "" : Fault.quoted(message))
        // nghttp2 closes a refused stream only if its request head has been written.
        for stream in streams.values.sorted(by: { $0.id < $1.id }) where !stream.isSent {
            fail(stream, refusal)
        }
    }

    /// The failure of a request that the server hasn't processed before closing the connection.
    private var refusal: HTTP2StreamFailure {
        HTTP2StreamFailure(
            fault: Fault(
                .connectionLost,
                "the server closed the HTTP/2 connection\(goAway?.reason ?? "") without processing the request"),
            isUnprocessed: true, errorCode: nil)
    }

    // MARK: Closing

    private func didClose(_ id: Int32, _ code: UInt32) {
        guard let stream = streams[id] else { return }
        if code == NGHTTP2_REFUSED_STREAM.rawValue, !stream.hasHead, let goAway, id > goAway.lastStreamID {
            return fail(stream, refusal)
        }
        let fault =
            if stream.hasHead {
                Fault(
                    .bodyIncomplete,
                    "the server reset the stream (\(Self.name(of: code))) before the end of the response")
            } else {
                Fault(.connectionLost, "the server reset the stream (\(Self.name(of: code))) without a response")
            }
        // RFC 9113, section 8.7. A server that has sent a head has processed the request.
        let isUnprocessed = code == NGHTTP2_REFUSED_STREAM.rawValue && !stream.hasHead
        fail(stream, HTTP2StreamFailure(fault: fault, isUnprocessed: isUnprocessed, errorCode: code))
    }

    private func takeProblem() -> String {
        defer { lastProblem = "" }
        return lastProblem.isEmpty ? "an HTTP/2 frame is invalid" : lastProblem
    }

    // MARK: Sending

    private func didSend(_ frame: nghttp2_frame) {
        if frame.isType(NGHTTP2_HEADERS) {
            streams[frame.hd.stream_id]?.isSent = true
        } else if frame.isType(NGHTTP2_RST_STREAM) {
            // nghttp2 found an error that it reports in no other way.
            guard let stream = streams[frame.hd.stream_id] else { return }
            let code = frame.rst_stream.error_code
            let fault =
                stream.hasHead && code == NGHTTP2_PROTOCOL_ERROR.rawValue
                ? stream.bodyFault : .malformed("HTTP/2 stream error \(Self.name(of: code)): \(takeProblem())")
            fail(stream, HTTP2StreamFailure(fault: fault, isUnprocessed: false))
        } else if frame.isType(NGHTTP2_DATA) {
            // A server can respond with updates of two windows: the stream's and the connection's.
            allowFrames(4)
        } else if frame.isType(NGHTTP2_GOAWAY), frame.goaway.error_code != NGHTTP2_NO_ERROR.rawValue {
            let reason = UnsafeRawBufferPointer(start: frame.goaway.opaque_data, count: frame.goaway.opaque_data_len)
            let detail = reason.isEmpty ? lastProblem : String(decoding: reason, as: UTF8.self)
            sentError = .malformed(
                "HTTP/2 connection error \(Self.name(of: frame.goaway.error_code))\(detail.isEmpty ? "" : ": \(detail)")"
            )
        }
    }

    /// Reads request bodies from the handlers.
    var bodySource: nghttp2_data_provider {
        nghttp2_data_provider(source: nghttp2_data_source()) { _, id, buffer, count, flags, _, context in
            guard let session = HTTP2Session.of(context), session.failure == nil, let stream = session.streams[id],
                let flags
            else { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
            return session.readBody(
                of: stream, UnsafeMutableRawBufferPointer(start: buffer, count: count), &flags.pointee)
        }
    }

    private func readBody(
        of stream: Stream, _ buffer: UnsafeMutableRawBufferPointer, _ flags: inout UInt32
    ) -> Int {
        do throws(Fault) {
            switch try stream.handler.readBody(into: buffer) {
            case .bytes(let count, let isLast) where count > 0 || isLast:
                guard (0...buffer.count).contains(count) else {
                    throw Fault(.invalidUse, "a body's reader returned an invalid number of bytes")
                }
                if let left = stream.bodyLeft { try checkLength(left - Int64(count), isLast: isLast) }
                stream.bodyLeft = stream.bodyLeft.map { $0 - Int64(count) }
                if isLast { flags |= NGHTTP2_DATA_FLAG_EOF.rawValue }
                return count
            case .bytes, .wait: return Int(NGHTTP2_ERR_DEFERRED.rawValue)
            case .trailers(let trailers):
                if let left = stream.bodyLeft { try checkLength(left, isLast: true) }
                let fields = try RequestFields(trailers: trailers)
                flags |= NGHTTP2_DATA_FLAG_EOF.rawValue
                guard !fields.isEmpty else { return 0 }
                flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
                guard submitTrailers(fields, of: stream.id) else {
                    throw Fault(.requestBodyFailed, "the request's trailers can't be sent")
                }
                return 0
            }
        } catch {
            reject(stream, error, NGHTTP2_CANCEL)
            return Int(NGHTTP2_ERR_DEFERRED.rawValue)
        }
    }

    private func checkLength(_ left: Int64, isLast: Bool) throws(Fault) {
        if left < 0 { throw Fault(.requestBodyFailed, "the request's body is longer than its declared length") }
        if left > 0, isLast { throw Fault(.requestBodyFailed, "the request's body ended \(left) bytes too early") }
    }
}

extension nghttp2_frame {
    fileprivate func isType(_ type: nghttp2_frame_type) -> Bool { UInt32(hd.type) == type.rawValue }

    fileprivate func hasFlag(_ flag: nghttp2_flag) -> Bool { UInt32(hd.flags) & flag.rawValue != 0 }
}
