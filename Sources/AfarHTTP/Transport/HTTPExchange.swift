import AfarHTTP1
import AfarTransport
import Foundation
import HTTPTypes
import Synchronization

/// An HTTP exchange. It is prepared on the caller's thread, and then belongs to its engine.
final class HTTPExchange: LoopExchange, @unchecked Sendable {
    // Sendable because only one thread uses it at a time: the caller's, then the loop's.

    /// The state of the request over one connection, and of its response. If the request is sent again, a new value replaces this state.
    struct Sending: ~Copyable {
        var parser: ResponseParser
        var output: RequestOutput
        var wasReused = false
        /// When to send the body even without `100 (Continue)`; `UInt64.max` if the request doesn't wait for that response.
        var expectationDeadline = UInt64.max
        var hasReceivedContinue = false
        /// Whether sending has failed, so the rest of the request can't be sent.
        var isSendingBroken = false
        /// The stream of an HTTP/2 connection; nil over HTTP/1.1.
        var http2: HTTP2Stream?
        /// Whether the body of an HTTP/2 request has waited for `100 (Continue)`.
        var hasAwaitedContinue = false
        var responseHead: ResponseHead?
        var headState = HeadState.none
        /// Nil if the body isn't decoded.
        var decoder: PieceDecoder?
        /// The number of body bytes that the parser has found but the exchange hasn't consumed. The next delivery begins with
        /// these bytes.
        var heldByteCount = 0
        var isResponseComplete = false
        /// Whether the request must be sent again, because a reused connection was lost, or the server refused the expectation
        /// (417; RFC 9110, section 15.5.18).
        var mustSendAgain = false

        // In nanoseconds of the monotonic clock.
        var requestStart: UInt64 = 0
        var requestEnd: UInt64 = 0
        var responseStart: UInt64 = 0

        init(_ head: RequestHead, _ exchange: Exchange, _ url: String, _ key: ConnectionKey, feed: BodyFeed?) {
            parser = ResponseParser(
                .init(head, url: url, canUpgrade: key.purpose == .upgrade), options: exchange.options)
            output = RequestOutput(head: head, inlineBody: feed == nil ? exchange.inlineBody : nil, feed: feed)
        }
    }

    /// The maximum time that a body waits for `100 (Continue)`, in nanoseconds (RFC 9110, section 10.1.1).
    private static let longestExpectation: UInt64 = 1_000_000_000

    let hop: Hop
    let engine: HTTPEngine
    let key: ConnectionKey
    let observer: (any ExchangeObserver)?
    let responseURL: String
    let started = Date()
    let startTime = MonotonicClock.now
    private let cancellation = Atomic(false)

    @exclusivity(unchecked) var completion: Completion?
    @exclusivity(unchecked) var stream: ResponseBodyStream?
    @exclusivity(unchecked) var owner: (any AnyObject & Sendable)?

    @exclusivity(unchecked) var index: Int?
    /// Whether the exchange is in the pool's queue.
    @exclusivity(unchecked) var isWaiting = false
    @exclusivity(unchecked) var connection: HTTPConnection?
    /// The last connection, or the failed attempt to open one, for metrics and errors.
    @exclusivity(unchecked) private(set) var lastConnection: HTTPConnection?
    @exclusivity(unchecked) var lastAttempt: ConnectionAttempt?

    @exclusivity(unchecked) var state: TransferState
    @exclusivity(unchecked) var sending: Sending
    @exclusivity(unchecked) private(set) var sendCount = 0
    @exclusivity(unchecked) private(set) var head: RequestHead
    @exclusivity(unchecked) private var feed: BodyFeed?
    @exclusivity(unchecked) private var hasOpenedBody = false
    /// Whether the request waits for `100 (Continue)` before it sends its body.
    @exclusivity(unchecked) var sendsExpectation: Bool
    /// The stream of the WebSocket's bytes, if the exchange is for a WebSocket over HTTP/2.
    @exclusivity(unchecked) var tunnel: ExchangeStream?
    @exclusivity(unchecked) var sink: BodySink
    /// When decoding began in the current turn, in nanoseconds of the monotonic clock.
    @exclusivity(unchecked) var turnStart: UInt64 = 0
    /// Whether the exchange has used up its time in the current turn.
    @exclusivity(unchecked) var mustYield = false

    /// - Throws: A ``TransportError`` if the request can't be sent.
    init(_ hop: Hop, _ key: ConnectionKey, engine: HTTPEngine) throws {
        (self.hop, self.key, self.engine) = (hop, key, engine)
        observer = hop.observer
        let exchange = hop.exchange
        do throws(Fault) {
            // Only check a file here. It is opened again for sending, because a waiting exchange shouldn't use a descriptor.
            if case .file(let url) = exchange.body { try BodyFeed(file: url).close() }
            head = try exchange.head(feed: nil, for: key.route?.requestProxy)
        } catch {
            throw hop.failure(error)
        }
        responseURL = exchange.responseURL
        sending = Sending(head, exchange, responseURL, key, feed: nil)
        sendsExpectation = exchange.expects100Continue
        state = TransferState(hop, now: startTime)
        sink = BodySink(exchange.delivery)
    }

