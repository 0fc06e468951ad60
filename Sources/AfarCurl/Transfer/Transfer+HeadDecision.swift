import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes

/// What is done with a response once its head is there.
extension Transfer {
    enum Decision {
        /// There is no head yet.
        case none
        /// Somebody is asked. What has come of a body that is not for memory waits here.
        case awaited(held: GrowingBuffer)
        case taken
        case discarded
    }

    /// The end of a transfer that was over before the decision was given.
    struct EarlyEnd {
        let code: CURLcode
        let report: TransportReport
        let failure: TransportError?
    }

    /// As much waits for the decision; then the transfer does.
    private static let mostHeld = 64 * 1024

    var isUndecided: Bool { if case .awaited = decision { true } else { false } }

    /// Whether nobody wants the body, so that it does not matter how it ends.
    var isDiscarded: Bool {
        if case .discarded = decision, state.fault?.code != .cancelled { true } else { false }
    }

    func apply(_ headDecision: HeadDecision, about head: ResponseHead) throws(Fault) {
        switch headDecision {
        case .take(let delivery):
            decision = .taken
            if case .file(let descriptor, let limit)? = delivery, case .file = exchange.delivery {
                sink = BodySink(descriptor: descriptor, limit: limit)
            }
            takeBody(of: head)
        case .discard(let limit):
            decision = .discarded
            let read = sink.byteCount
            sink = BodySink(discarding: limit)
            state.discard(at: loop.now)
            loop.noteDeadline(of: self)
            let length = plan.method == .head ? 0 : reader.contentLength ?? 0
            guard length <= limit, read <= limit else { throw .discarded }
        case .refuse(let error):
            throw Fault(.cancelled, "the response's head was refused", underlying: error)
        case .ask(let pending):
            decision = .awaited(held: GrowingBuffer())
            // The loop has the transfer as long as it is not over; the decision may be kept for ever.
            pending.whenGiven { [loop, weak self] headDecision in
                if let self { loop.post(.decided(self, headDecision)) }
            }
        }
    }

    /// Holds the body while its decision is awaited. Nil if it goes into the sink.
    var held: GrowingBuffer? {
        if case .awaited(let held) = decision, !sink.isMemory { held } else { nil }
    }

    /// Whether so many bytes more can be held. If not, the transfer pauses and gives up its slot, because the decision may
    /// depend on another transfer.
    func hasRoom(for byteCount: Int, in held: GrowingBuffer) -> Bool {
        if held.count + byteCount <= Self.mostHeld { return true }
        loop.releaseSlot(of: self)
        return false
    }

    /// Holds bytes. Returns whether there was room.
    func hold(_ body: UnsafeRawBufferPointer, in held: GrowingBuffer) throws(Fault) -> Bool {
        guard hasRoom(for: body.count, in: held) else { return false }
        guard held.append(body) else { throw Fault(.outOfResources, "no memory for the response's body") }
        return true
    }

    /// The decision is given at last.
    func decide(_ headDecision: HeadDecision) throws(Fault) {
        guard case .awaited(let held) = decision, let head = reader.head else { return }
        try apply(headDecision, about: head)
        guard !isUndecided else { return }
        let body = held.take()
        guard !body.isEmpty else { return }
        let written = body.withUnsafeBytes { bytes in
            Result { () throws(Fault) in try sink.write(bytes, evenIfFull: true) }
        }
        _ = try written.get()
        observer?.exchangeDidReceive(bytes: sink.byteCount, expected: expectedByteCount)
    }
}
