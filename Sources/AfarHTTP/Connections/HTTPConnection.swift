import AfarTransport
import Foundation

/// The times of opening a connection, in nanoseconds of ``MonotonicClock``.
struct ConnectionTimes {
    var lookupStart: UInt64 = 0
    var lookupEnd: UInt64 = 0
    var connectEnd: UInt64 = 0
}

/// An open connection, which carries one exchange at a time. It belongs to the thread of its engine's loop.
final class HTTPConnection: LoopSocket {
    /// The most bytes that are sent, or read, in one turn.
    private static let turnLimit = 256 * 1024

    let descriptor: Int32
    let key: ConnectionKey
    let times: ConnectionTimes
    private unowned let engine: HTTPEngine
    @exclusivity(unchecked) var exchange: HTTPExchange?
    /// Whether the connection was used or idle before its exchange.
    @exclusivity(unchecked) var isKept = false
    /// The engine's ``HTTPEngine/generation`` when the connection was opened.
    @exclusivity(unchecked) var generation = 0
    /// Whether the connection counts towards the limit of its host.
    @exclusivity(unchecked) var isCounted = true
    @exclusivity(unchecked) private(set) var isClosed = false
    @exclusivity(unchecked) private var isReadable = false
    @exclusivity(unchecked) private var isWritable = true
    @exclusivity(unchecked) private(set) var hasHungUp = false
    @exclusivity(unchecked) private var isQueued = false
    /// Bytes that were read, and that the exchange has not taken yet.
    @exclusivity(unchecked) private var unread: [UInt8] = []
    /// Why sending failed. What the server has sent before is read first.
    @exclusivity(unchecked) private var sendError: Int32?
    private let address: SocketAddress
    private(set) lazy var remote = address.numbers
    private(set) lazy var local = isClosed ? nil : SocketAddress(localOf: descriptor)?.numbers

    init(
        _ descriptor: Int32, to address: SocketAddress, key: ConnectionKey, times: ConnectionTimes, engine: HTTPEngine
    ) {
        (self.descriptor, self.address, self.key, self.times) = (descriptor, address, key, times)
        self.engine = engine
    }

    deinit { if !isClosed { Foundation.close(descriptor) } }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        engine.loop.remove(self)
        Foundation.close(descriptor)
    }

    // MARK: Turns

    func update(_ event: Poller.Event) {
        if event.isReadable { isReadable = true }
        if event.isWritable { isWritable = true }
        if event.hasHungUp { hasHungUp = true }
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
        guard let exchange else { return checkIdle() }
        exchange.attempt { () throws(Fault) in
            // A kept connection is checked just before a request is sent. Otherwise, an unsolicited response would become the response
            // to that request.
            if isKept, exchange.isUnsent, exchange.maySend, !isUsable() { return exchange.sending.mustSendAgain = true }
            try send(exchange)
            try receive(exchange)
        }
        exchange.endTurn()
        let canReceive = exchange.mayReceive && (!unread.isEmpty || exchange.hasMoreToDecode)
        let canSend = exchange.maySend && isWritable && sendError == nil
        // The exchange has used up its time in this turn, or the response allows the request to continue.
        if canReceive || canSend { queueTurn() }
        engine.turnEnded(exchange)
    }

    /// Whether the connection is still open and nothing has arrived. Unsolicited bytes are no response to the next request.
    func isUsable() -> Bool {
        guard !isClosed, !hasHungUp, unread.isEmpty else { return false }
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) < 0 && errno == EAGAIN
    }

    /// The connection has become idle. What has arrived since the last read is looked at.
    func becomeIdle() { if isReadable { queueTurn() } }

    private func checkIdle() {
        guard isReadable || hasHungUp else { return }
        isReadable = false
        if !isUsable() { engine.idleConnectionEnded(self) }
    }

    // MARK: Sending

    private func send(_ exchange: HTTPExchange) throws(Fault) {
        var budget = Self.turnLimit
        while isWritable, sendError == nil, budget > 0, exchange.maySend {
            let progress = try exchange.sending.output.send { bytes in
                Foundation.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            switch progress {
            case .end: return exchange.didSendAll()
            case .wait: return exchange.waitForBody()
            case .wrote(let count, let total):
                guard count >= 0 else {
                    if errno == EINTR { continue }
                    isWritable = false
                    if errno != EAGAIN {
                        (sendError, isReadable) = (errno, true)
                        exchange.sending.isSendingBroken = true
                    }
                    continue
                }
                if count < total { isWritable = false }
                budget -= count
                exchange.didSend(count)
            }
        }
    }

    // MARK: Receiving

    private func receive(_ exchange: HTTPExchange) throws(Fault) {
        try deliverUnread(to: exchange)
        var budget = Self.turnLimit
        while exchange.mayReceive, unread.isEmpty, isReadable {
            guard budget > 0 else { return queueTurn() }
            let buffer = engine.loop.buffer
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 {
                budget -= count
                // A short read has emptied the socket. The next bytes are an event of their own.
                if count < buffer.count, !hasHungUp { isReadable = false }
                let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
                let taken = try exchange.receive(bytes)
                if taken < count { unread = Array(bytes[taken...]) }
            } else if count == 0 {
                isReadable = false
                return try exchange.receiveEnd()
            } else if errno != EINTR {
                isReadable = false
                if errno != EAGAIN { return try exchange.connectionFailed(errno) }
            }
        }
        if let sendError, exchange.mayReceive, !isReadable { try exchange.connectionFailed(sendError) }
    }

    private func deliverUnread(to exchange: HTTPExchange) throws(Fault) {
        // Even without bytes: the end of a response without a body may be left.
        guard exchange.mayReceive else { return }
        let bytes = unread
        let taken = try bytes.withUnsafeBytes { bytes in
            Result { () throws(Fault) in try exchange.receive(bytes) }
        }.get()
        unread = Array(bytes[taken...])
    }

    /// The number of bytes that were read and that belong to no response.
    var surplusByteCount: Int { unread.count }
}
