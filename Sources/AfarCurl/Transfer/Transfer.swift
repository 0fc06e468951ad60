import AfarCore
import CLibcurl
import Foundation
import HTTPTypes

/// One exchange on its way through libcurl. Made on the caller's thread, then owned by its loop's.
final class Transfer: @unchecked Sendable {
    // Sendable because it is handed from the caller to the loop by a message, and used by one of them at a time.
    let exchange: Exchange
    let plan: RequestPlan
    let loop: CurlLoop
    let started = Date()

    var state: TransferState
    var reader: ResponseReader
    var sink: BodySink
    private(set) var feed: BodyFeed?
    private var isGoingOn = false

    // The loop's book-keeping.
    var index: Int?
    var place: HostGate<Transfer>.Place?
    /// Whether the gate let it through.
    var wasAdmitted = false
    var isLookingUp = false
    var isAdded = false
    var handle: EasyHandle?
    var pool: CurlPool?
    /// The socket of the transfer's connection, once that is there.
    private(set) var socket: Int32?
    /// Whether the kept connection that libcurl chose must not be used, so that the transfer begins again on a new one.
    private(set) var mustStartOver = false
    private var hasStartedOver = false
    private var continuation: UnsafeContinuation<TransportResponse, any Error>?
    private var stream: ResponseBodyStream?

    init(_ exchange: Exchange, loop: CurlLoop) throws {
        self.exchange = exchange
        self.loop = loop
        plan = try RequestPlan(exchange)
        state = TransferState(options: exchange.options, now: MonotonicClock.now)
        reader = ResponseReader(url: plan.url, options: exchange.options)
        sink =
            switch exchange.delivery {
            case .collect(let limit): BodySink(collecting: limit)
            case .file(let descriptor, let limit): BodySink(descriptor: descriptor, limit: limit)
            case .stream: BodySink(collecting: 0)
            }
    }

    /// Makes the stream of a streamed response. `owner` lives as long as the stream does.
    func makeStream(highWater: Int, owner: some AnyObject & Sendable) {
        let (stream, source) = ResponseBodyStream.make(
            highWater: highWater,
            onDemand: { [loop] in
                loop.post(.demand(self))
                _ = owner
            },
            onCancel: { [loop] in loop.post(.cancel(self)) })
        self.stream = stream
        sink = BodySink(source: source)
    }

    func setContinuation(_ continuation: UnsafeContinuation<TransportResponse, any Error>) {
        self.continuation = continuation
    }

    func takeContinuation() -> UnsafeContinuation<TransportResponse, any Error>? {
        defer { continuation = nil }
        return continuation
    }

    /// Lets go of what would keep the transfer alive through its own callbacks.
    func release() {
        feed?.close()
        feed = nil
        stream = nil
        sink = BodySink(collecting: 0)
        exchange.control.attach(nil)
    }

    /// Whether much is to be read, so that a large buffer pays.
    var isBulk: Bool {
        if case .collect = exchange.delivery { false } else { true }
    }

    /// The transfer that a handle works for.
    static func of(_ easy: UnsafeMutableRawPointer) -> Transfer? {
        var context: UnsafeMutableRawPointer?
        guard afar_get_private(easy, &context) == CURLE_OK, let context else { return nil }
        return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    }

    // MARK: Setting out

