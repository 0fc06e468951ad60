import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes
import Synchronization

/// One exchange on its way through libcurl. Made on the caller's thread, then owned by its loop's.
final class Transfer: PreparedExchange, @unchecked Sendable {
    // Sendable because it is handed from the caller to the loop by a message, and used by one of them at a time.

    /// How far the look-up of the host's name is, if one is needed.
    enum Lookup {
        case none
        /// There are too many. libcurl does not have the transfer meanwhile.
        case waiting(LookupLimiter<Transfer>.Slot)
        case running(LookupLimiter<Transfer>.Slot)

        var isPending: Bool {
            if case .none = self { false } else { true }
        }
    }

    var exchange: Exchange { hop.exchange }
    /// Whose connections are limited together: those to a host under one requirement on their security.
    var limitedHost: String {
        guard let security = hop.exchange.options.security else { return plan.host }
        return "\(plan.host) \(UInt(bitPattern: ObjectIdentifier(security)))"
    }
    /// How libcurl authenticates the connection; nil when it does not.
    let authentication: ConnectionAuthentication?
    let observer: (any ExchangeObserver)?

    typealias Completion = @Sendable (Result<TransportResponse, any Error>) -> Void

    private let hop: Hop
    let plan: RequestPlan
    let loop: CurlLoop
    let started = Date()
    /// When libcurl was given the transfer last.
    @exclusivity(unchecked) var handoverDate: Date?

    @exclusivity(unchecked) var state: TransferState
    @exclusivity(unchecked) var reader: ResponseReader
    @exclusivity(unchecked) var sink: BodySink
    @exclusivity(unchecked) var feed: BodyFeed?
    /// Begins to read a streamed body, which can be read once: not before a connection may be used for it.
    @exclusivity(unchecked) var startPump: (() -> Void)?
    @exclusivity(unchecked) private var isResuming = false
    private let isCancelled = Atomic(false)
    /// The loop's iteration in which the last of the body arrived, and when the first of that arrived.
    @exclusivity(unchecked) private var timeSlice: (number: UInt64, start: UInt64) = (0, 0)

    // The loop's book-keeping.
    @exclusivity(unchecked) var index: Int?
    @exclusivity(unchecked) var slot: HostLimiter<Transfer>.Slot?
    /// Whether the host limiter has admitted it.
    @exclusivity(unchecked) var isAdmitted = false
    @exclusivity(unchecked) var lookup = Lookup.none
    /// Whether it has gathered pieces of a streamed body, which the loop will have handed over.
    @exclusivity(unchecked) var isGathering = false
    @exclusivity(unchecked) var isAdded = false
    @exclusivity(unchecked) var handle: EasyHandle?
    @exclusivity(unchecked) var pool: CurlPool?
    /// The socket of the transfer's connection, once that is there.
    @exclusivity(unchecked) private(set) var socket: Int32?
    /// The socket that was opened for it last.
    @exclusivity(unchecked) private(set) var openedSocket: Int32?
    /// Whether the kept connection that libcurl chose must not be used, so that the transfer begins again on a new one.
    @exclusivity(unchecked) private(set) var mustStartOver = false
    @exclusivity(unchecked) private(set) var hasStartedOver = false
    /// How often the request went out.
    @exclusivity(unchecked) private(set) var sendCount = 0
    /// The head of a 417 that refused an expectation, or of a 401 while libcurl authenticates. libcurl may send the request
    /// again without the expectation (RFC 9110, section 15.5.18), or with its next message, without a word and without this
    /// answer's body; only what follows tells whether it does.
    @exclusivity(unchecked) var refusal: ResponseHead?
    @exclusivity(unchecked) private var headersWithoutExpectation: StringList?
    /// When the last of a body that libcurl asks for was handed to it.
    @exclusivity(unchecked) private(set) var bodyEnd: Date?
    /// What was agreed on in the TLS handshake; nil without TLS.
    @exclusivity(unchecked) private(set) var agreement: TLSAgreement?
    /// Whether other transfers use the connection at the same time.
    @exclusivity(unchecked) private var isOnSharedConnection = false
    /// How the server ends the TLS connection; nil without TLS, and over HTTP/2, where streams have ends of their own.
    @exclusivity(unchecked) private var ending: TLSEnding?
    /// Why no socket could be opened.
    @exclusivity(unchecked) private(set) var socketError: Int32?
    /// What is done with the response, as far as that is known.
    @exclusivity(unchecked) var decision = Decision.none
    /// How libcurl ended the transfer before the decision was given.
    @exclusivity(unchecked) var early: EarlyEnd?
    @exclusivity(unchecked) private var completion: Completion?
    @exclusivity(unchecked) private var stream: ResponseBodyStream?
    /// What lives as long as the stream of a streamed response does.
    @exclusivity(unchecked) var streamOwner: (any AnyObject & Sendable)?
    /// Decodes the body. Nil if it is delivered as it is. To be read only after the head has arrived.
    private(set) lazy var decoding =
        reader.hasContentEncoding ? reader.head.flatMap { BodyDecoding($0, exchange.options) } : nil
    /// The number of bytes that the observer can expect. Nil if it is unknown, as it is for a body that is decoded.
    var expectedByteCount: Int64? { decoding == nil ? reader.contentLength : nil }