    var headState: HeadState {
        get { sending.headState }
        set { sending.headState = newValue }
    }

    func post(_ signal: ExchangeSignal) { engine.post(self, signal) }

    /// Whether the caller's thread can send the whole request quickly, and without calling an observer. The caller may hold locks
    /// that an observer requires.
    var canBeSentByCaller: Bool {
        guard key.purpose == .requests, !isPreconnection else { return false }
        return switch hop.exchange.body {
        case .none: true
        case .data: observer == nil && hop.exchange.inlineBody != nil
        case .file, .stream: false
        }
    }

    // MARK: The request

    /// Begins sending the request over a connection.
    func begin(on connection: HTTPConnection, at now: UInt64) {
        (self.connection, lastConnection) = (connection, connection)
        _ = state.connect(at: now)
        if !hasOpenedBody { recordingFault(openBody) }
        // The connection may have been opened after the start of the loop's turn.
        let opened = max(connection.times.connectEnd, connection.times.secureEnd)
        (sending.wasReused, sending.requestStart) = (connection.isReused, max(now, opened))
        if isTunnel, connection.http2 == nil {
            state.fail(Fault(.unsupportedByTransport, "extended CONNECT requires HTTP/2 (RFC 8441)"))
        }
        if key.purpose == .otherProtocol {
            recordingFault { () throws(Fault) in
                try receive(ResponseHead(status: 200, httpVersion: "", url: hop.exchange.url))
            }
        }
    }

    /// Opens a body that is read while it is sent. Don't open the body earlier, because an exchange that waits for a connection
    /// shouldn't use a descriptor.
    private func openBody() throws(Fault) {
        hasOpenedBody = true
        switch hop.exchange.body {
        case .none: return
        case .data(let data):
            guard hop.exchange.inlineBody == nil else { return }
            feed = BodyFeed(data: data)
        case .file(let url): feed = try BodyFeed(file: url)
        case .stream(let stream):
            let pump = BodyPump { self.post(.bodyReady) }
            // Over HTTP/1.1, only a chunked body can have trailers.
            feed = BodyFeed(pump: pump, length: stream.trailers == nil ? stream.length : nil)
            pump.start(stream)
        }
        try prepareSending()
    }

    /// Returns the source of the request's body; nil without a body.
    func makeFeed() throws(Fault) -> BodyFeed? {
        if feed == nil, case .data(let data) = hop.exchange.body, !data.isEmpty { feed = BodyFeed(data: data) }
        return feed
    }

    /// The number of bytes of the body that were read for sending.
    var sentBodyByteCount: Int64 { feed?.byteCount ?? 0 }

    /// Records that the request was passed to an HTTP/2 session.
    func didSubmit() { sendCount += 1 }

    /// Starts the time for which the body waits for `100 (Continue)`.
    func awaitContinue() {
        sending.expectationDeadline = engine.loop.now + Self.longestExpectation
        engine.noteDeadline(of: self)
    }

    /// The exchange, without the expectation if the server has refused it.
    var acceptedExchange: Exchange {
        hop.exchange.expects100Continue && !sendsExpectation ? hop.exchange.without(.expect) : hop.exchange
    }

    private func prepareSending() throws(Fault) {
        let exchange = acceptedExchange
        head = try exchange.head(feed: feed, for: key.route?.requestProxy)
        sending = Sending(head, exchange, responseURL, key, feed: feed)
    }

    /// Whether bytes of the request can be sent.
    var canSend: Bool {
        guard state.fault == nil, !state.isSuspended, !state.isSendingPaused, !sending.output.isSent else {
            return false
        }
        return !state.needsNoMoreBody && sending.expectationDeadline == .max && !sending.mustSendAgain
    }

    /// The earliest time at which the exchange must continue or end.
    var nextDeadline: UInt64 { min(state.nextDeadline, sending.expectationDeadline) }

    /// Whether nothing was sent over the current connection.
    var isUnsent: Bool { sending.output.byteCount == 0 }

    /// Pauses sending until the body's source has bytes ready.
    func waitForBody() {
        state.isSendingPaused = true
        state.pauseDidChange(at: engine.loop.now)
    }

    /// Records that the last byte of the request was sent.
    func didSendAll() { if sending.requestEnd == 0 { sending.requestEnd = MonotonicClock.now } }

