import AfarTransport
import Foundation

/// When the steps of opening a connection occurred, in nanoseconds of ``MonotonicClock``.
struct ConnectionTimes {
    var lookupStart: UInt64 = 0
    var lookupEnd: UInt64 = 0
    var connectEnd: UInt64 = 0
    /// The start of the TLS handshake with the host; 0 if it didn't begin.
    var secureStart: UInt64 = 0
    /// The end of the TLS handshake with the host; 0 if it didn't end.
    var secureEnd: UInt64 = 0
}

/// An open connection. It belongs to its engine. Over HTTP/1.1, it carries one exchange at a time.
final class HTTPConnection: LoopSocket {
    /// The maximum number of bytes that are sent, or read, in one turn of the loop.
    private static let turnLimit = 256 * 1024

    let key: ConnectionKey
    @exclusivity(unchecked) var times: ConnectionTimes
    private unowned let engine: HTTPEngine
    private let socket: SocketStream
    /// TLS to the host; nil without TLS.
    @exclusivity(unchecked) private(set) var tls: TLSStream?
    /// The outermost TLS stream, to the host or to a proxy.
    @exclusivity(unchecked) private(set) var outerTLS: TLSStream?
    /// The outermost TLS stream, or the socket if there is no TLS.
    @exclusivity(unchecked) private(set) var stream: any ByteStream
    /// The attempt that is still preparing the connection.
    @exclusivity(unchecked) var attempt: ConnectionAttempt?
    /// The only exchange of an HTTP/1.1 connection.
    @exclusivity(unchecked) var exchange: HTTPExchange?
    /// The streams of an HTTP/2 connection; nil over HTTP/1.1.
    @exclusivity(unchecked) var http2: HTTP2Connection?
    /// Whether the connection served another exchange or was idle before its current exchange.
    @exclusivity(unchecked) var isReused = false
    /// The engine's ``HTTPEngine/generation`` when the connection was opened.
    @exclusivity(unchecked) var generation = 0
    /// Whether the connection counts toward the limit of its host.
    @exclusivity(unchecked) var isCounted = true
    @exclusivity(unchecked) private(set) var isClosed = false
    @exclusivity(unchecked) private var isQueued = false
    /// Bytes that were read, but that the exchange hasn't consumed yet.
    @exclusivity(unchecked) private var unread: [UInt8] = []
    /// Why sending failed. The connection reports this failure after it has read the bytes that the server has already sent.
    @exclusivity(unchecked) private var sendFault: Fault?
    let address: SocketAddress
    private(set) lazy var remote = address.numbers
    private(set) lazy var local = isClosed ? nil : SocketAddress(localOf: descriptor)?.numbers

    init(
        _ descriptor: Int32, to address: SocketAddress, key: ConnectionKey, times: ConnectionTimes, engine: HTTPEngine
    ) {
        socket = SocketStream(descriptor)
        stream = socket
        (self.address, self.key, self.times, self.engine) = (address, key, times, engine)
    }

    deinit { if !isClosed { Foundation.close(descriptor) } }

    var descriptor: Int32 { socket.descriptor }

    var hasHungUp: Bool { socket.hasHungUp }

    /// Whether TLS still holds unsent bytes of a request. These bytes would be sent before the next request.
    var hasPendingWrite: Bool { outerTLS?.hasPendingWrite ?? false }

    /// Adds TLS. The attempt performs the handshake.
    ///
    /// - Parameter isToHost: Whether the peer is the host and not a proxy.
    func add(_ tls: TLSStream, isToHost: Bool) {
        (stream, outerTLS) = (tls, tls)
        if isToHost { self.tls = tls }
    }

    /// Hands the connection over to another protocol. The engine no longer uses it.
    ///
    /// - Throws: A fault if the socket can't be watched. The connection is then closed.
    func detach() throws(Fault) -> (RawSocket, unread: [UInt8]) {
        isClosed = true
        engine.loop.remove(self, isClosing: false)
        tls?.onSession = nil
        return (try RawSocket(socket, stream, engine: engine), unread)
    }

    func close() {
        guard !isClosed else { return }
        http2?.sayGoodbye()
        isClosed = true
        attempt = nil
        outerTLS?.shutDown()
        engine.loop.remove(self)
        Foundation.close(descriptor)
    }

    // MARK: Turns

    func update(_ event: SocketEvent) {
        socket.update(event)
        queueTurn()
    }

    func queueTurn() {
        guard !isQueued, !isClosed else { return }
        isQueued = true
        engine.loop.queue(self)
    }

