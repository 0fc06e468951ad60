#if HTTP2
    import AfarHTTP1
    import AfarHTTP2
    import AfarTransport
    import Foundation
    import HTTPTypes

    /// The HTTP/2 state of a connection (RFC 9113): the session, and the streams of the exchanges that share the connection.
    final class HTTP2Connection {
        /// The features of a transport with HTTP/2.
        static let features: TransportCapabilities.Features = .http2

        /// The maximum number of bytes that are sent, or read, in one turn of the loop.
        private static let turnLimit = 256 * 1024
        private static let bufferSize = 64 * 1024
        /// How often the server's budget of frames without content is restored, in nanoseconds.
        private static let refillInterval: UInt64 = 10_000_000_000

        private unowned let connection: HTTPConnection
        private unowned let engine: HTTPEngine
        private let session: HTTP2Session
        /// The streams that must be continued or whose exchanges may have ended.
        @exclusivity(unchecked) private var changed: [HTTP2Stream] = []
        @exclusivity(unchecked) private var output = [UInt8](repeating: 0, count: bufferSize)
        /// The part of the output that hasn't been sent.
        @exclusivity(unchecked) private var unsent = 0..<0
        @exclusivity(unchecked) private var refillTime: UInt64 = 0
        /// The later of two times: when bytes last arrived, and when the first of the current requests began. In nanoseconds of
        /// ``MonotonicClock``.
        @exclusivity(unchecked) private var lastReceipt: UInt64 = 0
        @exclusivity(unchecked) private var awaitsPong = false
        @exclusivity(unchecked) private var hasSettings = false
        /// When to call ``check(at:)``. It can be earlier than necessary.
        @exclusivity(unchecked) private(set) var nextDeadline = UInt64.max
        /// The number of exchanges that use the connection.
        @exclusivity(unchecked) private(set) var exchangeCount = 0
        /// Whether the connection is in the pool's list of idle connections.
        @exclusivity(unchecked) var isIdle = false

        init(
            over connection: HTTPConnection, engine: HTTPEngine, _ configuration: HTTP2Session.Configuration
        ) throws(Fault) {
            (self.connection, self.engine) = (connection, engine)
            session = try HTTP2Session(configuration)
        }

        /// Whether the connection accepts no further requests.
        var isDraining: Bool { session.isDraining }

        /// The maximum number of concurrent streams.
        var streamLimit: Int { session.maximumConcurrentStreams }

        /// Whether the server supports WebSockets (RFC 8441).
        var supportsWebSockets: Bool { session.supportsExtendedConnect }

        /// Sets the maximum number of concurrent streams until the server's settings arrive. Streams beyond the server's limit would be
        /// refused.
        func assume(streamLimit: Int) { session.assumedStreamLimit = streamLimit }

        /// Whether another request can be sent now.
        var canOpenStream: Bool { session.canOpenStream }

        /// Whether the connection can't be used anymore.
        private var isBroken: Bool { session.failure != nil }

        // MARK: Exchanges

        /// Begins sending the request of an exchange.
        func begin(_ exchange: HTTPExchange) {
            isIdle = false
            if exchangeCount == 0 {
                // An idle connection may have been lost without notice.
                if connection.isReused, engine.loop.now >= deadline(after: lastReceipt) { ping() }
                if !awaitsPong { lastReceipt = engine.loop.now }
                nextDeadline = deadline(after: engine.loop.now)
            }
            exchangeCount += 1
            exchange.begin(on: connection, at: engine.loop.now)
            connection.isReused = true
            let stream = HTTP2Stream(exchange, of: self)
            exchange.sending.http2 = stream
            submit(stream, exchange)
            change(stream)
        }

        /// Opens a stream, unless its exchange is suspended.
        private func submit(_ stream: HTTP2Stream, _ exchange: HTTPExchange) {
            guard !stream.isSubmitted, !exchange.state.isSuspended else { return }
            stream.isSubmitted = true
            // The connection may have begun to drain while the exchange was suspended.
            guard !isDraining else { return exchange.sending.mustSendAgain = true }
            exchange.recordingFault { () throws(Fault) in
                stream.id = try exchange.submit(to: session, stream)
            }
        }

        /// Continues an exchange after an event for which it waited.
        func proceed(_ exchange: HTTPExchange) {
            guard let stream = exchange.sending.http2 else { return }
            submit(stream, exchange)
            resumeBody(of: stream)
            change(stream)
        }

        /// Continues to read the body of a request.
        func resumeBody(of stream: HTTP2Stream) { if let id = stream.id { session.resumeBody(of: id) } }

        /// Removes an exchange that has ended or is sent again. If its stream is open, the stream is reset.
        func remove(_ exchange: HTTPExchange) {
            guard let stream = exchange.sending.http2 else { return }
            (exchange.sending.http2, stream.exchange) = (nil, nil)
            exchangeCount -= 1
            if let id = stream.id { session.cancel(id) }
            connection.queueTurn()
        }

        /// Records that a stream's exchange must be continued.
        func change(_ stream: HTTP2Stream) {
            guard !stream.isChanged else { return }
            stream.isChanged = true
            changed.append(stream)
            connection.queueTurn()
        }

        /// Records that an exchange has consumed bytes of the response's body.
        func consume(_ count: Int, of stream: HTTP2Stream) {
            if let id = stream.id { session.consume(count, of: id) }
        }

        /// Announces that no further requests follow, and sends the announcement if possible.
        func sayGoodbye() {
            guard !isBroken else { return }
            session.sendGoAway()
            send()
        }

        // MARK: Liveness

        private func deadline(after time: UInt64) -> UInt64 {
            MonotonicClock.deadline(after: engine.pingInterval, from: time)
        }

        private func ping() {
            session.ping()
            (awaitsPong, nextDeadline) = (true, deadline(after: engine.loop.now))
            connection.queueTurn()
        }

        /// Sends a PING frame if nothing has arrived for a while, and ends the connection if the server hasn't responded to the
        /// last PING frame.
        func check(at now: UInt64) {
            guard now >= nextDeadline, exchangeCount > 0, !isBroken else { return }
            if awaitsPong {
                session.fail(Fault(.connectionLost, "the server didn't respond to an HTTP/2 PING frame"))
                connection.queueTurn()
            } else if now >= deadline(after: lastReceipt) {
                ping()
            } else {
                nextDeadline = deadline(after: lastReceipt)
            }
        }

        // MARK: Turns

        func takeTurn() {
            let now = engine.loop.now
            if now >= refillTime {
                session.refillFrameBudget()
                refillTime = now + Self.refillInterval
            }
            receive()
            if !hasSettings, session.hasReceivedSettings {
                hasSettings = true
                engine.settingsArrived(self, connection)
            }
            continueStreams()
            send()
            // Streams have new events if sending, or reading a request's body, has failed.
            continueStreams()
            engine.sharedTurnEnded(connection)
        }

        /// Delivers the events of streams to their exchanges.
        private func continueStreams() {
            guard !engine.loop.isCallersTurn else {
                if changed.contains(where: { $0.hasEvents || $0.exchange?.state.fault != nil }) {
                    connection.queueTurn()
                }
                return
            }
            let streams = changed
            changed = []
            for stream in streams {
                stream.isChanged = false
                guard let exchange = stream.exchange else { continue }
                exchange.recordingFault { () throws(Fault) in try stream.deliver(to: exchange) }
                exchange.endTurn()
                // Continues in a later turn if the time slice has been used up.
                if exchange.canReceive, stream.hasEvents || exchange.hasMoreToDecode { change(stream) }
                engine.turnEnded(exchange)
            }
        }

        private func receive() {
            let stream = connection.stream
            guard !engine.loop.isCallersTurn else {
                if stream.canRead { connection.queueTurn() }
                return
            }
            var budget = Self.turnLimit
            while !isBroken, stream.canRead {
                guard budget > 0 else { return connection.queueTurn() }
                switch stream.read(into: UnsafeMutableRawBufferPointer(rebasing: engine.loop.buffer.prefix(budget))) {
                case .bytes(let count):
                    budget -= count
                    (lastReceipt, awaitsPong) = (engine.loop.now, false)
                    let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(engine.loop.buffer)[..<count])
                    // If this method throws, the session has already ended its streams.
                    try? session.receive(bytes)
                case .wouldBlock:
                    if stream.canRead { return connection.queueTurn() }
                case .end: session.receiveEndOfInput()
                case .failed(let fault): session.fail(fault)
                }
            }
        }

        /// Sends the bytes that the session has ready. After a connection error, these are the last frames, which report the error
        /// to the server.
        private func send() {
            var budget = Self.turnLimit
            let stream = connection.stream
            while stream.canWrite {
                if unsent.isEmpty {
                    unsent = 0..<output.withUnsafeMutableBytes { session.write(into: $0) }
                    guard !unsent.isEmpty else { return }
                }
                guard budget > 0 else { return connection.queueTurn() }
                let result = output.withUnsafeBytes { stream.write(UnsafeRawBufferPointer(rebasing: $0[unsent])) }
                switch result {
                case .bytes(let count):
                    budget -= count
                    unsent = (unsent.lowerBound + count)..<unsent.upperBound
                case .wouldBlock: return
                case .end: return fail(Fault(.connectionLost, "the server closed the connection"))
                case .failed(let fault): return fail(fault)
                }
            }
        }

        /// Ends the streams because sending has failed. Before that, reads the bytes that the server has already sent.
        private func fail(_ fault: Fault) {
            connection.expectBytes()
            if !engine.loop.isCallersTurn { receive() }
            session.fail(fault)
        }
    }

    /// The stream of one exchange. It holds the events that the exchange hasn't received yet.
    final class HTTP2Stream: HTTP2StreamHandler {
        /// Nil after the exchange has ended or left the connection.
        @exclusivity(unchecked) var exchange: HTTPExchange?
        private unowned let connection: HTTP2Connection
        @exclusivity(unchecked) var id: Int32?
        /// Whether the request was passed to the session.
        @exclusivity(unchecked) var isSubmitted = false
        /// Whether the stream is in its connection's list of changed streams.
        @exclusivity(unchecked) var isChanged = false
        /// The informational heads and the final head.
        @exclusivity(unchecked) private var heads: [ResponseHead] = []
        @exclusivity(unchecked) private var body: [UInt8] = []
        /// The number of bytes at the beginning of ``body`` that the exchange has consumed.
        @exclusivity(unchecked) private var consumedCount = 0
        @exclusivity(unchecked) private var ending: Result<Void, HTTP2StreamFailure>?
        @exclusivity(unchecked) private(set) var trailers = HTTPFields()
        /// The number of bytes of the response's body that have arrived.
        @exclusivity(unchecked) private(set) var bodyByteCount: Int64 = 0

        init(_ exchange: HTTPExchange, of connection: HTTP2Connection) {
            (self.exchange, self.connection) = (exchange, connection)
        }

        var hasEvents: Bool { !heads.isEmpty || consumedCount < body.count || ending != nil }

        /// Delivers events to the exchange until it can't receive more.
        func deliver(to exchange: HTTPExchange) throws(Fault) {
            while exchange.canReceive, !heads.isEmpty {
                let head = heads.removeFirst()
                if head.status < 200 { exchange.receiveInformational(head) } else { try exchange.receive(head) }
                // The body may have waited for this head.
                connection.resumeBody(of: self)
            }
            guard heads.isEmpty else { return }
            if consumedCount < body.count || exchange.hasMoreToDecode {
                let bytes = body
                let start = consumedCount
                let count = try bytes.withUnsafeBytes { bytes in
                    Result { () throws(Fault) in
                        try exchange.receiveBody(UnsafeRawBufferPointer(rebasing: bytes[start...]))
                    }
                }.get()
                note(consumed: count)
            }
            guard consumedCount == body.count, !exchange.hasMoreToDecode, exchange.canReceive, let ending else {
                return
            }
            self.ending = nil
            switch ending {
            case .success: try exchange.endResponse()
            case .failure(let failure): try exchange.receive(failure)
            }
        }

        private func note(consumed count: Int) {
            consumedCount += count
            connection.consume(count, of: self)
            // This moves at most as many bytes as were consumed.
            if consumedCount * 2 >= body.count {
                body.removeFirst(consumedCount)
                consumedCount = 0
            }
        }

        /// Passes bytes to the exchange immediately if no events are waiting. Returns the number of bytes that the exchange consumed.
        private func receiveWithoutCopy(_ bytes: UnsafeRawBufferPointer) -> Int {
            guard let exchange, !hasEvents, exchange.canReceive else { return 0 }
            let count = exchange.recordingFault { () throws(Fault) in try exchange.receiveBody(bytes) } ?? 0
            connection.consume(count, of: self)
            return count
        }

        private func noteChange() {
            if exchange != nil { connection.change(self) }
        }

        // MARK: Events

        func streamDidReceiveInformational(_ head: ResponseHead) {
            heads.append(head)
            noteChange()
        }

        func streamDidReceiveHead(_ head: ResponseHead) {
            exchange?.noteResponseStart()
            heads.append(head)
            noteChange()
        }

        func streamDidReceiveBody(_ bytes: UnsafeRawBufferPointer) {
            bodyByteCount += Int64(bytes.count)
            let taken = receiveWithoutCopy(bytes)
            body += UnsafeRawBufferPointer(rebasing: bytes[taken...])
            noteChange()
        }

        func streamDidReceiveTrailers(_ trailers: HTTPFields) { self.trailers = trailers }

        func streamDidEnd() {
            end(.success(()))
        }

        func streamDidFail(_ failure: HTTP2StreamFailure) {
            end(.failure(failure))
        }

        private func end(_ ending: Result<Void, HTTP2StreamFailure>) {
            (id, self.ending) = (nil, ending)
            exchange?.tunnel?.sendingEnded()
            noteChange()
        }

        func readBody(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> HTTP2BodyPart {
            guard let exchange else { return .wait }
            return try exchange.readBody(into: buffer)
        }
    }
#endif
