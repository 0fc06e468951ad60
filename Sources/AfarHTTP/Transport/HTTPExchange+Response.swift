import AfarHTTP1
import AfarTransport
import Foundation

/// Handles the response: the parser's events, the decision whether to accept the head (`HeadDecision`), and the body.
extension HTTPExchange {
    private static let decodedPieceSize = 32 * 1024
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

    private func nextEvent(
        in bytes: UnsafeRawBufferPointer, at offset: inout Int
    ) throws(Fault) -> ResponseParser.Event? {
        let start = offset
        let isHead = sending.responseHead == nil
        do throws(HTTP1Error) {
            let event = try sending.parser.next(in: bytes, at: &offset)
            if isHead, offset > start {
                state.noteActivity(of: offset - start, at: engine.loop.now)
                if event == nil { state.beginHead(at: engine.loop.now) }
            }
            return event
        } catch {
            throw Fault(error)
        }
    }

    private func receiveInformational(_ head: ResponseHead) {
        state.receiveInformational(at: engine.loop.now)
        if head.status == 100 {
            sending.hasReceivedContinue = true
            sending.expectationDeadline = nil
        }
        observer?.exchangeDidReceiveInformational(head)
    }

    func receive(_ head: ResponseHead) throws(Fault) {
        sending.expectationDeadline = nil
        if isLateTimeout(head) { return sending.mustSendAgain = true }
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
    private func apply(_ headDecision: HeadDecision) throws(Fault) {
        guard let head = sending.responseHead else { return }
        switch headDecision {
        case .take(let delivery):
            sending.decision = .accepted
            if case .file(let descriptor, let limit)? = delivery, case .file = hop.exchange.delivery {
                sink = BodySink(descriptor: descriptor, limit: limit)
            }
            sending.decoder = ContentDecoder(for: head, options: hop.exchange.options)
            if case .exact(let length)? = sending.parser.bodyLength { sink.expect(length) }
            // Later bytes belong to another protocol, or aren't read.
            if key.purpose != .requests { sending.isResponseComplete = true }
            guard let stream else { return }
            self.stream = nil
            engine.deliver(TransportResponse(head: head, body: .stream(stream)), of: self)
        case .discard(let limit):
            sending.decision = .discarded
            sink = BodySink(discarding: limit)
            state.discard(at: engine.loop.now)
            engine.noteDeadline(of: self)
            if case .exact(let length)? = sending.parser.bodyLength, length > limit { throw .discarded }
        case .refuse(let error):
            throw Fault(.cancelled, "the response's head was refused", underlying: error)
        case .deferred(let pending):
            pauseReceiving()
            // The decision may depend on another exchange that needs a connection to the same host.
            engine.stopCounting(connection)
            // The reference is weak because the decision may be retained forever. The loop retains the exchange until its end.
            pending.whenDecided { [engine, weak self] headDecision in
                if let self { engine.loop.post(.decided(self, headDecision)) }
            }
        }
    }

    /// Applies a decision that was made outside of the loop.
    func decide(_ headDecision: HeadDecision) {
        guard case .awaited = sending.decision, sending.responseHead != nil else { return }
        state.isReceivingPaused = false
        engine.resumeCounting(connection)
        attempt { () throws(Fault) in try apply(headDecision) }
        state.pauseDidChange(at: engine.loop.now)
    }

    /// Consumes a part of the body. Returns the number of bytes consumed.
    private func take(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> Int {
        guard sink.source?.isFull != true else {
            pauseReceiving()
            return 0
        }
        var taken = bytes.count
        if let coding = sending.decoder, !isDiscarded {
            taken = try decode(bytes, with: coding)
        } else {
            _ = try sink.write(bytes, evenIfFull: true)
        }
        state.noteActivity(of: taken, at: engine.loop.now)
        if !isDiscarded { observer?.exchangeDidReceive(bytes: sink.byteCount, expected: expectedByteCount) }
        return taken
    }

    /// Decodes a piece of the body. Returns the number of bytes consumed.
    private func decode(_ bytes: UnsafeRawBufferPointer, with coding: ContentDecoder) throws(Fault) -> Int {
        let now = MonotonicClock.now
        if turnStart == 0 { turnStart = now }
        guard now < turnStart + Self.longestTurn else {
            mustYield = true
            return 0
        }
        let room = piece ?? .allocate(byteCount: Self.decodedPieceSize, alignment: 16)
        piece = room
        var rest = bytes
        let count: Int
        do throws(TransportError) {
            count = try coding.decode(&rest, into: room)
        } catch {
            throw Fault(error)
        }
        _ = try sink.write(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(room)[..<count]), evenIfFull: true)
        return bytes.count - rest.count
    }

    /// Whether the decision about the response has been made, or isn't needed yet because the head hasn't arrived.
    var isDecided: Bool { if case .awaited = sending.decision { sending.responseHead == nil } else { true } }

    var isDiscarded: Bool { if case .discarded = sending.decision { true } else { false } }

    private var expectedByteCount: Int64? {
        if sending.decoder == nil, case .exact(let length)? = sending.parser.bodyLength { length } else { nil }
    }

    private func endResponse() throws(Fault) {
        if !isDiscarded, let coding = sending.decoder {
            do throws(TransportError) { try coding.finish() } catch { throw Fault(error) }
        }
        sending.isResponseComplete = true
    }

    /// Ends the response at the end of the connection, or marks the request to be sent again.
    func receiveEnd(isClean: Bool) throws(Fault) {
        if canBeResent { return sending.mustSendAgain = true }
        let isAuthentic = isClean || hop.exchange.options.acceptsBodiesWithoutTLSCloseNotify
        do throws(HTTP1Error) {
            if case .end? = try sending.parser.receiveEndOfInput(isClean: isAuthentic) { try endResponseAtClose() }
        } catch {
            throw Fault(error)
        }
    }

    private func endResponseAtClose() throws(HTTP1Error) {
        do throws(Fault) { try endResponse() } catch { state.fail(error) }
    }

    /// Called when the connection has failed and everything that the server sent has been read.
    func connectionFailed(_ fault: Fault) throws(Fault) {
        if canBeResent { return sending.mustSendAgain = true }
        let end = sending.responseHead == nil ? "the response arrived" : "the end of the response's body"
        throw Fault(fault.code, "\(fault.message) before \(end)", systemError: fault.systemError)
    }
}
