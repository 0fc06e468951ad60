import AfarHTTP1
import AfarTransport
import Foundation

/// Handles the response: the parser's events, the decision whether to accept the head (`HeadDecision`), and the body.
extension HTTPExchange {
    /// The size of a read, except for a body that doesn't need to be copied.
    private static let bufferSize = 64 * 1024
    /// The minimum number of bytes to read directly into the body's destination. Fewer bytes are copied.
    private static let minimumRoom = 32 * 1024
    /// The maximum time for decoding in one turn, in nanoseconds.
    private static let longestTurn: UInt64 = 10_000_000

    /// Whether more of the response can be received.
    var canReceive: Bool {
        guard state.fault == nil, !sending.isResponseComplete, !mustYield, !sending.mustSendAgain else { return false }
        return !state.isSuspended && !state.isReceivingPaused
    }

    /// Whether the decoder can return more bytes without further input.
    var hasMoreToDecode: Bool { sending.decoder?.hasMore ?? false }

    /// Returns the memory for the next read. Large parts of a body are read directly into their destination, and everything else is
    /// read into the buffer. If the body's stream is full, returns nil and pauses the exchange.
    func room(
        atMost limit: Int, or buffer: UnsafeMutableRawBufferPointer
    ) -> UnsafeMutableRawBufferPointer? {
        guard sink.source?.isFull != true else {
            pauseReceiving()
            return nil
        }
        let count = min(Int(clamping: sending.parser.bodyBytesLeft), limit)
        if count >= Self.minimumRoom, sending.decoder == nil, sending.heldByteCount == 0 {
            if let room = sink.room, room.count >= Self.minimumRoom { return .init(rebasing: room.prefix(count)) }
            if sink.isFile { return .init(rebasing: buffer.prefix(count)) }
        }
        return .init(rebasing: buffer.prefix(Self.bufferSize))
    }

    private func pauseReceiving() {
        state.isReceivingPaused = true
        state.pauseDidChange(at: engine.loop.now)
    }

