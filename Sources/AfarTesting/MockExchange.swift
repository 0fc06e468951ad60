import AfarCore
import Foundation
import HTTPTypes

/// An exchange of a ``MockTransport``.
///
/// A worker acts as the server. The worker, the caller or the timeout can end the exchange. The first one determines
/// the outcome.
final class MockExchange: PreparedExchange {
    typealias Completion = @Sendable (Result<TransportResponse, any Error>) -> Void

    private struct State {
        var completion: Completion?
        var tasks: [Task<Void, Never>] = []
        var phase = TransportError.Phase.queued
        var outcome: Result<TransportResponse?, TransportError>?
        /// The destination of the body, once the head has arrived.
        var sink: MockSink?
        var report = TransportReport(transactions: [TransactionMetrics()])
    }

    let exchange: Exchange
    let suspension = Gate()
    let demand = Gate()
    let delays: MockTransport.Delays
    let handler: MockTransport.Handler
    /// Called with a message for each failed expectation of a WebSocket script.
    let reportMismatch: @Sendable (String) -> Void
    private let state = Locked(State())

    init(
        _ exchange: Exchange, delays: MockTransport.Delays, handler: @escaping MockTransport.Handler,
        reportingMismatches reportMismatch: @escaping @Sendable (String) -> Void
    ) {
        self.exchange = exchange
        self.delays = delays
        self.handler = handler
        self.reportMismatch = reportMismatch
    }

    var phase: TransportError.Phase { state.withLock { $0.phase } }

    var hasEnded: Bool { state.withLock { $0.outcome != nil } }