    func didSend(_ count: Int) {
        if sending.output.byteCount == Int64(count) {
            sendCount += 1
            if let report = hop.exchange.context[SentHeadReceiver.self] { SentHead(lines: head.bytes).map(report) }
        }
        state.noteActivity(of: count, at: engine.loop.now)
        if sending.output.isSent { didSendAll() }
        if sendsExpectation, sending.output.isBeforeBody, sending.responseHead == nil, !sending.hasReceivedContinue {
            awaitContinue()
        }
        guard let observer, sending.output.byteCount > Int64(head.bytes.count) else { return }
        observer.exchangeDidSend(
            bytes: sending.output.bodyByteCount, expected: feed.map(\.length) ?? hop.exchange.body.length)
    }

    // MARK: Sending again

    /// Whether the request can be sent again over a new connection. This requires a reused connection over which no byte of the
    /// response has arrived. In addition, either no byte of the request has been sent, or the method is idempotent (RFC 9110,
    /// section 9.2.2).
    var canBeResent: Bool {
        guard sending.wasReused, sendCount <= 1, !sending.parser.hasReceivedBytes else { return false }
        return sending.output.byteCount == 0 || head.method.isIdempotent && rewindBody()
    }

    /// Whether a response is a 408 that the server sent over a reused connection before the request arrived (RFC 9110, section
    /// 15.5.9).
    func isLateTimeout(_ head: ResponseHead) -> Bool {
        head.status == 408 && sending.wasReused && sendCount == 1 && self.head.method.isIdempotent
            && FieldScanner.elements(of: head.values(for: .connection)).contains { $0.asciiLowercased == "close" }
            && rewindBody()
    }

    /// Whether the server accepts the request only over a connection that hasn't served other requests (421; RFC 9110, section 15.5.20).
    func isMisdirected(_ head: ResponseHead) -> Bool {
        head.status == 421 && sending.wasReused && sendCount == 1 && rewindBody()
    }

    /// Rewinds the body. Returns false if it can't be read again.
    func rewindBody() -> Bool {
        guard let feed, !feed.seek(to: 0) else { return true }
        guard hop.exchange.body.isReplayable else { return false }
        feed.close()
        (self.feed, hasOpenedBody) = (nil, false)
        return true
    }

    /// The length of the response's body before decoding; nil if it is unknown.
    var declaredLength: Int64? {
        guard sending.http2 != nil else { return sending.parser.declaredLength }
        return sending.responseHead.flatMap { $0.canHaveBody(to: head.method) ? $0.contentLength : 0 }
    }

    /// Prepares to send the request over another connection.
    func rewind() throws(Fault) {
        (connection, lastConnection) = (nil, nil)
        guard rewindBody() else {
            throw Fault(.requestBodyFailed, "the request's body can't be sent again")
        }
        try prepareSending()
        state.reconnect()
    }

    // MARK: The end

    /// Whether the exchange only opens a connection.
    var isPreconnection: Bool { hop.exchange.options.preconnectionLimit != nil }

    /// Completes an exchange that only opens a connection.
    func completePreconnection() {
        recordingFault { () throws(Fault) in
            try receive(ResponseHead(status: 204, httpVersion: "", url: responseURL))
            sending.isResponseComplete = true
        }
    }

    func cancel() {
        cancellation.store(true, ordering: .relaxed)
        post(.cancel)
    }

    var isCancelled: Bool { cancellation.load(ordering: .relaxed) }

    /// Ends a turn, and delivers the pieces of a streamed body.
    func endTurn() {
        (turnStart, mustYield) = (0, false)
        sink.flush()
    }

    /// Whether the response has arrived and no more of the request will be sent.
    var isComplete: Bool {
        sending.isResponseComplete
            && (sending.http2 != nil || sending.output.isSent || state.needsNoMoreBody || sending.isSendingBroken
                || !sending.parser.isReusable(remainingByteCount: 0, isRequestSent: true) || isDuplex)
    }

    /// Whether the bodies carry another protocol (RFC 8441).
    var isTunnel: Bool { hop.exchange.request.extendedConnectProtocol != nil }

    /// Whether the exchange ends with the response, even if part of the request's body hasn't been sent.
    private var isDuplex: Bool { if case .stream(let stream) = hop.exchange.body { stream.isDuplex } else { false } }

    /// Whether the connection can carry another request.
    func leavesConnectionReusable(surplus: Int) -> Bool {
        if sending.mustSendAgain || key.purpose == .otherProtocol { return false }
        // If the connection accepted no bytes before the timeout, it is broken.
        if isUnsent { return surplus == 0 && state.fault?.code != .timedOut }
        return state.fault == nil && sending.isResponseComplete
            && sending.parser.isReusable(remainingByteCount: surplus, isRequestSent: sending.output.isSent)
    }

    var keepAliveTimeout: Int? { sending.parser.keepAliveTimeout }

    /// Releases the objects whose callbacks would otherwise retain the exchange.
    func release() {
        feed?.close()
        tunnel?.sendingEnded()
        (tunnel, feed, stream, connection, lastConnection, lastAttempt, owner) = (nil, nil, nil, nil, nil, nil, nil)
        sink = BodySink(discarding: 0)
    }
}