    func configure(_ handle: EasyHandle, pool: CurlPool, bundle: String?) throws {
        let options = CurlOptions(easy: handle.raw)
        try options.set(CURLOPT_PRIVATE, pointer: Unmanaged.passUnretained(self).toOpaque())
        try handle.useErrorText { try options.set(CURLOPT_ERRORBUFFER, pointer: UnsafeMutableRawPointer($0)) }
        try options.setRules()
        try pool.setShared(options)
        try options.set(CURLOPT_URL, plan.url)
        if plan.isSecure { try options.setSecurity(exchange.options, bundle: bundle) }
        try options.set(
            CURLOPT_CONNECTTIMEOUT_MS, Int(clamping: Int64(max(0.001, exchange.options.connectTimeout.clamped) * 1000)))
        if exchange.options.decodesContent { try options.set(CURLOPT_ACCEPT_ENCODING, "") }
        try options.check(afar_set_header_list(handle.raw, plan.headers.first), CURLOPT_HTTPHEADER)
        try configureBody(options)
        try setCallbacks(options)
        // What one buffer is decoded to is kept in memory while the transfer stands still, and libcurl allows itself 64 MB
        // for that. Deflate can make 1,032 bytes of one.
        if !handle.isReusable { try options.set(CURLOPT_BUFFERSIZE, 56 * 1024) }
    }