    func start(completion: @escaping Completion) {
        let hasEnded = state.withLock { state in
            state.completion = completion
            state.report.transactions[0].fetchStartDate = Date()
            return state.outcome != nil
        }
        guard !hasEnded else { return settle() }
        let isSuspended = exchange.control.attach { [suspension] isSuspended in
            if isSuspended { suspension.close() } else { suspension.open() }
        }
        if isSuspended { suspension.close() }
        // The exchange may have been resumed in the meantime.
        if isSuspended, !exchange.control.isSuspended { suspension.open() }

        var tasks = [Task { await play() }]
        let timeout = exchange.options.totalTimeout
        if timeout < ExchangeOptions().totalTimeout {
            tasks.append(
                Task {
                    try? await Task.sleep(for: .seconds(timeout < 1e9 ? max(timeout, 0) : 1e9))
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

    func updateReport(_ change: (inout TransportReport) -> Void) {
        state.withLock { change(&$0.report) }
    }

    /// Sets the destination of the body after the head has arrived.
    func open(_ sink: MockSink) {
        state.withLock { $0.sink = sink }
    }

    /// Delivers a chunk of the body unless the exchange has ended. Returns the `errno` if writing fails, otherwise
    /// `nil`.
    func add(_ chunk: Data) -> Int32? {
        state.withLock { $0.outcome == nil ? $0.sink?.add(chunk) : nil }
    }

    /// The source of a streamed body.
    var source: ResponseBodyStream.Source? { state.withLock { $0.sink?.source } }

    /// The body to return at the end, or `nil` for a stream, which was already returned with the head.
    var body: TransportResponse.Body? { state.withLock { $0.sink?.body } }

    /// Returns the response as soon as its head is complete. The body follows as a stream.
    func returnHead(_ head: ResponseHead, _ stream: ResponseBodyStream) {
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
        end(
            .failure(
                TransportError(
                    code, phase: phase, url: exchange.url, message: message, systemError: systemError,
                    underlying: cause)))
    }

    /// Ends the exchange unless it has already ended.
    ///
    /// - Parameter outcome: The response or the error. The response is `nil` if ``returnHead(_:_:)`` has already
    ///   returned it, with its body as a stream.
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

// MARK: - Server

/// The worker, which performs the steps of a server and its connection.
extension MockExchange {
    func play() async {
        do {
            await suspension.pass()
            enter(.sending)
            let request = MockRequest(exchange: exchange, body: try await body())
            enter(.awaitingResponse)
            let response = try await handler(request)
            try await delays.pause(for: response.delay, exchange)
            if let code = response.failure, response.bytesBeforeFailure == nil || response.webSocket != nil {
                return fail(code, response.failureMessage)
            }
            try await deliver(response, to: request)
        } catch {
            end(.failure(TransportError(ofMock: error, phase: phase, url: exchange.url)))
        }
    }

    private func body() async throws -> Data {
        try await exchange.collectBody { count in
            if case .stream = exchange.body { await suspension.pass() }
            reportSent(count)
        }
    }

    private func reportSent(_ count: Int) {
        guard !hasEnded else { return }
        updateReport { $0.transactions[0].countOfRequestBodyBytesSent = Int64(count) }
        exchange.observer?.exchangeDidSend(bytes: Int64(count), expected: exchange.body.length)
    }

    private func deliver(_ response: MockResponse, to request: MockRequest) async throws {
        await suspension.pass()
        var fields = response.fields
        if response.webSocket != nil { try completeHandshake(of: request, &fields) }
        for informational in response.informationalResponses where !hasEnded {
            exchange.observer?.exchangeDidReceiveInformational(
                ResponseHead(status: informational.status, fields: informational.fields, url: exchange.responseURL))
        }
        guard response.informationalResponses.count <= exchange.options.maximumInformationalResponses else {
            return fail(
                .headTooLarge,
                "more than \(exchange.options.maximumInformationalResponses) informational responses arrived")
        }
        guard !hasEnded else { return }
        let hasFraming = fields[.contentLength] != nil || fields[.transferEncoding] != nil
        if !hasFraming, response.status >= 200, response.status != 204, response.status != 304 {
            fields[.contentLength] = String(response.body.count)
        }
        let head = ResponseHead(status: response.status, fields: fields, url: exchange.responseURL)
        updateReport { $0.transactions[0].responseStartDate = Date() }
        exchange.observer?.exchangeDidReceiveHead(head)
        let decision = await exchange.headArrived(head).settled()
        guard !hasEnded else { return }
        var delivery = exchange.delivery
        switch decision {
        case .take(.file(let descriptor, let limit)):
            if case .file = delivery { delivery = .file(descriptor: descriptor, limit: limit) }
        case .take, .deferred: break
        case .discard: return end(.success(TransportResponse(head: head, body: .data(Data()))))
        case .refuse(let error): return fail(.cancelled, "the response's head was refused", because: error)
        }
        enter(.receiving)
        if case .connection = exchange.delivery { return open(response.webSocket, for: request, head) }
        var body = exchange.request.method == .head ? Data() : response.body
        if response.failure != nil { body = body.prefix(max(0, response.bytesBeforeFailure ?? 0)) }
        open(MockSink(delivery))
        if case .stream(let highWaterMark) = exchange.delivery {
            let (stream, source) = ResponseBodyStream.make(
                highWaterMark: highWaterMark,
                onDemand: { [demand] in demand.open() },
                onCancel: { [weak self] in self?.fail(.cancelled, "reading the body was cancelled") }
            )
            open(.stream(source))
            returnHead(head, stream)
        }
        try await deliver(body, in: response.chunkSize ?? body.count, every: response.chunkDelay, head)
        if let code = response.failure { return fail(code, "the mock interrupted the response") }
        updateReport { $0.trailers = response.trailers }
        end(.success(self.body.map { TransportResponse(head: head, body: $0) }))
    }

    private func deliver(
        _ body: Data, in size: Int, every delay: Duration, _ head: ResponseHead
    ) async throws {
        var rest = body
        var total: Int64 = 0
        while !rest.isEmpty, !hasEnded {
            try await delays.pause(for: delay, exchange)
            await suspension.pass()
            let chunk = rest.prefix(max(size, 1))
            rest = rest.dropFirst(chunk.count)
            total += Int64(chunk.count)
            if let limit = exchange.delivery.limit, total > limit {
                return fail(.responseTooLarge, "the body has more than \(limit) bytes")
            }
            if let failure = add(Data(chunk)) {
                return fail(.deliveryFailed, "the body could not be written", systemError: failure)
            }
            updateReport { $0.transactions[0].countOfResponseBodyBytesAfterDecoding = total }
            if !hasEnded { exchange.observer?.exchangeDidReceive(bytes: total, expected: head.contentLength) }
            if let source {
                demand.close()
                if !source.isFull { demand.open() }
                await demand.pass()
            }
        }
    }
}

// MARK: - WebSockets

extension MockExchange {
    /// Adds the fields with which a server accepts a WebSocket (RFC 6455, section 4.2.2).
    private func completeHandshake(of request: MockRequest, _ fields: inout HTTPFields) throws {
        func failure(_ message: String) -> TransportError {
            TransportError(.invalidUse, phase: .awaitingResponse, url: exchange.url, message: message)
        }
        guard case .connection = exchange.delivery, let key = request.fields[.secWebSocketKey] else {
            throw failure(
                "the response to \(request.method.rawValue) \(exchange.url) accepts a WebSocket, but the request isn't for one"
            )
        }
        guard fields[.secWebSocketAccept] == nil else { return }
        guard let acceptance = WebSocketFrames.acceptance(of: key) else {
            throw failure("the handshake of a WebSocket requires SHA-1, which OpenSSL doesn't provide here")
        }
        fields[.secWebSocketAccept] = acceptance
    }

    /// Returns a connection to the server of a WebSocket. If there is no server, returns the response without a body.
    private func open(_ serve: MockWebSocket.Server?, for request: MockRequest, _ head: ResponseHead) {
        guard let serve else { return end(.success(TransportResponse(head: head, body: .data(Data())))) }
        let pipe = MockPipe()
        let socket = MockWebSocket(request, delays: delays, over: pipe)
        // The worker's task ends with the exchange, but the server must continue.
        Task { [reportMismatch] in await socket.run(serve, reporting: reportMismatch) }
        end(.success(TransportResponse(head: head, body: .connection(MockConnection(pipe, url: exchange.url)))))
    }
}

// MARK: - Delivery

/// The destination of a mocked response's body.
enum MockSink {
    case memory(Data)
    case file(descriptor: Int32, count: Int64)
    case stream(ResponseBodyStream.Source)

    init(_ delivery: ResponseDelivery) {
        if case .file(let descriptor, _) = delivery {
            self = .file(descriptor: descriptor, count: 0)
        } else {
            self = .memory(Data())
        }
    }

    /// Adds a chunk. Returns the `errno` if writing fails, otherwise `nil`.
    mutating func add(_ chunk: Data) -> Int32? {
        switch self {
        case .memory(let data):
            self = .memory(data + chunk)
        case .file(let descriptor, let count):
            if let code = Self.write(chunk, to: descriptor) { return code }
            self = .file(descriptor: descriptor, count: count + Int64(chunk.count))
        case .stream(let source):
            source.yield(chunk)
        }
        return nil
    }

    private static func write(_ chunk: Data, to descriptor: Int32) -> Int32? {
        chunk.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno != EINTR { return errno }
                rest = rest.dropFirst(max(count, 0))
            }
            return nil
        }
    }

    /// The source of a streamed body.
    var source: ResponseBodyStream.Source? {
        if case .stream(let source) = self { source } else { nil }
    }

    /// The body to return at the end, or `nil` for a stream, which was already returned with the head.
    var body: TransportResponse.Body? {
        switch self {
        case .memory(let data): .data(data)
        case .file(_, let count): .file(byteCount: count)
        case .stream: nil
        }
    }
}

// MARK: - Errors

extension TransportError {
    /// Creates an error from an error that a closure of a mock has thrown.
    init(ofMock error: any Error, phase: Phase, url: String) {
        if let error = error as? TransportError {
            self = error
        } else {
            self.init(
                (error as? URLError).map { Code($0.code) } ?? .unknown, phase: phase, url: url,
                message: "the mock's closure failed", underlying: error)
        }
    }
}

// MARK: - Waiting

extension MockTransport.Delays {
    /// Waits, unless delays are skipped.
    func pause(for duration: Duration, _ exchange: Exchange) async throws {
        guard self == .scripted, duration > .zero else { return }
        try await exchange.options.timeSource.sleep(for: duration)
    }
}

/// A gate. While the gate is closed, at most one task can wait for it to open.
struct Gate: Sendable {
    private struct State {
        var isClosed = false
        var isRemoved = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    func close() {
        state.withLock { $0.isClosed = true }
    }

    func open() {
        state.withLock { state in
            state.isClosed = false
            return state.waiting.take()
        }?.resume()
    }

    /// Opens the gate permanently.
    func remove() {
        state.withLock { $0.isRemoved = true }
        open()
    }

    /// Waits until the gate is open.
    func pass() async {
        await withCheckedContinuation { continuation in
            let mayPass = state.withLock { state in
                guard state.isClosed, !state.isRemoved else { return true }
                state.waiting = continuation
                return false
            }
            if mayPass { continuation.resume() }
        }
    }
}