    /// Receives bytes of the response.
    ///
    /// - Returns: The number of bytes that were consumed. The remaining bytes are delivered again when the exchange can receive more.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> Int {
        var offset = 0
        if sending.responseStart == 0, !bytes.isEmpty { sending.responseStart = MonotonicClock.now }
        while canReceive {
            if sending.heldByteCount > 0 || hasMoreToDecode {
                let end = offset + min(sending.heldByteCount, bytes.count - offset)
                let taken = try take(UnsafeRawBufferPointer(rebasing: bytes[offset..<end]))
                offset += taken
                sending.heldByteCount -= taken
                continue
            }
            switch try nextEvent(in: bytes, at: &offset) {
            case nil: return offset
            case .informational(let head): receiveInformational(head)
            case .head(let head): try receive(head)
            case .body(let range):
                offset = range.lowerBound
                sending.heldByteCount = range.count
            case .end: try endResponse()
            }
        }
        return offset
    }

    /// Receives bytes of the response's body over HTTP/2. Returns the number of bytes that were consumed.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> Int {
        var offset = 0
        while canReceive, offset < bytes.count || hasMoreToDecode {
            offset += try take(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
        }
        return offset
    }

    private func nextEvent(
        in bytes: UnsafeRawBufferPointer, at offset: inout Int
    ) throws(Fault) -> ResponseParser.Event? {
        let start = offset
        let isHead = sending.responseHead == nil
        let event = try sending.parser.next(in: bytes, at: &offset)
        if isHead, offset > start {
            state.noteActivity(of: offset - start, at: engine.loop.now)
            if event == nil { state.beginHead(at: engine.loop.now) }
        }
        return event
    }

    func receiveInformational(_ head: ResponseHead) {
        state.receiveInformational(at: engine.loop.now)
        if head.status == 100 {
            sending.hasReceivedContinue = true
            sending.expectationDeadline = .max
        }
        observer?.exchangeDidReceiveInformational(head)
    }

    func receive(_ head: ResponseHead) throws(Fault) {
        sending.expectationDeadline = .max
        if isLateTimeout(head) { return sending.mustSendAgain = true }
        if isMisdirected(head) {
            if let connection, sending.http2 != nil { engine.stopSharing(connection) }
            return sending.mustSendAgain = true
        }
        if head.status == 417, sendsExpectation {
            guard rewindBody() else {
                throw Fault(
                    .requestBodyFailed,
                    "the server refused the expectation (417) after a part of the body was sent, which can't be sent again"
                )
            }
            (sendsExpectation, sending.mustSendAgain) = (false, true)
            return
        }
        sending.responseHead = head
        state.receiveHead(needsNoMoreBody: head.status >= 300, at: engine.loop.now)
        observer?.exchangeDidReceiveHead(head)
        try apply(hop.headArrived(head))
    }

    /// Applies a decision about the head.
    private func apply(_ decision: HeadDecision) throws(Fault) {
        guard let head = sending.responseHead else { return }
        try record(decision, length: declaredLength, at: engine.loop.now)
        switch headState {
        case .accepted:
            sending.decoder = ContentDecoder(for: head, options: hop.exchange.options).map(PieceDecoder.init)
            // Later bytes belong to another protocol, or aren't read.
            if key.purpose != .requests { sending.isResponseComplete = true }
            guard let stream = stream.take() else { return }
            var response = TransportResponse(head: head, body: .stream(stream))
            if isTunnel {
                response.report = report
                if !state.needsNoMoreBody { state.becomeTunnel() }
                // A tunnel can occupy its stream for a long time.
                engine.makeRoom(beside: connection)
            }
            engine.deliver(response, of: self)
        case .awaited:
            pauseReceiving()
            // The decision may depend on another exchange that needs a connection to the same host.
            engine.makeRoom(beside: connection)
        case .discarded:
            // The response of a tunnel doesn't end, so it counts as complete.
            if isTunnel { sending.isResponseComplete = true }
            engine.noteDeadline(of: self)
        case .none: break
        }
    }

    /// Applies a decision that was made outside of the loop.
    func decide(_ decision: HeadDecision) {
        guard isUndecided else { return }
        state.isReceivingPaused = false
        if sending.http2 == nil { engine.resumeCounting(connection) }
        recordingFault { () throws(Fault) in try apply(decision) }
        state.pauseDidChange(at: engine.loop.now)
    }

    /// Consumes a part of the body. Returns the number of bytes consumed.
    private func take(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> Int {
        guard sink.source?.isFull != true else {
            pauseReceiving()
            return 0
        }
        var taken = bytes.count
        if let decoder = sending.decoder, !isDiscarded {
            guard hasTimeToDecode() else { return 0 }
            var rest = bytes
            _ = try sink.write(decoder.decode(&rest), evenIfFull: true)
            taken -= rest.count
        } else {
            _ = try sink.write(bytes, evenIfFull: true)
        }
        state.noteActivity(of: taken, at: engine.loop.now)
        if !isDiscarded, let observer {
            observer.exchangeDidReceive(
                bytes: sink.byteCount, expected: sending.decoder == nil ? declaredLength : nil)
        }
        return taken
    }

    /// Whether more can be decoded in this turn.
    private func hasTimeToDecode() -> Bool {
        let now = MonotonicClock.now
        if turnStart == 0 { turnStart = now }
        mustYield = now >= turnStart + Self.longestTurn
        return !mustYield
    }

    /// Whether the head has arrived, but the decision about it is pending.
    var isUndecided: Bool { headState == .awaited }

    var isDiscarded: Bool { headState == .discarded }

    func endResponse() throws(Fault) {
        if !isDiscarded { try sending.decoder?.finish() }
        sending.isResponseComplete = true
    }

    /// Ends the response at the end of the connection, or marks the request to be sent again.
    func receiveEnd(isClean: Bool) throws(Fault) {
        if canBeResent { return sending.mustSendAgain = true }
        let isAuthentic = isClean || hop.exchange.options.acceptsBodiesWithoutTLSCloseNotify
        if case .end? = try sending.parser.receiveEndOfInput(isClean: isAuthentic) { try endResponse() }
    }

    /// Called when the connection has failed and everything that the server sent has been read.
    func connectionFailed(_ fault: Fault) throws(Fault) {
        if canBeResent { return sending.mustSendAgain = true }
        let end = sending.responseHead == nil ? "the response arrived" : "the end of the response's body"
        throw Fault(fault.code, "\(fault.message) before \(end)", systemError: fault.systemError)
    }
}
