import AfarHTTP1
import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes

/// The response: its heads, the decision about it, and its body.
extension Transfer {
    enum Decision {
        /// The head has not arrived.
        case none
        /// The decision is pending. The body is held here if it isn't collected in memory.
        case awaited(held: GrowingBuffer)
        case accepted
        case discarded
    }

    /// The end of a transfer that libcurl finished before the decision was made.
    struct PendingResult {
        let code: CURLcode
        let report: TransportReport
        let failure: TransportError?
    }

    /// The maximum number of body bytes that are held until the decision. If more arrive, the transfer pauses.
    private static let heldByteLimit = 64 * 1024
    /// The maximum time that a transfer uses in one turn of the loop, in nanoseconds.
    private static let longestTimeSlice: UInt64 = 10_000_000

    // MARK: Heads

    /// Receives lines of heads or trailers. Each call passes one line. Lines that libcurl read during a pause arrive together.
    func receive(lines: UnsafeRawBufferPointer) throws(Fault) {
        connectionEstablished()
        state.noteActivity(of: lines.count, at: loop.now)
        var offset = 0
        while response.parser.bodyLength == nil, offset < lines.count {
            let event: ResponseParser.Event?
            do { event = try response.parser.next(in: lines, at: &offset) } catch { throw Fault(error) }
            switch event {
            case .informational(let head):
                state.receiveInformational(at: loop.now)
                observer?.exchangeDidReceiveInformational(head)
            case .head(let head): try receive(head)
            default: return
            }
        }
        guard offset < lines.count else { return }
        do {
            try response.parser.receiveTrailers(UnsafeRawBufferPointer(rebasing: lines[offset...]))
        } catch {
            throw Fault(error)
        }
    }

    private func receive(_ head: ResponseHead) throws(Fault) {
        response.head = head
        // After a refusal or a redirect, libcurl stops sending, but it never ends a transfer whose sending is paused. A request
        // with an authentication message doesn't send the body, so none of the body has been read.
        if head.status >= 300, let feed, authentication == nil || feed.byteCount > 0 || state.isSendingPaused {
            loop.noteRefusal(of: self)
        }
        if head.status == 417 && hasExpectation || head.status == 401 && authentication != nil {
            response.refusal = head
        } else {
            try deliver(head)
        }
    }

    /// Whether the body waits for `100 (Continue)` (RFC 9110, section 10.1.1).
    private var hasExpectation: Bool {
        exchange.request.headerFields.contains(.expect) || exchange.options.defaultFields.fields.contains(.expect)
    }

    /// Delivers a 417 or a 401 that turned out to be the final response.
    func deliverRefusal() throws(Fault) {
        if let head = response.refusal.take() { try deliver(head) }
    }

    private func deliver(_ head: ResponseHead) throws(Fault) {
        reportSmallBody()
        state.receiveHead(needsNoMoreBody: head.status >= 300, at: loop.now)
        observer?.exchangeDidReceiveHead(head)
        response.decoding = BodyDecoding(head, exchange.options)
        try apply(hop.headArrived(head))
    }

    // MARK: The decision

    var isUndecided: Bool { if case .awaited = response.decision { true } else { false } }

    /// Whether the body is discarded, so its end doesn't matter.
    var isDiscarded: Bool {
        if case .discarded = response.decision, state.fault?.code != .cancelled { true } else { false }
    }

    private func apply(_ headDecision: HeadDecision) throws(Fault) {
        guard let head = response.head else { return }
        switch headDecision {
        case .take(let delivery):
            response.decision = .accepted
            if case .file(let descriptor, let limit)? = delivery, case .file = exchange.delivery {
                sink = BodySink(descriptor: descriptor, limit: limit)
            }
            sink.expect(declaredLength)
            guard let stream else { return }
            self.stream = nil
            loop.deliver(TransportResponse(head: head, body: .stream(stream)), of: self)
        case .discard(let limit):
            response.decision = .discarded
            let read = sink.byteCount
            sink = BodySink(discarding: limit)
            state.discard(at: loop.now)
            loop.noteDeadline(of: self)
            guard declaredLength ?? 0 <= limit, read <= limit else { throw .discarded }
        case .refuse(let error):
            throw Fault(.cancelled, "the response's head was refused", underlying: error)
        case .deferred(let pending):
            response.decision = .awaited(held: GrowingBuffer())
            // The reference is weak because the decision may be retained forever. The loop retains the transfer until its end.
            pending.whenDecided { [loop, weak self] headDecision in
                if let self { loop.post(.decided(self, headDecision)) }
            }
        }
    }

    /// Applies a decision that was made outside of the loop.
    func decide(_ headDecision: HeadDecision) throws(Fault) {
        guard case .awaited(let held) = response.decision else { return }
        try apply(headDecision)
        guard !isUndecided else { return }
        let body = held.take()
        guard !body.isEmpty else { return }
        let written = body.withUnsafeBytes { bytes in
            Result { () throws(Fault) in try sink.write(bytes, evenIfFull: true) }
        }
        _ = try written.get()
        reportProgress()
    }