    init(_ hop: Hop, _ plan: consuming RequestPlan, loop: CurlLoop) {
        self.hop = hop
        self.loop = loop
        observer = hop.observer
        authentication = hop.connectionAuthentication
        reader = ResponseReader(url: hop.exchange.responseURL, options: hop.exchange.options)
        self.plan = plan
        let isStreamed = if case .stream = hop.exchange.delivery { true } else { false }
        state = TransferState(
            options: hop.exchange.options, totalTimeout: hop.totalTimeout, isWatched: isStreamed,
            now: MonotonicClock.now)
        sink = BodySink(hop.exchange.delivery)
    }

    /// Makes the stream of a streamed response.
    private func makeStream(highWaterMark: Int) {
        let (stream, source) = ResponseBodyStream.make(
            highWaterMark: highWaterMark,
            onDemand: { [loop, owner = streamOwner.take()] in
                loop.post(.demand(self))
                _ = owner
            },
            onCancel: { [loop] in loop.post(.cancel(self)) })
        self.stream = stream
        sink = BodySink(source: source, highWaterMark: highWaterMark)
    }

    func start(completion: @escaping Completion) {
        self.completion = completion
        // Not before: it holds the transfer that holds it, and what is never started has no end at which that is undone.
        if case .stream(let highWaterMark) = exchange.delivery { makeStream(highWaterMark: highWaterMark) }
        exchange.control.attach { [loop] _ in loop.post(.suspensionChanged(self)) }
        loop.post(.submit(self))
    }

    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
        loop.post(.cancel(self))
    }

    /// Why the transfer must end now, although the loop has not come to that.
    var interruption: Fault? {
        isCancelled.load(ordering: .relaxed) ? .cancelled : state.expiry(at: MonotonicClock.now)
    }

    func takeCompletion() -> Completion? {
        defer { completion = nil }
        return completion
    }

    /// No more of the request's body is wanted.
    func closeFeed() {
        feed?.close()
        feed = nil
    }

    /// Releases what would keep the transfer alive through its own callbacks.
    func release() {
        closeFeed()
        startPump = nil
        stream = nil
        sink = BodySink(collecting: 0)
    }

    /// The transfer that a handle works for.
    static func of(_ easy: UnsafeMutableRawPointer) -> Transfer? {
        var context: UnsafeMutableRawPointer?
        guard afar_get_private(easy, &context) == CURLE_OK, let context else { return nil }
        return EasyHandle.from(context).transfer
    }

    // MARK: On the way

    /// The directions that are to stand still, as libcurl's `CURLPAUSE_…` bits.
    var pauseMask: Int32 {
        if state.isSuspended { return CURLPAUSE_RECV | CURLPAUSE_SEND }
        return (state.isReceivingPaused ? CURLPAUSE_RECV : 0) | (state.isSendingPaused ? CURLPAUSE_SEND : 0)
    }

    /// Whether a response that has begun is neither to be broken off nor to stand still. The HTTP/2 of libcurl before 8.17 would leave
    /// what has come for others of the connection in a buffer.
    var mustBeReadToItsEnd: Bool {
        isOnSharedConnection && reader.head != nil && !CurlLibrary.shared.pausesStreams
    }

    /// Whether the response is whole, though libcurl tells of a failure: over HTTP/2, versions before 8.0 go on to send to a
    /// server that has answered before it had read all, and that then says nothing but this code.
    func hasCome(despite code: CURLcode) -> Bool {
        code == CURLE_HTTP2_STREAM && isOnSharedConnection && reader.head != nil && handle?.errorMessage.isEmpty == true
    }

    /// Whether less has come of a body than was announced, which libcurl's HTTP/2 does not always see.
    private var isCutOff: Bool {
        guard isOnSharedConnection, plan.method != .head, let length = reader.contentLength,
            let status = reader.head?.status, status != 204, status != 304
        else { return false }
        return decoding?.encodedByteCount ?? sink.byteCount < length
    }

    /// Whether the body ends where the TCP connection does, although the server did not end the TLS connection (RFC 9112,
    /// section 9.8).
    private var isTruncated: Bool {
        guard let ending, !ending.isAnnounced, !exchange.options.acceptsBodiesWithoutTLSCloseNotify,
            plan.method != .head, let status = reader.head?.status, status != 204, status != 304
        else { return false }
        return reader.bodyEndsWithConnection
    }

    /// The TLS connection to a proxy that a request without TLS goes through.
    private var proxyConnection: TLSConnection? {
        plan.route?.proxy?.kind == .https ? handle.flatMap { TLSConnection($0) } : nil
    }

    /// Decides, before the first byte of the request, whether the connection that libcurl has chosen is fit for it.
    ///
    /// Bytes that came over a kept connection while nobody had asked are no answer to this request, and libcurl would
    /// take them for one.
    func canUseConnection(on socket: Int32?) -> Bool {
        self.socket = socket
        let connection = plan.isSecure ? handle.flatMap { TLSConnection($0) } : nil
        let isShared = connection?.speaksHTTP2 ?? (plan.version == .http2)
        let isKept = handle?.long(CURLINFO_NUM_CONNECTS) == 0
        let isOfAnotherVersion = plan.version == .http2 && !isShared
        if let socket, let handle, !hasStartedOver, isKept,
            isOfAnotherVersion || pool?.isUnfit(socket, connection) == true
        {
            mustStartOver = true
            _ = afar_set_long(handle.raw, CURLOPT_FORBID_REUSE, 1)
            return false
        }
        agreement = connection?.agreement
        guard isTrusted(connection), mayBeSent() else { return false }
        if isOfAnotherVersion {
            state.fail(Fault(.secureConnectionFailed, "the server does not agree to HTTP/2, which is demanded"))
            return false
        }
        if plan.version == .negotiated, !isKept { loop.serverAgreed(toHTTP2: isShared, with: self) }
        if let socket { pool?.taken(socket, by: self, isShared: isShared, tls: connection) }
        isOnSharedConnection = isShared
        ending = isShared ? nil : (connection ?? proxyConnection)?.ending
        sendCount += 1
        startPump.take()?()
        connectionEstablished()
        return true
    }

    /// Whether the request may go out, for the first time or once more: libcurl sends it again by itself when a kept
    /// connection closed without an answer, which the server may have acted upon all the same (RFC 9110, section 9.2.2).
    private func mayBeSent() -> Bool {
        if let refusal { return refusal.status == 401 ? resumeAuthentication() : dropExpectation() }
        guard sendCount == 0 || plan.method.isIdempotent && reader.head == nil else {
            state.fail(
                Fault(
                    .connectionLost,
                    "the kept connection closed before the answer came; the server may have acted upon the request"))
            return false
        }
        return true
    }

    /// Makes the request ready to be sent without its expectation. libcurl leaves a field of the caller's where it is, and
    /// not always starts the body over.
    private func dropExpectation() -> Bool {
        guard let handle, feed.map({ $0.byteCount == 0 || $0.seek(to: 0) }) ?? true else {
            state.fail(
                Fault(
                    .requestBodyFailed,
                    "the server refused \"Expect\" (417) when some of the body was on its way, which cannot be sent again"
                ))
            return false
        }
        refusal = nil
        reader = ResponseReader(url: exchange.responseURL, options: exchange.options)
        headersWithoutExpectation = plan.headers(for: Hop(exchange.withoutExpectation))
        return afar_set_header_list(handle.raw, headersWithoutExpectation?.first) == CURLE_OK
    }

    /// Opens a socket to an address of the host; −1 when that cannot be.
    func openSocket(to address: UnsafePointer<curl_sockaddr>) -> Int32 {
        loop.lookupEnded(self)
        let socket = afar_socket_cloexec(address)
        socketError = socket < 0 ? errno : nil
        if socket >= 0 {
            openedSocket = socket
            pool?.opened(socket, for: self)
        }
        return socket
    }

    /// Asks for a fresh connection. Nothing was sent on the one before.
    func startOver() {
        mustStartOver = false
        hasStartedOver = true
        socket = nil
    }

    /// Tells libcurl which directions stand still.
    ///
    /// What libcurl has kept is handed over inside this call, and all of it is taken: the rest of what one buffer was
    /// decoded to would be copied each time that a little of it is refused again.
    func applyPauses(to handle: EasyHandle) -> CURLcode {
        isResuming = true
        let code = curl_easy_pause(handle.raw, pauseMask)
        isResuming = false
        sink.flush()
        guard code == CURLE_OK, !state.isReceivingPaused, sink.source?.isFull == true else { return code }
        state.isReceivingPaused = true
        return curl_easy_pause(handle.raw, pauseMask)
    }

    func connectionEstablished() {
        loop.lookupEnded(self)
        guard state.connect(at: loop.now) else { return }
        loop.noteDeadline(of: self)
        // libcurl must not be told from inside its own callback.
        if state.isSuspended { loop.post(.suspensionChanged(self)) }
    }

    /// libcurl hands over the lines of a head one by one, except those that it read while the transfer stood still: they
    /// come in one piece afterwards.
    func receive(lines: UnsafeRawBufferPointer) throws(Fault) {
        var rest = lines
        while let start = rest.baseAddress, rest.count > 0 {
            let count = memchr(start, 0x0A, rest.count).map { UnsafeRawPointer($0) - start + 1 } ?? rest.count
            try receive(line: UnsafeRawBufferPointer(rebasing: rest[..<count]))
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    private func receive(line: UnsafeRawBufferPointer) throws(Fault) {
        connectionEstablished()
        state.noteActivity(of: line.count, at: loop.now)
        switch try reader.receive(line: line) {
        case .none: break
        case .informational(let head):
            state.receiveInformational(at: loop.now)
            observer?.exchangeDidReceiveInformational(head)
        case .head(let head): try receive(head)
        }
    }

    private func receive(_ head: ResponseHead) throws(Fault) {
        // libcurl stops sending after a refusal or a redirect, but would wait for the end of a pause before it ends the transfer.
        // A message of an authentication goes without the body, of which nothing has been asked for yet.
        if head.status >= 300, let feed, authentication == nil || feed.byteCount > 0 || state.isSendingPaused {
            loop.noteRefusal(of: self)
        }
        if head.status == 417 && hasExpectation || head.status == 401 && authentication != nil {
            refusal = head
        } else {
            try deliver(head)
        }
    }

    /// Whether the server is asked before the body is sent (RFC 9110, section 10.1.1).
    private var hasExpectation: Bool {
        exchange.request.headerFields.contains(.expect) || exchange.options.defaultFields.fields.contains(.expect)
    }

    /// A 417 or a 401 was the last word after all.
    func deliverRefusal() throws(Fault) {
        guard let head = refusal else { return }
        refusal = nil
        try deliver(head)
    }

    private func deliver(_ head: ResponseHead) throws(Fault) {
        noteSent()
        state.receiveHead(refuses: head.status >= 300, at: loop.now)
        observer?.exchangeDidReceiveHead(head)
        try apply(hop.headArrived(head), about: head)
    }

    /// The response is taken: a streamed one is returned at its head.
    func takeBody(of head: ResponseHead) {
        sink.expect(plan.method == .head ? nil : reader.contentLength)
        guard let stream else { return }
        self.stream = nil
        loop.deliver(TransportResponse(head: head, body: .stream(stream)), of: self)
    }

    /// Returns whether the bytes were taken; if not, libcurl keeps them and waits.
    func receive(body: UnsafeRawBufferPointer) throws(Fault) -> Bool {
        try deliverRefusal()
        // libcurl may read 100 buffers in one go, and the loop learns of a suspension only after that.
        if exchange.control.isSuspended, !isResuming, !state.isSuspended { state.setSuspended(true, at: loop.now) }
        let isPaused = state.isSuspended && (sink.mayRefuse || !isResuming)
        let isTaken = if isPaused || mustYield() { false } else { try take(body) }
        if isTaken || decoding != nil {
            if sink.mayRefuse { loop.flushLater(self) }
            observer?.exchangeDidReceive(bytes: sink.byteCount, expected: expectedByteCount)
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
        guard let decoding, !isDiscarded else { return try write(body) }
        return try decode(body, decoding)
    }

    private func write(_ body: UnsafeRawBufferPointer) throws(Fault) -> Bool {
        guard let held else { return try sink.write(body, evenIfFull: isResuming) == .taken }
        return try hold(body, in: held)
    }

    /// The longest time slice of a transfer on the loop, in nanoseconds.
    private static let longestTimeSlice: UInt64 = 10_000_000

    /// Whether the transfer must yield to others before more of the body is taken. libcurl may read 100 buffers in one
    /// go, of chunks of one byte, and one buffer may be decoded to any length.
    func mustYield() -> Bool {
        guard !mustBeReadToItsEnd, decoding != nil || sink.byteCount > 1 << 16 && !isResuming else { return false }
        let now = MonotonicClock.now
        guard timeSlice.number == loop.iteration else {
            timeSlice = (loop.iteration, now)
            return false
        }
        guard now > timeSlice.start + Self.longestTimeSlice else { return false }
        // It stands still until the loop has come to its messages.
        loop.post(.demand(self))
        return true
    }

    /// The number of bytes put into libcurl's buffer, nil when none are ready.
    func send(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int? {
        guard let feed else { return 0 }
        guard !state.isSuspended, case .bytes(let count) = try feed.read(into: buffer) else {
            if !state.isSuspended { state.isSendingPaused = true }
            state.pauseDidChange(at: loop.now)
            return nil
        }
        if count == 0 || feed.byteCount == feed.length { bodyEnd = Date() }
        state.noteActivity(of: count, at: loop.now)
        observer?.exchangeDidSend(bytes: feed.byteCount, expected: feed.length)
        return count
    }

    /// How much of the request's body was taken.
    var bodyByteCount: Int64 {
        if let feed { return feed.byteCount }
        guard sendCount > 0, case .data(let data) = exchange.body else { return 0 }
        return Int64(data.count)
    }

    /// A small body leaves with the head, so it has been sent when the answer comes.
    private func noteSent() {
        guard feed == nil, let observer, case .data(let data) = exchange.body else { return }
        observer.exchangeDidSend(bytes: Int64(data.count), expected: Int64(data.count))
    }

    // MARK: The end

    /// Throws when a body is incomplete that libcurl takes for complete.
    func checkBody() throws(Fault) {
        if isCutOff { throw Fault(.bodyIncomplete, "the stream ended before the body was whole") }
        if isTruncated {
            throw Fault(
                .bodyIncomplete,
                "the server closed the TCP connection without a TLS alert (close_notify), so the body may be cut off")
        }
        try decoding?.finish()
    }

    /// What the waiting task gets: nil when it has got a streamed response before.
    func result(of code: CURLcode, phase: TransportError.Phase) -> Result<TransportResponse, any Error>? {
        let report = early?.report ?? report
        sink.flush()
        if let head = reader.head, isDiscarded {
            return .success(TransportResponse(head: head, body: .data(Data()), report: report))
        }
        if code == CURLE_OK, state.fault == nil, let head = reader.head {
            sink.source?.finish(throwing: nil, report: report)
            return sink.complete().map { .success(TransportResponse(head: head, body: $0, report: report)) }
        }
        var error = failure(code, phase: phase, report: report)
        if state.fault == nil, let earlier = early?.failure { error = earlier }
        if reader.head != nil, case .data(let data)? = sink.complete() { error.partialBody = data }
        sink.source?.finish(throwing: error, report: report)
        return .failure(error)
    }

    var report: TransportReport {
        TransportReport(
            transactions: [handle.map { TransactionMetrics($0, transfer: self) } ?? TransactionMetrics()],
            trailers: reader.trailers)
    }
}
