import AfarTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An exchange that runs as a task of a session.
///
/// The session's events arrive serially. Cancellation and timeouts can arrive on any thread. The first event that ends the exchange
/// determines its result, and later events are ignored.
final class RunningExchange: PreparedExchange {
    typealias Completion = @Sendable (Result<TransportResponse, any Error>) -> Void

    struct State {
        var task: URLSessionTask?
        var hasStarted = false
        var completion: Completion?
        var informationalResponses = 0
        var head: ResponseHead?
        var sink: BodySink
        var received: Int64 = 0
        var sent: Int64 = 0
        var transactions: [TransactionMetrics]?
        var fetchStart = Date()
        var responseStart: Date?
        var lastActivity = ContinuousClock.now
        var watchdog: Task<Void, Never>?
        var ending: Result<Void, TransportError>?
        /// Whether the head decision is pending. Until the decision is made, the body is held in memory.
        var isUndecided = false
        /// Whether the response was complete before the decision was made.
        var isComplete = false
        /// For a body that is discarded, the maximum number of bytes to read; nil for a body that is needed.
        var discarding: Int64?
        var isWriting = false
        var endsWithoutCancel = false
        /// Whether the exchange's control is attached to this object.
        var isAttached = false

        var phase: TransportError.Phase {
            head != nil ? .receiving : hasStarted ? .awaitingResponse : .queued
        }
    }

    let exchange: Exchange
    let streamBufferLimit: Int
    let state: Locked<State>

    private let makeTask: @Sendable (RunningExchange) -> URLSessionTask
    /// Runs a closure serially with the session's events.
    let onQueue: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// - Parameters:
    ///   - makeTask: Creates the exchange's task in the suspended state.
    ///   - onQueue: Runs a closure serially with the session's events.
    init(
        _ exchange: Exchange, streamBufferLimit: Int,
        onQueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() },
        makeTask: @escaping @Sendable (RunningExchange) -> URLSessionTask
    ) {
        self.exchange = exchange
        self.streamBufferLimit = streamBufferLimit
        self.makeTask = makeTask
        self.onQueue = onQueue
        let sink: BodySink =
            if case .file(let descriptor, _) = exchange.delivery {
                .file(descriptor: descriptor)
            } else {
                .memory(Data())
            }
        state = Locked(State(sink: sink))
    }

    // MARK: Beginning

    /// Starts the task, unless the exchange has ended or its control suspends it.
    func start(completion: @escaping Completion) {
        let hasEnded = state.withLock { state in
            state.completion = completion
            return state.ending != nil
        }
        guard !hasEnded else { return settle() }
        let task = makeTask(self)
        let watchdog = Task { await self.watch() }
        let isSuspended = state.withLock { state -> Bool? in
            state.task = task
            state.watchdog = watchdog
            guard state.ending == nil else { return nil }
            state.isAttached = true
            return exchange.control.attach { [weak self] in self?.control(isSuspended: $0) }
        }
        guard let isSuspended else {
            watchdog.cancel()
            return BoundedQueue.runOffQueue { task.cancel() }
        }
        if !isSuspended { control(isSuspended: false) }
    }

    private func control(isSuspended: Bool) {
        let task = state.withLock { state -> URLSessionTask? in
            guard state.ending == nil, !isSuspended || state.hasStarted else { return nil }
            guard !state.hasStarted || Platform.suspendsInFlight else { return nil }
            state.hasStarted = true
            state.lastActivity = .now
            return state.task
        }
        if isSuspended { task?.suspend() } else { task?.resume() }
    }

    /// Ends the exchange at its idle timeout or its total timeout.
    private func watch() async {
        let start = ContinuousClock.now
        let total = Duration(timeout: exchange.options.totalTimeout)
        let idle = Duration(timeout: exchange.options.idleTimeout)
        while !Task.isCancelled {
            let now = ContinuousClock.now
            if now >= start + total { return end(.timedOut, "the exchange exceeded the total timeout of \(total)") }
            let lastActivity = state.withLock { state in
                let isPaused = exchange.control.isSuspended && (Platform.suspendsInFlight || !state.hasStarted)
                if isPaused || state.isUndecided {
                    state.lastActivity = now
                }
                return state.lastActivity
            }
            if now >= lastActivity + idle { return end(.timedOut, "the exchange exceeded the idle timeout of \(idle)") }
            try? await Task.sleep(until: min(start + total, lastActivity + idle), clock: .continuous)
        }
    }
}