    func takeTurn() {
        isQueued = false
        guard !isClosed else { return }
        if let attempt { return attempt.proceed(on: self) }
        if let http2 { return http2.takeTurn() }
        guard let exchange else { return checkIdle() }
        exchange.recordingFault { () throws(Fault) in
            // Check this just before sending. Otherwise, an unsolicited response would be mistaken for this request's response.
            if isReused, exchange.isUnsent, exchange.canSend, !isUsable() {
                return exchange.sending.mustSendAgain = true
            }
            try send(exchange)
            try receive(exchange)
        }
        exchange.endTurn()
        let canReceive = exchange.canReceive && (!unread.isEmpty || exchange.hasMoreToDecode)
        let canSend = exchange.canSend && stream.canWrite && sendFault == nil
        // Continues in a later turn if the time slice has been used up, or if the response allows sending to continue.
        if canReceive || canSend { queueTurn() }
        engine.turnEnded(exchange)
    }

    /// Whether the connection is open and hasn't received unsolicited data.
    func isUsable() -> Bool {
        guard !isClosed, !hasHungUp, unread.isEmpty else { return false }
        socket.expectBytes()
        return stream.isIdle()
    }

    /// Continues an exchange after an event for which it waited.
    func proceed(_ exchange: HTTPExchange) {
        if let http2 { http2.proceed(exchange) } else { queueTurn() }
    }

    /// Makes the next read query the socket.
    func expectBytes() { socket.expectBytes() }

    /// Records that the connection is idle, and checks for bytes that arrived since the last read.
    func becomeIdle() { if stream.canRead { queueTurn() } }

    private func checkIdle() {
        guard stream.canRead || hasHungUp else { return }
        guard !hasHungUp, unread.isEmpty, stream.isIdle() else { return engine.idleConnectionEnded(self) }
        becomeIdle()
    }

    // MARK: Sending

    private func send(_ exchange: HTTPExchange) throws(Fault) {
        var budget = Self.turnLimit
        let stream = stream
        while stream.canWrite, sendFault == nil, budget > 0, exchange.canSend {
            switch try exchange.sending.output.send({ stream.write($0) }) {
            case .end: return exchange.didSendAll()
            case .wait: return exchange.waitForBody()
            case .result(.bytes(let count)):
                budget -= count
                exchange.didSend(count)
            case .result(.wouldBlock): return
            case .result(.end): return fail(Fault(.connectionLost, "the server closed the connection"), exchange)
            case .result(.failed(let fault)): return fail(fault, exchange)
            }
        }
    }

    /// Records that sending has failed. Bytes that arrived earlier are still read.
    private func fail(_ fault: Fault, _ exchange: HTTPExchange) {
        sendFault = fault
        socket.expectBytes()
        exchange.sending.isSendingBroken = true
    }

    // MARK: Receiving

    private func receive(_ exchange: HTTPExchange) throws(Fault) {
        guard !engine.loop.isCallersTurn else {
            // If sending has failed, a response may already have arrived. Only the loop's thread calls observers.
            if stream.canRead || sendFault != nil { queueTurn() }
            return
        }
        try deliverUnread(to: exchange)
        var budget = Self.turnLimit
        let stream = stream
        while exchange.canReceive, unread.isEmpty, stream.canRead {
            guard budget > 0 else { return queueTurn() }
            guard let buffer = exchange.room(atMost: budget, or: engine.loop.buffer) else { return }
            switch stream.read(into: buffer) {
            case .bytes(let count):
                budget -= count
                let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
                let taken = try exchange.receive(bytes)
                if taken < count { unread = Array(bytes[taken...]) }
            case .wouldBlock: if stream.canRead { return queueTurn() }
            case .end(let isClean): return try exchange.receiveEnd(isClean: isClean)
            case .failed(let fault): return try exchange.connectionFailed(fault)
            }
        }
        if let sendFault, exchange.canReceive, !stream.canRead { try exchange.connectionFailed(sendFault) }
    }

    private func deliverUnread(to exchange: HTTPExchange) throws(Fault) {
        // Continue even if there are no bytes, because the end of a response without a body may be pending.
        guard exchange.canReceive else { return }
        let bytes = unread
        let taken = try bytes.withUnsafeBytes { bytes in
            Result { () throws(Fault) in try exchange.receive(bytes) }
        }.get()
        unread = Array(bytes[taken...])
    }

    /// The number of bytes that were read but don't belong to any response.
    var surplusByteCount: Int { unread.count }
}
