import AfarTransport
import Foundation
import HTTPTypes
import Synchronization

/// One exchange: prepared on the caller's thread, then owned by the thread of its engine's loop.
final class HTTPExchange: PreparedExchange, @unchecked Sendable {
    // Sendable because a message passes it from the caller to the loop, and one of them uses it at a time.

    typealias Completion = @Sendable (Result<TransportResponse, any Error>) -> Void

    /// What is done with the response.
    private enum Decision {
        /// The head has not arrived, or somebody else decides.
        case awaited
        case taken
        case discarded
    }

    /// How long a body waits for `100 (Continue)`, in nanoseconds (RFC 9110, section 10.1.1).
    private static let longestExpectation: UInt64 = 1_000_000_000
    private static let decodedPieceSize = 32 * 1024
    /// How long decoding may take in one turn, in nanoseconds.
    private static let longestTurn: UInt64 = 10_000_000

    let hop: Hop
    let engine: HTTPEngine
    let key: ConnectionKey
    let observer: (any ExchangeObserver)?
    private let started = Date()
    private let startTime = MonotonicClock.now
    private let isCancelled = Atomic(false)

    @exclusivity(unchecked) private var completion: Completion?
    @exclusivity(unchecked) private var stream: ResponseBodyStream?
    /// Retained until the stream of a streamed response is released.
    @exclusivity(unchecked) var streamOwner: (any AnyObject & Sendable)?

    // MARK: The engine's book-keeping
    @exclusivity(unchecked) var index: Int?
    /// Whether the exchange is in the pool's queue.
    @exclusivity(unchecked) var isWaiting = false
    @exclusivity(unchecked) var connection: HTTPConnection?
    /// The last connection, or the attempt to open one that failed, for metrics and errors.
    @exclusivity(unchecked) private var lastConnection: HTTPConnection?
    @exclusivity(unchecked) var lastAttempt: ConnectionAttempt?

    // MARK: State of the request
    @exclusivity(unchecked) var state: TransferState
    @exclusivity(unchecked) private var head: RequestHead
    @exclusivity(unchecked) var output: RequestOutput
    @exclusivity(unchecked) private var feed: BodyFeed?
    /// When the body is sent although the server did not ask for it; nil if it is not awaited.
    @exclusivity(unchecked) private(set) var expectationDeadline: UInt64?
    /// Whether the request asks for the server's consent before its body is sent.
    @exclusivity(unchecked) private var sendsExpectation: Bool
    @exclusivity(unchecked) private var hasReceivedContinue = false
    @exclusivity(unchecked) private var hasOpenedBody = false
    /// Whether sending has failed, so that the rest of the request can't be sent.
    @exclusivity(unchecked) private var isSendingBroken = false
    @exclusivity(unchecked) private var sendCount = 0
    @exclusivity(unchecked) private var wasReused = false

    // MARK: State of the response
    @exclusivity(unchecked) private var parser: ResponseParser
    @exclusivity(unchecked) private var sink: BodySink
    @exclusivity(unchecked) private var responseHead: ResponseHead?
    @exclusivity(unchecked) private var decision = Decision.awaited
    @exclusivity(unchecked) private var decoder: ContentDecoder?
    @exclusivity(unchecked) private var piece: UnsafeMutableRawBufferPointer?
    /// The bytes of the body that the parser has found, and that come first in what is delivered next.
    @exclusivity(unchecked) private var heldByteCount = 0
    @exclusivity(unchecked) private var turnStart: UInt64 = 0
    @exclusivity(unchecked) private var mustYield = false
    @exclusivity(unchecked) private(set) var isResponseComplete = false

    // MARK: Times, in nanoseconds of the monotonic clock
    @exclusivity(unchecked) private var requestStart: UInt64 = 0
    @exclusivity(unchecked) private var requestEnd: UInt64 = 0
    @exclusivity(unchecked) private var responseStart: UInt64 = 0

