/// A message about an exchange. Any thread can post it to the exchange's loop.
package enum ExchangeSignal: Sendable {
    case submit
    case cancel
    case suspensionChanged
    /// The reader of a streamed response has room for more.
    case demand
    /// The source of the request's body has more bytes.
    case bodyReady
    case decided(HeadDecision)
}

/// The state of the decision about a response.
package enum HeadState {
    /// The head hasn't arrived.
    case none
    /// The decision is pending.
    case awaited
    case accepted
    case discarded
}

/// An exchange over a transport with loops. It is prepared on the caller's thread, and then belongs to the thread of its loop.
package protocol LoopExchange: PreparedExchange {
    typealias Completion = @Sendable (Result<TransportResponse, any Error>) -> Void

    var hop: Hop { get }
    var state: TransferState { get set }
    var headState: HeadState { get set }
    var sink: BodySink { get set }
    /// Called once with the result.
    var completion: Completion? { get set }
    /// The stream of a streamed response; nil after the response has been delivered.
    var stream: ResponseBodyStream? { get set }
    /// The transport, which the response's stream or connection retains.
    var owner: (any AnyObject & Sendable)? { get set }

    /// Whether the caller has canceled the exchange. The loop may not have received the message yet.
    var isCancelled: Bool { get }

    /// Posts a message about this exchange. Can be called from any thread.
    func post(_ signal: ExchangeSignal)
}

extension LoopExchange {
    package func start(completion: @escaping Completion) {
        self.completion = completion
        // Don't make these calls earlier, because they create retain cycles that last until the exchange ends.
        if case .stream(let highWaterMark) = hop.exchange.delivery { makeStream(highWaterMark: highWaterMark) }
        hop.exchange.control.attach { _ in self.post(.suspensionChanged) }
        post(.submit)
    }

    /// Returns the fault that ends the exchange now; nil if it can continue. A cancellation has precedence over a timeout.
    package func expiry(at now: UInt64) -> Fault? { isCancelled ? .cancelled : state.expiry(at: now) }

    private func makeStream(highWaterMark: Int) {
        let (stream, source) = ResponseBodyStream.make(
            highWaterMark: highWaterMark,
            onDemand: { [owner = owner.take()] in
                self.post(.demand)
                _ = owner
            },
            onCancel: { self.post(.cancel) })
        self.stream = stream
        sink = BodySink(source: source, highWaterMark: highWaterMark)
    }

    /// Records a decision about the response's head, and creates the sink for the body accordingly. If the decision is pending, posts it
    /// when it has been made.
    ///
    /// - Parameter length: The length of the body before decoding; nil if it is unknown.
    /// - Throws: A fault if the response is refused, or if the body is too long to be discarded.
    package func record(_ decision: HeadDecision, length: Int64?, at now: UInt64) throws(Fault) {
        switch decision {
        case .take(let delivery):
            headState = .accepted
            if case .file(let descriptor, let limit)? = delivery, case .file = hop.exchange.delivery {
                sink = BodySink(descriptor: descriptor, limit: limit)
            }
            sink.expect(length)
        case .discard(let limit):
            headState = .discarded
            let readCount = sink.byteCount
            sink = BodySink(discarding: limit)
            state.discard(at: now)
            guard max(length ?? 0, readCount) <= limit else { throw .discarded }
        case .refuse(let error):
            throw Fault(.cancelled, "the response's head was refused", underlying: error)
        case .deferred(let pending):
            headState = .awaited
            // The reference is weak because the decision may be retained forever. The loop retains the exchange until the
            // exchange ends.
            pending.whenDecided { [weak self] decision in self?.post(.decided(decision)) }
        }
    }

    /// Calls a closure, and records the fault if it throws one.
    @discardableResult
    package func recordingFault<Value>(_ body: () throws(Fault) -> Value) -> Value? {
        do {
            return try body()
        } catch {
            state.fail(error)
            return nil
        }
    }
}

/// The completions of exchanges that have ended. A loop calls them after it has processed its events, because they can run any code.
package final class CompletionQueue {
    private struct Entry {
        let completion: LoopExchange.Completion
        let result: Result<TransportResponse, any Error>
    }

    // One thread at a time accesses these properties, so exclusivity checks are unnecessary.

    @exclusivity(unchecked) private var waiting: [Entry] = []
    /// The entries whose completions are being called. A completion can add another entry to ``waiting``.
    @exclusivity(unchecked) private var current: [Entry] = []

    package init() {}

    /// Adds an exchange's completion, if it hasn't been added before.
    package func add(
        _ completion: consuming LoopExchange.Completion?, with result: consuming Result<TransportResponse, any Error>
    ) {
        guard let completion else { return }
        waiting.append(Entry(completion: completion, result: result))
    }

    package var isEmpty: Bool { waiting.isEmpty }

    package func callAll() {
        guard !waiting.isEmpty else { return }
        swap(&waiting, &current)
        for entry in current { entry.completion(entry.result) }
        current.removeAll(keepingCapacity: true)
    }
}
