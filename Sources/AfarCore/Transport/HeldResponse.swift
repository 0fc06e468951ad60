import Foundation
import HTTPTypes

/// Keeps a response that is perhaps not the last one of its exchange from all who wait for the last one: the hook at the
/// head, the observer, the file.
///
/// A transport around a transport sends ``exchange`` and judges each head. What is held is either dropped, or released
/// when it turns out to be the last response after all.
final class HeldResponse: ExchangeObserver {
    /// What becomes of a response, as far as its head tells.
    enum Fate {
        /// It is the last one.
        case final
        /// It may be the last one.
        case undecided
        /// It is not the last one: nobody wants its body.
        case dropped
    }

    /// The longest body that is read only to keep the connection.
    static let longestBodyToSkip: Int64 = 64 * 1024

    /// Thrown at a head whose body is too long to be read for nothing.
    private struct Skip: Error {
        let head: ResponseHead
    }

    private struct State {
        var isHolding = false
        /// What the observer has not been told.
        var figures: (bytes: Int64, expected: Int64?)?
        var diversion: Diversion?
    }

    private let original: Exchange
    private let judge: @Sendable (ResponseHead) -> Fate
    private let state = Locked(State())

    /// Nil when nobody but the caller sees anything of the response before it is complete.
    init?(_ exchange: Exchange, judge: @escaping @Sendable (ResponseHead) -> Fate) {
        guard exchange.observer != nil || exchange.needsHook else { return nil }
        original = exchange
        self.judge = judge
    }

    /// What to send in place of the exchange.
    var exchange: Exchange {
        var exchange = original
        if exchange.needsHook { exchange.onHead = { [self] head in try receive(head) } }
        if exchange.observer != nil { exchange.observer = self }
        return exchange
    }

    // MARK: While it comes

    private func receive(_ head: ResponseHead) throws {
        let fate = judge(head)
        if case .final = fate {
            try original.onHead?(head)
        } else {
            let isDropped = if case .dropped = fate { true } else { false }
            let descriptor: Int32? = if case .file(let descriptor, _) = original.delivery { descriptor } else { nil }
            // Into a file nobody counts what comes.
            let length = head.contentLength ?? (descriptor == nil ? 0 : .max)
            if isDropped, original.request.method != .head, length > Self.longestBodyToSkip { throw Skip(head: head) }
            guard let descriptor else { return }
            let diversion = try Diversion(of: descriptor, keeping: !isDropped)
            state.withLock { $0.diversion = diversion }
        }
    }

    func exchangeDidReceiveHead(_ head: ResponseHead) {
        let isFinal = if case .final = judge(head) { true } else { false }
        state.withLock { state in
            state.isHolding = !isFinal
            state.figures = nil
        }
        if isFinal { original.observer?.exchangeDidReceiveHead(head) }
    }

    func exchangeDidReceive(bytes: Int64, expected: Int64?) {
        let isHolding = state.withLock { state in
            if state.isHolding { state.figures = (bytes, expected) }
            return state.isHolding
        }
        if !isHolding { original.observer?.exchangeDidReceive(bytes: bytes, expected: expected) }
    }

    func exchangeDidReceiveInformational(_ head: ResponseHead) {
        original.observer?.exchangeDidReceiveInformational(head)
    }

    func exchangeDidSend(bytes: Int64, expected: Int64?) {
        original.observer?.exchangeDidSend(bytes: bytes, expected: expected)
    }

    func exchangeWillFollow(_ redirect: Redirect) { original.observer?.exchangeWillFollow(redirect) }

    func exchangeWillAnswerChallenge(in head: ResponseHead) {
        original.observer?.exchangeWillAnswerChallenge(in: head)
    }

    func exchangeIsWaitingForConnectivity() { original.observer?.exchangeIsWaitingForConnectivity() }

    // MARK: When it has come

    /// Lets go of the file. To be called on every way out, before the exchange's owner has it back.
    func letGo() { state.withLock { $0.diversion }?.end() }

    /// The response that an error stands for, when its body was left out on purpose.
    fileprivate func response(insteadOf error: any Error) -> TransportResponse? {
        guard let error = error as? TransportError, let skip = error.underlying as? Skip else { return nil }
        return TransportResponse(head: skip.head, body: .data(Data()), report: error.report)
    }

    /// The response is the last one after all: whoever waits for that learns of it now.
    func release(_ response: TransportResponse) throws(TransportError) {
        letGo()
        original.observer?.exchangeDidReceiveHead(response.head)
        do {
            try original.onHead?(response.head)
        } catch {
            throw TransportError(
                .cancelled, phase: .receiving, url: original.url, message: "the response's head was refused",
                underlying: error)
        }
        try state.withLock { $0.diversion }?.copyBack()
        // A stream goes on arriving meanwhile.
        while let (bytes, expected) = takeNews() {
            original.observer?.exchangeDidReceive(bytes: bytes, expected: expected)
        }
    }

    /// What the observer has not been told yet; when there is nothing, it will be told everything at once.
    private func takeNews() -> (bytes: Int64, expected: Int64?)? {
        state.withLock { state in
            defer { state.figures = nil }
            if state.figures == nil { state.isHolding = false }
            return state.figures
        }
    }
}

extension Transport {
    /// Performs an exchange whose response is perhaps kept from those who wait for the last one.
    ///
    /// - Parameter held: What keeps it; nil when nobody waits.
    func send(_ exchange: Exchange, holding held: HeldResponse?) async throws -> TransportResponse {
        do {
            return try await send(held?.exchange ?? exchange)
        } catch {
            guard let skipped = held?.response(insteadOf: error) else { throw error }
            return skipped
        }
    }
}

extension Exchange {
    fileprivate var needsHook: Bool {
        if case .file = delivery { return true }
        return onHead != nil
    }
}