    /// The buffer for the body while the decision is pending; nil if the sink receives it.
    private var held: GrowingBuffer? {
        if case .awaited(let held) = response.decision, !sink.isMemory { held } else { nil }
    }

    /// Whether a number of bytes can be held. If not, the transfer pauses and releases its slot, because the pending head decision
    /// may depend on another transfer.
    private func hasRoom(for byteCount: Int, in held: GrowingBuffer) -> Bool {
        if held.count + byteCount <= Self.heldByteLimit { return true }
        loop.releaseSlot(of: self)
        return false
    }

    // MARK: The body

    /// The length of the body as transferred; nil if the response doesn't declare it.
    var declaredLength: Int64? {
        switch response.parser.bodyLength {
        case .exact(let length): length
        case ResponseParser.BodyLength.none?: 0
        case .unknown, nil: nil
        }
    }

    private func reportProgress() {
        observer?.exchangeDidReceive(
            bytes: sink.byteCount, expected: response.decoding == nil ? declaredLength : nil)
    }

    /// Returns whether the bytes were accepted. If not, libcurl stores them and pauses.
    func receive(body: UnsafeRawBufferPointer) throws(Fault) -> Bool {
        try deliverRefusal()
        // libcurl can read 100 buffers in a row before the loop processes a suspension.
        if exchange.control.isSuspended, !isResuming, !state.isSuspended { state.setSuspended(true, at: loop.now) }
        let isPaused = state.isSuspended && (sink.canBeFull || !isResuming)
        let isTaken = if isPaused || mustYield() { false } else { try take(body) }
        if isTaken || response.decoding != nil {
            if sink.canBeFull { loop.flushLater(self) }
            reportProgress()
        }
        guard isTaken else {
            if !state.isSuspended { state.isReceivingPaused = true }
            state.pauseDidChange(at: loop.now)
            return false
        }
        state.noteActivity(of: body.count, at: loop.now)
        return true
    }

    private func take(_ body: UnsafeRawBufferPointer) throws(Fault) -> Bool {
        guard let decoding = response.decoding, !isDiscarded else {
            return try write(body, evenIfFull: isResuming)
        }
        var rest = decoding.undecodedBytes(of: body)
        while !rest.isEmpty || decoding.hasMore {
            guard hasRoomForPiece, !mustYield() else {
                decoding.didReject(body, rest: rest)
                return false
            }
            // Check this here, because the loop can't end the transfer during this call.
            if mustBeReadToItsEnd, let fault = interruption { throw fault }
            _ = try write(decoding.decode(&rest), evenIfFull: true)
        }
        decoding.didConsume(body)
        return true
    }

    private var hasRoomForPiece: Bool {
        guard let held else { return sink.source?.isFull != true }
        return hasRoom(for: BodyDecoding.pieceSize, in: held)
    }

    private func write(_ bytes: UnsafeRawBufferPointer, evenIfFull: Bool) throws(Fault) -> Bool {
        guard let held else { return try sink.write(bytes, evenIfFull: evenIfFull) == .written }
        guard hasRoom(for: bytes.count, in: held) else { return false }
        guard held.append(bytes) else { throw Fault(.outOfResources, "no memory for the response's body") }
        return true
    }

    /// Whether the transfer must wait for its next turn. libcurl can read 100 buffers in a row. A buffer can consist of chunks of
    /// one byte, or decode to any length.
    private func mustYield() -> Bool {
        guard !mustBeReadToItsEnd, response.decoding != nil || sink.byteCount > 1 << 16 && !isResuming else {
            return false
        }
        let now = MonotonicClock.now
        guard timeSlice.number == loop.iteration else {
            timeSlice = (loop.iteration, now)
            return false
        }
        guard now > timeSlice.start + Self.longestTimeSlice else { return false }
        // The transfer pauses until the loop has processed its messages.
        loop.post(.demand(self))
        return true
    }

    // MARK: Pauses

    /// Whether the response has begun and can't be aborted or paused. Before 8.17, either would make libcurl's HTTP/2 leave data
    /// for other streams of the connection in a buffer.
    var mustBeReadToItsEnd: Bool {
        attempt.isShared && response.head != nil && !CurlLibrary.shared.pausesStreams
    }

    /// Pauses and resumes sending and receiving.
    ///
    /// libcurl delivers the stored bytes during this call, and all of them are accepted. If a part of a decoded buffer were
    /// refused, libcurl would copy the rest of the buffer for each refusal.
    func applyPauses(to handle: EasyHandle) -> CURLcode {
        isResuming = true
        let code = curl_easy_pause(handle.raw, pauseMask)
        isResuming = false
        sink.flush()
        guard code == CURLE_OK, !state.isReceivingPaused, sink.source?.isFull == true else { return code }
        state.isReceivingPaused = true
        return curl_easy_pause(handle.raw, pauseMask)
    }

    /// The paused directions, as libcurl's `CURLPAUSE_…` bits.
    private var pauseMask: Int32 {
        if state.isSuspended { return CURLPAUSE_RECV | CURLPAUSE_SEND }
        return (state.isReceivingPaused ? CURLPAUSE_RECV : 0) | (state.isSendingPaused ? CURLPAUSE_SEND : 0)
    }
}