// MARK: - Ending

extension RunningExchange {
    func cancel() {
        end(.cancelled, "the exchange was cancelled")
    }

    /// Ends the exchange with a failure that this transport has detected.
    func end(
        _ code: TransportError.Code, _ message: String, systemError: Int32? = nil, because cause: (any Error)? = nil
    ) {
        let phase = state.withLock { $0.phase }
        end(
            with: .failure(
                TransportError(
                    code, phase: phase, url: exchange.url, message: message, systemError: systemError,
                    underlying: cause)))
    }

    /// Ends the exchange, unless it has already ended. A failure also stops the task.
    func end(with ending: Result<Void, TransportError>) {
        let task = state.withLock { state -> URLSessionTask? in
            guard state.ending == nil else { return nil }
            state.ending = ending
            // After a success, the task doesn't need to be canceled.
            guard case .failure = ending, !state.endsWithoutCancel else { return nil }
            return state.task
        }
        settle()
        // Cancel on another queue, because canceling waits for the session's queue, which can be busy.
        if let task { BoundedQueue.runOffQueue { task.cancel() } }
    }

    /// Completes the exchange once. While the file is being written, completion waits, because the caller closes the file on
    /// completion.
    func settle() {
        let settled = state.withLock { state -> State? in
            guard state.ending != nil, !state.isWriting else { return nil }
            defer {
                state.completion = nil
                state.sink = .memory(Data())
                state.task = nil
                state.watchdog = nil
                state.isAttached = false
            }
            return state
        }
        guard let settled, let ending = settled.ending else { return }
        settled.watchdog?.cancel()
        // Detach before calling the completion, because the next exchange can use the same control.
        if settled.isAttached { exchange.control.attach(nil) }
        let report = report(of: settled)
        if let head = settled.head, settled.discarding != nil, !ending.isCancel {
            settled.completion?(.success(TransportResponse(head: head, body: .data(Data()), report: report)))
            return
        }
        switch ending {
        case .failure(var error):
            error.report = report
            switch settled.sink {
            case .memory(let data): if settled.head != nil, exchange.delivery.isCollecting { error.partialBody = data }
            case .stream(let source): source.finish(throwing: error, report: report)
            case .file: break
            }
            settled.completion?(.failure(error))
        case .success:
            if case .stream(let source) = settled.sink { source.finish(throwing: nil, report: report) }
            guard let completion = settled.completion, let head = settled.head else { return }
            let body: TransportResponse.Body =
                switch settled.sink {
                case .memory(let data): .data(data)
                case .file, .stream: .file(byteCount: settled.received)
                }
            completion(.success(TransportResponse(head: head, body: body, report: report)))
        }
    }

    func report(of state: State) -> TransportReport {
        if let transactions = state.transactions { return TransportReport(transactions: transactions) }
        var metrics = TransactionMetrics()
        metrics.fetchStartDate = state.fetchStart
        metrics.responseStartDate = state.responseStart
        metrics.responseEndDate = state.ending == nil ? nil : Date()
        metrics.countOfRequestBodyBytesSent = state.sent
        metrics.countOfResponseBodyBytesAfterDecoding = state.received
        return TransportReport(transactions: [metrics])
    }
}

extension Result<Void, TransportError> {
    fileprivate var isCancel: Bool {
        if case .failure(let error) = self { error.code == .cancelled } else { false }
    }
}

// MARK: - Bodies

/// The destination of a response's body.
enum BodySink {
    case memory(Data)
    case file(descriptor: Int32)
    case stream(ResponseBodyStream.Source)

    /// Writes all of `data`. Returns the `errno` of a failure; nil on success.
    static func deliver(_ data: Data, to descriptor: Int32) -> Int32? {
        data.withUnsafeBytes { $0.write(to: descriptor) }
    }
}