    /// - Throws: A ``TransportError`` if the request can't be sent.
    init(_ hop: Hop, _ key: ConnectionKey, engine: HTTPEngine) throws {
        (self.hop, self.key, self.engine) = (hop, key, engine)
        observer = hop.observer
        if case .file(let url) = hop.exchange.body {
            // Opened again when it is sent: an exchange that waits for a connection needs no descriptor.
            do throws(Fault) {
                try BodyFeed(file: url).close()
            } catch {
                throw TransportError(
                    error.code, phase: .queued, url: hop.exchange.url, message: error.message,
                    systemError: error.systemError)
            }
        }
        do throws(HTTP1Error) {
            head = try hop.exchange.head(feed: nil)
        } catch {
            throw hop.failure(error.code, error.message)
        }
        output = RequestOutput(head: head, inlineBody: hop.exchange.inlineBody, feed: nil)
        parser = ResponseParser(.init(head, url: hop.exchange.responseURL), options: hop.exchange.options)
        sendsExpectation = hop.exchange.expects100Continue
        let isStreamed = if case .stream = hop.exchange.delivery { true } else { false }
        state = TransferState(
            options: hop.exchange.options, totalTimeout: hop.totalTimeout, isWatched: isStreamed, now: startTime)
        sink =
            switch hop.exchange.delivery {
            case .collect(let limit): BodySink(collecting: limit)
            case .file(let descriptor, let limit): BodySink(descriptor: descriptor, limit: limit)
            case .stream, .connection: BodySink(collecting: 0)
            }
    }

    deinit { piece?.deallocate() }

    func start(completion: @escaping Completion) {
        self.completion = completion
        // Not earlier: the stream retains the exchange that retains it, and only the end of the exchange undoes that.
        if case .stream(let highWaterMark) = hop.exchange.delivery { makeStream(highWaterMark: highWaterMark) }
        hop.exchange.control.attach { [engine] _ in engine.loop.post(.suspensionChanged(self)) }
        engine.loop.post(.submit(self))
    }

