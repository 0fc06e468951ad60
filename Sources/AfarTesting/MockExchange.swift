import AfarCore
import Foundation

/// One exchange on its way through a mock: a worker plays the server, and whoever ends the exchange first, the worker,
/// the caller or the timeout, decides how.
final class MockExchange: PreparedExchange {
    typealias Completion = @Sendable (Result<TransportResponse, any Error>) -> Void

    private struct State {
        var completion: Completion?
        var tasks: [Task<Void, Never>] = []
        var phase = TransportError.Phase.queued
        var outcome: Result<TransportResponse?, TransportError>?
        /// Where the body goes, once the head has come.
        var sink: MockSink?
        var report = TransportReport(transactions: [TransactionMetrics()])
    }

    let exchange: Exchange
    let suspension = Gate()
    let demand = Gate()
    let handler: MockTransport.Handler
    private let state = Locked(State())

    init(_ exchange: Exchange, handler: @escaping MockTransport.Handler) {
        self.exchange = exchange
        self.handler = handler
    }

    var isOver: Bool { state.withLock { $0.outcome != nil } }

    func start(completion: @escaping Completion) {
        let isOver = state.withLock { state in
            state.completion = completion
            state.report.transactions[0].fetchStartDate = Date()
            return state.outcome != nil
        }
        guard !isOver else { return settle() }
        let isSuspended = exchange.control.attach { [suspension] isSuspended in
            if isSuspended { suspension.close() } else { suspension.open() }
        }
        if isSuspended { suspension.close() }
        // It may have been resumed between the two lines above.
        if isSuspended, !exchange.control.isSuspended { suspension.open() }

        var tasks = [Task { await play() }]
        let timeout = exchange.options.totalTimeout
        if timeout < ExchangeOptions().totalTimeout {
            tasks.append(
                Task {
                    try? await Task.sleep(for: Duration(timeout: timeout))
                    if !Task.isCancelled { fail(.timedOut, "it took longer than the total timeout, \(timeout) s") }
                })
        }
        let wasEnded = state.withLock { state in
            state.tasks = tasks
            return state.outcome != nil
        }
        if wasEnded { tasks.forEach { $0.cancel() } }
    }

    // MARK: What the worker reports

    func enter(_ phase: TransportError.Phase) {
        state.withLock { $0.phase = phase }
    }

    /// Changes the metrics, or anything else of the report.
    func note(_ change: (inout TransportReport) -> Void) {
        state.withLock { change(&$0.report) }
    }

    /// The head has come, and the body goes there.
    func open(_ sink: MockSink) {
        state.withLock { $0.sink = sink }
    }

    /// Puts a chunk of the body where it goes, unless the exchange is over, and returns the `errno` of a failure.
    func add(_ chunk: Data) -> Int32? {
        state.withLock { $0.outcome == nil ? $0.sink?.add(chunk) : nil }
    }

    /// The source of a streamed body.
    var source: ResponseBodyStream.Source? { state.withLock { $0.sink?.source } }

    /// The body to return at the end; nil for one that was returned at the head.
    var body: TransportResponse.Body? { state.withLock { $0.sink?.body } }

    /// Returns the response at its head, its body still to come.
    func answerEarly(_ head: ResponseHead, _ stream: ResponseBodyStream) {
        let answered = state.withLock { state -> (Completion, TransportReport)? in
            guard state.outcome == nil, let completion = state.completion else { return nil }
            state.completion = nil
            return (completion, state.report)
        }
        guard let (completion, report) = answered else { return }
        completion(.success(TransportResponse(head: head, body: .stream(stream), report: report)))
    }

    // MARK: Ending

    func cancel() { fail(.cancelled, "the exchange was cancelled") }

    func fail(
        _ code: TransportError.Code, _ message: String, systemError: Int32? = nil, because cause: (any Error)? = nil
    ) {
        let phase = state.withLock { $0.phase }
        end(
            .failure(
                TransportError(
                    code, phase: phase, url: exchange.url, message: message, systemError: systemError,
                    underlying: cause)))
    }

    /// Ends the exchange, if nobody has; nil stands for a response that was returned at its head.
    func end(_ outcome: Result<TransportResponse?, TransportError>) {
        let isFirst = state.withLock { state in
            guard state.outcome == nil else { return false }
            state.outcome = outcome
            state.report.transactions[0].responseEndDate = Date()
            return true
        }
        if isFirst { settle() }
    }

    private func settle() {
        let ended = state.withLock { state in
            defer { (state.completion, state.sink, state.tasks) = (nil, nil, []) }
            return state
        }
        exchange.control.attach(nil)
        ended.tasks.forEach { $0.cancel() }
        suspension.remove()
        demand.remove()
        switch ended.outcome {
        case .failure(var error):
            error.report = ended.report
            if case .data(let data)? = ended.sink?.body { error.partialBody = data }
            ended.sink?.source?.finish(throwing: error, report: ended.report)
            ended.completion?(.failure(error))
        case .success(var response):
            response?.report = ended.report
            ended.sink?.source?.finish(throwing: nil, report: ended.report)
            if let response { ended.completion?(.success(response)) }
        case nil: break
        }
    }
}