    private func configureBody(_ options: CurlOptions) throws {
        // A HEAD request has passed the plan's checks, so its body is empty if there is one.
        switch plan.method == .head ? .none : exchange.body {
        case .none:
            try options.setMethod(plan, body: .none, length: nil)
        case .data(let data) where data.count <= 64 * 1024:
            try options.setMethod(plan, body: exchange.body, length: Int64(data.count))
            try data.withUnsafeBytes { bytes in
                // libcurl takes a copy at once; an empty body still needs a pointer.
                var none: CChar = 0
                let start = bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) }
                try withUnsafeMutablePointer(to: &none) {
                    try options.set(CURLOPT_COPYPOSTFIELDS, pointer: start ?? UnsafeMutableRawPointer($0))
                }
            }
        case .data(let data):
            try configureFeed(BodyFeed(data: data), options)
        case .file(let url):
            try configureFeed(BodyFeed(file: url), options)
        case .stream(let stream):
            let pump = BodyPump(onReady: { [loop] in loop.post(.bodyReady(self)) })
            try configureFeed(BodyFeed(pump: pump, length: stream.length), options)
            pump.start(stream)
        }
    }

    private func configureFeed(_ feed: BodyFeed, _ options: CurlOptions) throws {
        self.feed = feed
        try options.setMethod(plan, body: exchange.body, length: feed.length)
        try setBodyCallbacks(options)
    }

    // MARK: On the way

    /// The directions that are to stand still, as libcurl's `CURLPAUSE_…` bits.
    var pauseMask: Int32 {
        if state.isSuspended { return CURLPAUSE_RECV | CURLPAUSE_SEND }
        return (state.isReceivingPaused ? CURLPAUSE_RECV : 0) | (state.isSendingPaused ? CURLPAUSE_SEND : 0)
    }

    /// Decides, before the first byte of the request, whether the connection that libcurl has chosen is fit for it.
    ///
    /// Bytes that came over a kept connection while nobody had asked are no answer to this request, and libcurl would
    /// take them for one.
    func canUseConnection(on socket: Int32?) -> Bool {
        self.socket = socket
        if let socket, let handle, !hasStartedOver, handle.long(CURLINFO_NUM_CONNECTS) == 0 {
            var byte: UInt8 = 0
            guard recv(socket, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) < 0 else {
                mustStartOver = true
                _ = afar_set_long(handle.raw, CURLOPT_FORBID_REUSE, 1)
                return false
            }
        }
        connectionIsThere()
        return true
    }

    /// Prepares the handle for a fresh connection. Nothing was sent on the one before.
    func startOver(on handle: EasyHandle) {
        mustStartOver = false
        hasStartedOver = true
        socket = nil
        _ = afar_set_long(handle.raw, CURLOPT_FORBID_REUSE, 0)
        _ = afar_set_long(handle.raw, CURLOPT_FRESH_CONNECT, 1)
    }

    /// Tells libcurl which directions stand still.
    ///
    /// What libcurl has kept is handed over inside this call, and all of it is taken: the rest of what one buffer was
    /// decoded to would be copied each time that a little of it is refused again.
    func applyPauses(to handle: EasyHandle) -> CURLcode {
        isGoingOn = true
        let code = curl_easy_pause(handle.raw, pauseMask)
        isGoingOn = false
        guard code == CURLE_OK, !state.isReceivingPaused, sink.source?.isFull == true else { return code }
        state.isReceivingPaused = true
        return curl_easy_pause(handle.raw, pauseMask)
    }

    func connectionIsThere() {
        loop.lookupEnded(self)
        if state.connect(at: MonotonicClock.now) { loop.noteDeadline(of: self) }
    }

    func receive(line: UnsafeRawBufferPointer) throws(Fault) {
        connectionIsThere()
        state.noteActivity(at: MonotonicClock.now)
        switch try reader.receive(line: line) {
        case .none: break
        case .informational(let head): exchange.observer?.exchangeDidReceiveInformational(head)
        case .head(let head): try receive(head)
        }
    }

    private func receive(_ head: ResponseHead) throws(Fault) {
        noteSent()
        state.receiveHead(at: MonotonicClock.now)
        // libcurl stops sending after an error, but would wait for the end of a pause before it ends the transfer.
        if head.status >= 400, state.isSendingPaused { loop.post(.bodyReady(self)) }
        sink.expect(plan.method == .head ? nil : reader.contentLength)
        exchange.observer?.exchangeDidReceiveHead(head)
        do {
            try exchange.onHead?(head)
        } catch {
            throw Fault(.cancelled, "the response's head was refused", underlying: error)
        }
        if let stream {
            self.stream = nil
            loop.deliver(TransportResponse(head: head, body: .stream(stream)), of: self)
        }
    }

    /// Returns whether the bytes were taken; if not, libcurl keeps them and waits.
    func receive(body: UnsafeRawBufferPointer) throws(Fault) -> Bool {
        guard !state.isSuspended else { return false }
        guard try sink.write(body, evenIfFull: isGoingOn) == .taken else {
            state.isReceivingPaused = true
            state.pauseDidChange(at: MonotonicClock.now)
            return false
        }
        state.noteActivity(at: MonotonicClock.now)
        exchange.observer?.exchangeDidReceive(bytes: sink.byteCount, expected: reader.contentLength)
        return true
    }

    /// The number of bytes put into libcurl's buffer, nil when none are ready.
    func send(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int? {
        guard let feed else { return 0 }
        guard !state.isSuspended, case .bytes(let count) = try feed.read(into: buffer) else {
            if !state.isSuspended { state.isSendingPaused = true }
            state.pauseDidChange(at: MonotonicClock.now)
            return nil
        }
        state.noteActivity(at: MonotonicClock.now)
        exchange.observer?.exchangeDidSend(bytes: feed.byteCount, expected: feed.length)
        return count
    }

    /// A small body leaves with the head, so it has been sent when the answer comes.
    private func noteSent() {
        guard feed == nil, let observer = exchange.observer, case .data(let data) = exchange.body else { return }
        observer.exchangeDidSend(bytes: Int64(data.count), expected: Int64(data.count))
    }

    // MARK: The end

    /// What the waiting task gets: nil when it has got a streamed response before.
    func result(of code: CURLcode, phase: TransportError.Phase) -> Result<TransportResponse, any Error>? {
        let report = TransportReport(
            transactions: [handle.map { TransactionMetrics($0, transfer: self) } ?? TransactionMetrics()],
            trailers: reader.trailers)
        if code == CURLE_OK, state.fault == nil, let head = reader.head {
            sink.source?.finish(throwing: nil, report: report)
            return sink.complete().map { .success(TransportResponse(head: head, body: $0, report: report)) }
        }
        let error = failure(code, phase: phase, report: report)
        sink.source?.finish(throwing: error, report: report)
        return .failure(error)
    }
}

extension TimeInterval {
    /// Within what milliseconds in a C long of 32 bits can hold.
    fileprivate var clamped: TimeInterval { Swift.min(self, 2_000_000) }
}