    private func makeStream(highWaterMark: Int) {
        let (stream, source) = ResponseBodyStream.make(
            highWaterMark: highWaterMark,
            onDemand: { [engine, owner = streamOwner.take()] in
                engine.loop.post(.demand(self))
                _ = owner
            },
            onCancel: { [engine] in engine.loop.post(.cancel(self)) })
        self.stream = stream
        sink = BodySink(source: source, highWaterMark: highWaterMark)
    }

    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
        engine.loop.post(.cancel(self))
    }

    func takeCompletion() -> Completion? { completion.take() }

    /// Remembers why the exchange must fail.
    func attempt(_ body: () throws(Fault) -> Void) {
        do { try body() } catch { state.fail(error) }
    }

    // MARK: The request

    /// Begins to send over a connection.
    func begin(on connection: HTTPConnection, at now: UInt64) {
        (self.connection, lastConnection) = (connection, connection)
        wasReused = connection.isKept
        _ = state.connect(at: now)
        requestStart = now
        if !hasOpenedBody { attempt(openBody) }
    }

    /// Opens a body that is read while it is sent. Not earlier: while the exchange waits for a connection, it needs no descriptor.
    private func openBody() throws(Fault) {
        hasOpenedBody = true
        switch hop.exchange.body {
        case .none: return
        case .data(let data):
            guard hop.exchange.inlineBody == nil else { return }
            feed = BodyFeed(data: data)
        case .file(let url): feed = try BodyFeed(file: url)
        case .stream(let stream):
            let pump = BodyPump { [engine] in engine.loop.post(.bodyReady(self)) }
            feed = BodyFeed(pump: pump, length: stream.length)
            pump.start(stream)
        }
        try setHead(hop.exchange)
    }

    private func setHead(_ exchange: Exchange) throws(Fault) {
        do throws(HTTP1Error) { head = try exchange.head(feed: feed) } catch { throw Fault(error.code, error.message) }
        output = RequestOutput(head: head, inlineBody: feed == nil ? exchange.inlineBody : nil, feed: feed)
    }

    /// Whether bytes of the request can be sent.
    var maySend: Bool {
        guard state.fault == nil, !state.isSuspended, !state.isSendingPaused, !output.isSent else { return false }
        return !isRefused && expectationDeadline == nil && !mustSendAgain
    }

    /// Whether the response makes the rest of the body unnecessary.
    private var isRefused: Bool { responseHead.map { $0.status >= 300 } ?? false }

    /// Whether nothing of the request was sent over this connection.
    var isUnsent: Bool { output.byteCount == 0 }

    /// The body's source has nothing ready.
    func waitForBody() {
        state.isSendingPaused = true
        state.pauseDidChange(at: engine.loop.now)
    }

    /// The last byte of the request was sent.
    func didSendAll() { if requestEnd == 0 { requestEnd = MonotonicClock.now } }

    /// The kept connection turned out to be unusable before anything was sent.
    func connectionIsUnusable() { mustSendAgain = true }

    func sendingFailed() { isSendingBroken = true }

    func didSend(_ count: Int) {
        if output.byteCount == Int64(count) { sendCount += 1 }
        state.noteActivity(of: count, at: engine.loop.now)
        if output.isSent { didSendAll() }
        if sendsExpectation, output.isBeforeBody, responseHead == nil, !hasReceivedContinue {
            expectationDeadline = engine.loop.now + Self.longestExpectation
        }
        guard let observer, output.byteCount > Int64(head.bytes.count) else { return }
        observer.exchangeDidSend(bytes: output.bodyByteCount, expected: feed.map(\.length) ?? hop.exchange.body.length)
    }

    /// The body is sent from now on, whatever the server says about the expectation.
    func endExpectation() { expectationDeadline = nil }

    // MARK: The response

    /// Whether more of the response can be taken.
    var mayReceive: Bool {
        guard state.fault == nil, !isResponseComplete, !mustYield, !mustSendAgain else { return false }
        return !state.isSuspended && !state.isReceivingPaused
    }

    /// Whether decoded bytes can follow without more input.
    var hasMoreToDecode: Bool { decoder?.hasMore ?? false }

    /// Takes bytes of the response.
    ///
    /// - Returns: How many were taken. The others are delivered again when the exchange can take more.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> Int {
        var offset = 0
        if responseStart == 0, !bytes.isEmpty { responseStart = MonotonicClock.now }
        while mayReceive {
            if heldByteCount > 0 || hasMoreToDecode {
                let end = offset + min(heldByteCount, bytes.count - offset)
                let taken = try take(UnsafeRawBufferPointer(rebasing: bytes[offset..<end]))
                offset += taken
                heldByteCount -= taken
                continue
            }
            switch try nextEvent(in: bytes, at: &offset) {
            case nil: return offset
            case .informational(let head): receiveInformational(head)
            case .head(let head): try receive(head)
            case .body(let range):
                offset = range.lowerBound
                heldByteCount = range.count
            case .end: try endResponse()
            }
        }
        return offset
    }

    private func nextEvent(
        in bytes: UnsafeRawBufferPointer, at offset: inout Int
    ) throws(Fault) -> ResponseParser.Event? {
        let start = offset
        let isHead = responseHead == nil
        do throws(HTTP1Error) {
            let event = try parser.next(in: bytes, at: &offset)
            if isHead, offset > start {
                state.noteActivity(of: offset - start, at: engine.loop.now)
                if event == nil { state.beginHead(at: engine.loop.now) }
            }
            return event
        } catch {
            throw Fault(error.code, error.message)
        }
    }

    private func receiveInformational(_ head: ResponseHead) {
        state.receiveInformational(at: engine.loop.now)
        if head.status == 100 {
            hasReceivedContinue = true
            endExpectation()
        }
        observer?.exchangeDidReceiveInformational(head)
    }

    private func receive(_ head: ResponseHead) throws(Fault) {
        expectationDeadline = nil
        if isLateTimeout(head) { return mustSendAgain = true }
        if head.status == 417, sendsExpectation {
            guard isRewindable else {
                throw Fault(
                    .requestBodyFailed,
                    "the server refused the expectation (417) when a part of the body was sent, which can't be sent again"
                )
            }
            (sendsExpectation, mustSendAgain) = (false, true)
            return
        }
        responseHead = head
        state.receiveHead(refuses: head.status >= 300, at: engine.loop.now)
        observer?.exchangeDidReceiveHead(head)
        try apply(hop.headArrived(head))
    }

    /// Applies a decision about the head.
    private func apply(_ headDecision: HeadDecision) throws(Fault) {
        guard let head = responseHead else { return }
        switch headDecision {
        case .take(let delivery):
            decision = .taken
            if case .file(let descriptor, let limit)? = delivery, case .file = hop.exchange.delivery {
                sink = BodySink(descriptor: descriptor, limit: limit)
            }
            decoder = ContentDecoder(for: head, options: hop.exchange.options)
            if case .exact(let length)? = parser.bodyLength { sink.expect(length) }
            guard let stream else { return }
            self.stream = nil
            engine.deliver(TransportResponse(head: head, body: .stream(stream)), of: self)
        case .discard(let limit):
            decision = .discarded
            sink = BodySink(discarding: limit)
            state.discard(at: engine.loop.now)
            engine.noteDeadline(of: self)
            if case .exact(let length)? = parser.bodyLength, length > limit { throw .discarded }
        case .refuse(let error):
            throw Fault(.cancelled, "the response's head was refused", underlying: error)
        case .ask(let pending):
            state.isReceivingPaused = true
            state.pauseDidChange(at: engine.loop.now)
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
        guard case .awaited = decision, responseHead != nil else { return }
        state.isReceivingPaused = false
        engine.resumeCounting(connection)
        attempt { () throws(Fault) in try apply(headDecision) }
        state.pauseDidChange(at: engine.loop.now)
    }

    /// Takes a part of the body. Returns how many bytes were taken.
    private func take(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> Int {
        guard sink.source?.isFull != true else {
            state.isReceivingPaused = true
            state.pauseDidChange(at: engine.loop.now)
            return 0
        }
        var taken = bytes.count
        if let decoder, !isDiscarded {
            taken = try decode(bytes, decoder)
        } else {
            _ = try sink.write(bytes, evenIfFull: true)
        }
        state.noteActivity(of: taken, at: engine.loop.now)
        if !isDiscarded { observer?.exchangeDidReceive(bytes: sink.byteCount, expected: expectedByteCount) }
        return taken
    }

    /// Decodes one piece.
    private func decode(_ bytes: UnsafeRawBufferPointer, _ decoder: ContentDecoder) throws(Fault) -> Int {
        let now = MonotonicClock.now
        if turnStart == 0 { turnStart = now }
        guard now < turnStart + Self.longestTurn else {
            mustYield = true
            return 0
        }
        let output = piece ?? .allocate(byteCount: Self.decodedPieceSize, alignment: 16)
        piece = output
        var rest = bytes
        let count: Int
        do throws(TransportError) {
            count = try decoder.decode(&rest, into: output)
        } catch {
            throw Fault(error.code, error.message)
        }
        _ = try sink.write(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(output)[..<count]), evenIfFull: true)
        return bytes.count - rest.count
    }

    /// Whether it is known what is done with the response, or its head has not arrived.
    var isDecided: Bool { if case .awaited = decision { responseHead == nil } else { true } }

    private var isDiscarded: Bool { if case .discarded = decision { true } else { false } }

    private var expectedByteCount: Int64? {
        if decoder == nil, case .exact(let length)? = parser.bodyLength { length } else { nil }
    }

    private func endResponse() throws(Fault) {
        if !isDiscarded, let decoder {
            do throws(TransportError) { try decoder.finish() } catch { throw Fault(error.code, error.message) }
        }
        isResponseComplete = true
    }

    /// The server has closed the connection.
    func receiveEnd() throws(Fault) {
        if mayBeSentAgain { return mustSendAgain = true }
        do throws(HTTP1Error) {
            if case .end? = try parser.receiveEndOfInput(isClean: true) { try endResponseAtClose() }
        } catch {
            throw Fault(error.code, error.message)
        }
    }

    private func endResponseAtClose() throws(HTTP1Error) {
        do throws(Fault) { try endResponse() } catch { state.fail(error) }
    }

    /// Reading failed, or sending failed and everything that the server had sent was read.
    func connectionFailed(_ code: Int32) throws(Fault) {
        if mayBeSentAgain { return mustSendAgain = true }
        let end = responseHead == nil ? "the response arrived" : "the end of the response's body"
        throw Fault(.connectionLost, "the connection broke before \(end)", systemError: code)
    }

    // MARK: Sending again

    /// Whether the request can be sent again, over a connection that was not used before: nothing of a response has arrived on a kept
    /// connection, and the server didn't receive the request, or may receive it twice (RFC 9110, section 9.2.2).
    private var mayBeSentAgain: Bool {
        guard wasReused, sendCount <= 1, !parser.hasReceivedBytes else { return false }
        return output.byteCount == 0 || head.method.isIdempotent && isRewindable
    }

    /// Whether a 408 on a kept connection means that the server had closed it before the request arrived (RFC 9110, section 15.5.9).
    private func isLateTimeout(_ head: ResponseHead) -> Bool {
        head.status == 408 && wasReused && sendCount == 1 && self.head.method.isIdempotent && isRewindable
            && FieldScanner.elements(of: head.values(for: .connection)).contains { $0.asciiLowercased == "close" }
    }

    /// Whether the request must be sent again: a kept connection was lost, or the server refused the expectation (417; RFC 9110,
    /// section 15.5.18).
    @exclusivity(unchecked) private(set) var mustSendAgain = false

    private var isRewindable: Bool { feed.map { output.bodyByteCount == 0 || $0.seek(to: 0) } ?? true }

    /// Prepares for another connection.
    func rewind() throws(Fault) {
        (connection, mustSendAgain, hasReceivedContinue, isSendingBroken) = (nil, false, false, false)
        parser = ResponseParser(.init(head, url: hop.exchange.responseURL), options: hop.exchange.options)
        guard isRewindable, feed?.seek(to: 0) ?? true else {
            throw Fault(.requestBodyFailed, "the request's body can't be sent again")
        }
        try setHead(sendsExpectation ? hop.exchange : hop.exchange.withoutExpectation)
        (heldByteCount, responseStart, requestEnd, expectationDeadline) = (0, 0, 0, nil)
        (isResponseComplete, decision, responseHead) = (false, .awaited, nil)
        state.reconnect()
    }

    // MARK: The end

    /// Ends a turn: pieces of a streamed body are handed over.
    func endTurn() {
        (turnStart, mustYield) = (0, false)
        sink.flush()
    }

    /// Whether the exchange is complete: the response has arrived, and no more of the request is sent.
    var isComplete: Bool {
        isResponseComplete
            && (output.isSent || isRefused || isSendingBroken
                || !parser.isReusable(remainingByteCount: 0, isRequestSent: true))
    }

    /// Whether the connection can carry another request.
    func leavesConnectionReusable(surplus: Int) -> Bool {
        if mustSendAgain { return false }
        if isUnsent { return surplus == 0 }
        return state.fault == nil && isResponseComplete
            && parser.isReusable(remainingByteCount: surplus, isRequestSent: output.isSent)
    }

    var keepAliveTimeout: Int? { parser.keepAliveTimeout }

    /// Why the exchange must end now, if it must.
    func expiry(at now: UInt64) -> Fault? {
        isCancelled.load(ordering: .relaxed) ? .cancelled : state.expiry(at: now)
    }

    /// What the caller gets. Nil if the response was delivered before.
    func result(phase: TransportError.Phase) -> Result<TransportResponse, any Error> {
        sink.flush()
        let report = report
        let isOver = state.fault == nil || state.fault?.code != .cancelled
        if let head = responseHead, isDiscarded, isOver {
            return .success(TransportResponse(head: head, body: .data(Data()), report: report))
        }
        if state.fault == nil, let head = responseHead {
            sink.source?.finish(throwing: nil, report: report)
            return .success(TransportResponse(head: head, body: sink.complete() ?? .data(Data()), report: report))
        }
        let fault = state.fault ?? .cancelled
        var error = TransportError(
            fault.code, phase: phase, url: hop.exchange.url, message: fault.message, systemError: fault.systemError,
            underlying: fault.underlying)
        let peer = lastConnection?.remote ?? lastAttempt?.address?.numbers
        error.peer = peer.map { HostName.authority($0.address, port: $0.port) }
        error.report = report
        if responseHead != nil, case .data(let data)? = sink.complete() { error.partialBody = data }
        sink.source?.finish(throwing: error, report: report)
        return .failure(error)
    }

    var phase: TransportError.Phase {
        switch state.phase {
        case .queued: .queued
        case .connecting: engine.phase(of: self)
        case .connected: output.isSent ? .awaitingResponse : .sending
        case .receiving, .finished: .receiving
        }
    }

    /// Releases what would retain the exchange through its own callbacks.
    func release() {
        feed?.close()
        (feed, stream, connection, lastConnection, lastAttempt) = (nil, nil, nil, nil, nil)
        sink = BodySink(collecting: 0)
    }

    private var report: TransportReport {
        func date(_ time: UInt64) -> Date? {
            time == 0 ? nil : started.addingTimeInterval((Double(time) - Double(startTime)) / 1e9)
        }
        var metrics = TransactionMetrics()
        metrics.fetchStartDate = started
        metrics.isReusedConnection = wasReused
        metrics.resendCount = max(0, sendCount - 1)
        if !wasReused, let times = lastConnection?.times ?? lastAttempt?.times {
            metrics.domainLookupStartDate = date(times.lookupStart)
            metrics.domainLookupEndDate = date(times.lookupEnd)
            metrics.connectStartDate = metrics.domainLookupEndDate
            metrics.connectEndDate = date(times.connectEnd)
        }
        if let connection = lastConnection {
            (metrics.remoteAddress, metrics.remotePort) = (connection.remote?.address, connection.remote?.port)
            (metrics.localAddress, metrics.localPort) = (connection.local?.address, connection.local?.port)
        }
        metrics.requestStartDate = date(requestStart)
        metrics.requestEndDate = date(requestEnd)
        metrics.responseStartDate = date(responseStart)
        metrics.responseEndDate = date(MonotonicClock.now)
        metrics.networkProtocolName = responseHead.map { $0.httpVersion == "HTTP/1.0" ? "http/1.0" : "http/1.1" }
        metrics.countOfRequestHeaderBytesSent = min(output.byteCount, Int64(head.bytes.count))
        metrics.countOfRequestBodyBytesSent = max(0, output.byteCount - Int64(head.bytes.count))
        metrics.countOfRequestBodyBytesBeforeEncoding = sendCount > 0 ? output.bodyByteCount : 0
        metrics.countOfResponseHeaderBytesReceived = Int64(parser.headByteCount)
        metrics.countOfResponseBodyBytesReceived = parser.bodyByteCount
        metrics.countOfResponseBodyBytesAfterDecoding = sink.byteCount
        return TransportReport(transactions: [metrics], trailers: parser.trailers)
    }
}

