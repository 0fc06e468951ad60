import AfarHTTP1
import AfarTransport
import Foundation

/// The response: its parser's events, the decision about its head, and its body.
extension HTTPExchange {
    private static let decodedPieceSize = 32 * 1024
    /// How much is read at once, except for a body that isn't copied.
    private static let bufferSize = 64 * 1024
    /// The least memory that is worth reading into instead of copying.
    private static let leastRoom = 32 * 1024
    /// How long decoding may take in one turn, in nanoseconds.
    private static let longestTurn: UInt64 = 10_000_000

    /// Whether more of the response can be taken.
    var mayReceive: Bool {
        guard state.fault == nil, !sending.isResponseComplete, !mustYield, !sending.mustSendAgain else { return false }
        return !state.isSuspended && !state.isReceivingPaused
    }

    /// Whether decoded bytes can follow without more input.
    var hasMoreToDecode: Bool { sending.decoder?.hasMore ?? false }

    /// The memory for the next read. A large part of the body is read into the memory where it stays, everything else into the buffer.
    /// Returns nil, and pauses the exchange, if the stream of the body is full.
    func room(
        atMost limit: Int, or buffer: UnsafeMutableRawBufferPointer
    ) -> UnsafeMutableRawBufferPointer? {
        guard sink.source?.isFull != true else {
            pauseReceiving()
            return nil
        }
        let count = min(Int(clamping: sending.parser.bodyBytesLeft), limit)
        if count >= Self.leastRoom, sending.decoder == nil, sending.heldByteCount == 0 {
            if let room = sink.room, room.count >= Self.leastRoom { return .init(rebasing: room.prefix(count)) }
            if sink.isFile { return .init(rebasing: buffer.prefix(count)) }
        }
        return .init(rebasing: buffer.prefix(Self.bufferSize))
    }

    private func pauseReceiving() {
        state.isReceivingPaused = true
        state.pauseDidChange(at: engine.loop.now)
    }

    /// Takes bytes of the response.
    ///
    /// - Returns: How many were taken. The others are delivered again when the exchange can take more.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> Int {
        var offset = 0
        if sending.responseStart == 0, !bytes.isEmpty { sending.responseStart = MonotonicClock.now }
        while mayReceive {
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
                    "the server refused the expectation (417) when a part of the body was sent, which can't be sent again"
                )
            }
            (sendsExpectation, sending.mustSendAgain) = (false, true)
            return
        }
        sending.responseHead = head
        state.receiveHead(refuses: head.status >= 300, at: engine.loop.now)
        observer?.exchangeDidReceiveHead(head)
        try apply(hop.headArrived(head))
    }

    /// Applies a decision about the head.
    private func apply(_ headDecision: HeadDecision) throws(Fault) {
        guard let head = sending.responseHead else { return }
        switch headDecision {
        case .take(let delivery):
            sending.decision = .taken
            if case .file(let descriptor, let limit)? = delivery, case .file = hop.exchange.delivery {
                sink = BodySink(descriptor: descriptor, limit: limit)
            }
            sending.decoder = ContentDecoder(for: head, options: hop.exchange.options)
            if case .exact(let length)? = sending.parser.bodyLength { sink.expect(length) }
            // What follows belongs to another protocol, or to a response that isn't read.
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
        case .ask(let pending):
            pauseReceiving()
            // The decision may depend on another exchange, which may need a connection to the same host.
            engine.stopCounting(connection)
            // The loop retains the exchange until its end, but the decision may be retained for ever.
            pending.whenGiven { [engine, weak self] headDecision in
                if let self { engine.loop.post(.decided(self, headDecision)) }
            }
        }
    }

    /// The decision about the head was made outside of the loop.
    func decide(_ headDecision: HeadDecision) {
        guard case .awaited = sending.decision, sending.responseHead != nil else { return }
        state.isReceivingPaused = false
        engine.resumeCounting(connection)
        attempt { () throws(Fault) in try apply(headDecision) }
        state.pauseDidChange(at: engine.loop.now)
    }

    /// Takes a part of the body. Returns how many bytes were taken.
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

    /// Decodes one piece.
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

    /// Whether it is known what is done with the response, or its head has not arrived.
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

    /// The server has closed the connection.
    func receiveEnd(isClean: Bool) throws(Fault) {
        if mayBeSentAgain { return sending.mustSendAgain = true }
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

    /// Reading failed, or sending failed and everything that the server had sent was read.
    func connectionFailed(_ fault: Fault) throws(Fault) {
        if mayBeSentAgain { return sending.mustSendAgain = true }
        let end = sending.responseHead == nil ? "the response arrived" : "the end of the response's body"
        throw Fault(fault.code, "\(fault.message) before \(end)", systemError: fault.systemError)
    }
}
