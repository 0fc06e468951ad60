import AfarHTTP1
import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes

/// The response: its heads, the decision about it, and its body.
extension Transfer {
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

    /// Receives lines of heads or trailers. A call usually passes one line. Lines that libcurl read during a pause arrive in a
    /// single call.
    func receive(lines: UnsafeRawBufferPointer) throws(Fault) {
        connectionEstablished()
        state.noteActivity(of: lines.count, at: loop.now)
        var offset = 0
        while response.head == nil, offset < lines.count {
            switch try response.parser.next(in: lines, at: &offset) {
            case .informational(let head):
                state.receiveInformational(at: loop.now)
                observer?.exchangeDidReceiveInformational(head)
            case .head(let head): try receive(head)
            default: return
            }
        }
        guard offset < lines.count else { return }
        try response.parser.receiveTrailers(UnsafeRawBufferPointer(rebasing: lines[offset...]))
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

    /// Whether an `Expect` field is sent. After a 417, libcurl sends a request with this field again, even if the request has
    /// no body.
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
        response.decoder = ContentDecoder(for: head, options: exchange.options).map(PieceDecoder.init)
        try apply(hop.headArrived(head))
    }

    // MARK: The decision

    /// Whether the head has arrived, but the decision about it is pending.
    var isUndecided: Bool { headState == .awaited }

    /// Whether the body is discarded, so its end doesn't matter.
    var isDiscarded: Bool { headState == .discarded && state.fault?.code != .cancelled }

    private func apply(_ decision: HeadDecision) throws(Fault) {
        guard let head = response.head else { return }
        try record(decision, length: response.parser.declaredLength, at: loop.now)
        loop.noteDeadline(of: self)
        guard headState == .accepted, let stream = stream.take() else { return }
        loop.deliver(TransportResponse(head: head, body: .stream(stream)), of: self)
    }

    /// Applies a decision that was made outside of the loop.
    func decide(_ decision: HeadDecision) throws(Fault) {
        guard isUndecided else { return }
        try apply(decision)
        let body = response.held.take()
        guard !body.isEmpty else { return }
        let written = body.withUnsafeBytes { bytes in
            Result { () throws(Fault) in try sink.write(bytes, evenIfFull: true) }
        }
        _ = try written.get()
        reportProgress()
    }

    /// The buffer for the body while the decision is pending; nil if the sink receives the body.
    private var held: GrowingBuffer? { isUndecided && !sink.isMemory ? response.held : nil }

    /// Whether a number of bytes can be held. If not, the transfer pauses and releases its slot, because the pending head decision
    /// may depend on another transfer.
    private func hasRoom(for byteCount: Int, in held: GrowingBuffer) -> Bool {
        if held.count + byteCount <= Self.heldByteLimit { return true }
        loop.releaseSlot(of: self)
        return false
    }

    // MARK: The body

    private func reportProgress() {
        observer?.exchangeDidReceive(
            bytes: sink.byteCount, expected: response.decoder == nil ? response.parser.declaredLength : nil)
    }

    /// Returns whether the bytes were accepted. If not, libcurl stores them and pauses.
    func receive(body: UnsafeRawBufferPointer) throws(Fault) -> Bool {
        try deliverRefusal()
        // libcurl can read 100 buffers in a row before the loop processes a suspension.
        if exchange.control.isSuspended, !isResuming, !state.isSuspended { state.setSuspended(true, at: loop.now) }
        let isPaused = state.isSuspended && (sink.canBeFull || !isResuming)
        let isTaken = if isPaused || mustYield() { false } else { try take(body) }
        if isTaken || response.decoder != nil {
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
        guard let decoder = response.decoder, !isDiscarded else { return try write(body, evenIfFull: isResuming) }
        var rest = UnsafeRawBufferPointer(rebasing: body.dropFirst(response.repeatedCount))
        while !rest.isEmpty || decoder.hasMore {
            guard hasRoomForPiece, !mustYield() else {
                response.repeatedCount = max(response.repeatedCount, body.count - rest.count)
                return false
            }
            // Check this here, because the loop can't end the transfer during this call.
            if mustBeReadToItsEnd, let fault = expiry(at: MonotonicClock.now) { throw fault }
            _ = try write(decoder.decode(&rest), evenIfFull: true)
        }
        response.repeatedCount = max(0, response.repeatedCount - body.count)
        return true
    }

    private var hasRoomForPiece: Bool {
        guard let held else { return sink.source?.isFull != true }
        return hasRoom(for: PieceDecoder.pieceSize, in: held)
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
        guard !mustBeReadToItsEnd, response.decoder != nil || sink.byteCount > 1 << 16 && !isResuming else {
            return false
        }
        let now = MonotonicClock.now
        guard timeSlice.number == loop.iteration else {
            timeSlice = (loop.iteration, now)
            return false
        }
        guard now > timeSlice.start + Self.longestTimeSlice else { return false }
        // The loop resumes the transfer when it processes this message.
        post(.demand)
        return true
    }

    // MARK: Pauses

    /// Whether the response has begun and can't be aborted or paused. If a response over HTTP/2 is aborted or paused, libcurl
    /// before 8.17 leaves data for other streams of the connection in a buffer.
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