extension Exchange {
    /// The head of the request.
    ///
    /// - Parameter feed: The source of a body that is read while it is sent.
    fileprivate func head(feed: BodyFeed?) throws(HTTP1Error) -> RequestHead {
        let framing: RequestHead.BodyFraming =
            if let feed { feed.length.map { .length($0) } ?? .chunked } else {
                inlineBody.map { .length(Int64($0.count)) } ?? .none
            }
        let defaults = options.defaultFields.prepared(DefaultFieldsWithAccept.init)
        return try RequestHead(request, defaultFields: defaults.fields, body: framing)
    }

    /// Default fields with an `Accept` field. Some servers reject requests without one, so most clients send it.
    private final class DefaultFieldsWithAccept: Sendable {
        let fields: HTTPFields

        init(_ fields: HTTPFields) {
            self.fields =
                fields.contains(.accept) ? fields : HTTPFields([HTTPField(name: .accept, value: "*/*")] + fields)
        }
    }
}

extension Exchange {
    /// A body that is sent together with the head.
    fileprivate var inlineBody: Data? {
        guard case .data(let data) = body, data.count <= RequestOutput.largestInlineBody, !expects100Continue else {
            return nil
        }
        return data
    }

    /// Whether the body waits until the server asks for it (RFC 9110, section 10.1.1).
    fileprivate var expects100Continue: Bool {
        guard !body.isNone else { return false }
        let fields = request.headerFields.contains(.expect) ? request.headerFields : options.defaultFields.fields
        return fields[.expect]?.asciiLowercased == "100-continue"
    }
}
