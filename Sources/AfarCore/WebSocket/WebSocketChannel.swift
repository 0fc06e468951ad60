import AfarWebSocket
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An open WebSocket that sends and receives messages over a connection. Only one task reads; any thread can send.
final class WebSocketChannel: Sendable {
    private struct Ping {
        let payload: Data
        let date = Date()
        let start = ContinuousClock.now
        let respond: @Sendable (WebSocketRequest.PingResponse) -> Void
    }

    private struct State {
        var pings: [Ping] = []
        var pingCount: UInt64 = 0
        /// The payloads of pongs that haven't been sent yet.
        var pongs: [Data] = []
        var sentClose: WebSocketCloseCode?
        var isEnded = false
        /// Whether the server has stopped answering pings.
        var isUnanswered = false
        /// The time when the current read started to wait for data.
        var silenceStart: ContinuousClock.Instant?
    }

    /// The state of the task that reads.
    private final class Incoming: @unchecked Sendable {
        // @unchecked because only one task reads at a time.
        @exclusivity(unchecked) var reader: WebSocketReader
        @exclusivity(unchecked) var violation: WebSocketViolation?

        init(_ reader: WebSocketReader) { self.reader = reader }
    }

    /// The state that the lock for writing protects.
    private final class Outgoing: @unchecked Sendable {
        // @unchecked because only one task writes at a time.
        let deflater: MessageDeflater?

        init(_ deflater: MessageDeflater?) { self.deflater = deflater }
    }

    /// The time to wait for the server to complete the closing handshake, in seconds.
    static let closeTimeout: TimeInterval = 10
    /// The time to wait, in seconds, until the server reads the last frame or closes the connection.
    private static let closeGracePeriod: TimeInterval = 2

    /// The maximum number of pongs that wait to be sent.
    private static let pongLimit = 64

    let `protocol`: String?
    private let url: String
    private let connection: any Connection
    private let incoming: Incoming
    private let outgoing: Outgoing
    private let writing = CallbackLock()
    private let state = Locked(State())

    init(
        over connection: any Connection, after head: ResponseHead, maximumMessageSize: Int
    ) throws(WebSocketViolation) {
        let agreement = try WebSocketHandshake.Agreement(head.fields)
        `protocol` = agreement.protocol
        url = head.url
        self.connection = connection
        incoming = Incoming(
            try WebSocketReader(maximumMessageSize: maximumMessageSize, deflate: agreement.deflate))
        outgoing = Outgoing(agreement.deflate.flatMap { MessageDeflater($0) })
    }

    enum Event {
        case message(URLSessionWebSocketTask.Message)
        /// The last event.
        case closed(WebSocketCloseCode, reason: Data?)
    }

    /// Returns one or more events.
    ///
    /// - Throws: A ``TransportError`` if the connection is lost or the server violates the protocol.
    func receive() async throws -> [Event] {
        while true {
            if let violation = incoming.violation { throw await refuse(violation) }
            let bytes: Data
            do { bytes = try await nextBytes() } catch {
                let (code, isUnanswered) = state.withLock { ($0.sentClose, $0.isUnanswered) }
                if isUnanswered { throw unansweredPingError }
                if let code, !Task.isCancelled { return [.closed(code, reason: nil)] }
                throw located(error)
            }
            guard !bytes.isEmpty else { return [try endWithoutClose()] }
            let events = read(bytes)
            if !events.isEmpty { return events }
        }
    }

    private func nextBytes() async throws -> Data {
        state.withLock { $0.silenceStart = .now }
        defer { state.withLock { $0.silenceStart = nil } }
        return try await connection.read(atMost: 64 * 1024, timeout: nil)
    }

    /// The time when the current read started to wait for data, or nil if no read is waiting.
    var silenceStart: ContinuousClock.Instant? { state.withLock { $0.silenceStart } }

    private func read(_ bytes: Data) -> [Event] {
        var events: [Event] = []
        var isClosed = false
        do {
            try incoming.reader.read(bytes) { event in
                // Ignores frames after a close frame (RFC 6455, section 5.5.1).
                guard !isClosed else { return }
                switch event {
                case .text(let text): events.append(.message(.string(text)))
                case .binary(let data): events.append(.message(.data(data)))
                case .ping(let payload): answer(payload)
                case .pong(let payload): didReceivePong(payload)
                case .close(let code, let reason):
                    isClosed = true
                    let received = code.map { WebSocketCloseCode(rawValue: Int($0)) } ?? .noStatusReceived
                    events.append(.closed(received, reason: reason.isEmpty ? nil : Data(reason.utf8)))
                }
            }
        } catch {
            if !isClosed { incoming.violation = error }
        }
        return events
    }

    /// Returns the last event of a connection that the server closed without a close frame (RFC 6455, section 7.1.5). Throws an
    /// error if the client didn't send a close frame either.
    private func endWithoutClose() throws -> Event {
        guard state.withLock({ $0.sentClose == nil }) else { return .closed(.abnormalClosure, reason: nil) }
        throw TransportError(
            .connectionLost, phase: .receiving, url: url,
            message: "the server closed the connection without a close frame")
    }

    /// Sends a close frame because the server violated the protocol, and closes the connection.
    private func refuse(_ violation: WebSocketViolation) async -> TransportError {
        await sendClose(violation.closeCode, reason: violation.description)
        connection.close()
        return TransportError(
            violation.closeCode == 1009 ? .responseTooLarge : .malformedResponse, phase: .receiving, url: url,
            message: violation.description, underlying: violation)
    }

    /// Answers the server's close frame, and waits for the server to close the connection (RFC 6455, section 7.1.1).
    func finish(after code: WebSocketCloseCode) async {
        if state.withLock({ $0.sentClose == nil }) {
            await sendClose(code == .noStatusReceived ? nil : UInt16(exactly: code.rawValue))
        }
        let deadline = ContinuousClock.now + .seconds(Self.closeGracePeriod)
        while deadline > .now {
            let left = ContinuousClock.now.duration(to: deadline) / .seconds(1)
            guard let bytes = try? await connection.read(atMost: 64 * 1024, timeout: left), !bytes.isEmpty else {
                break
            }
        }
        end()
    }

    /// Closes the connection. Unanswered pings fail.
    func end() {
        connection.close()
        let pings = state.withLock { state in
            state.isEnded = true
            return Swift.exchange(&state.pings, with: [])
        }
        for ping in pings { ping.respond(.error(closedError)) }
    }

    /// Closes the connection because the server doesn't answer pings.
    func closeUnanswered() {
        state.withLock { $0.isUnanswered = true }
        connection.close()
    }

    private var unansweredPingError: TransportError {
        TransportError(
            .timedOut, phase: .receiving, url: url,
            message: "the server did not answer a ping within the ping interval")
    }

    /// Sends a message after all earlier messages.
    ///
    /// - Parameter completion: Called when the system has accepted the message.
    func send(
        _ message: URLSessionWebSocketTask.Message, completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        switch message {
        case .string(let text): enqueue({ .text($0, text) }, completion)
        case .data(let data): enqueue({ .binary($0, data) }, completion)
        @unknown default: completion(.failure(closedError))
        }
    }

    /// Starts the closing handshake (RFC 6455, section 7.1.2). Later messages fail.
    func close(_ code: WebSocketCloseCode, reason: Data?) {
        let isFirst = state.withLock { state in
            guard state.sentClose == nil else { return false }
            state.sentClose = code
            return true
        }
        guard isFirst else { return }
        let payload = WebSocketFrame.closePayload(
            code: UInt16(exactly: code.rawValue).flatMap { WebSocketReader.isValid($0) ? $0 : nil },
            reason: reason.map { String(decoding: $0, as: UTF8.self) } ?? "")
        write({ _ in WebSocketFrame.encode(.close, payload) }) { _ in }
        closeConnection(after: Self.closeTimeout)
    }

    /// Closes the connection after a delay, in seconds, in case the server doesn't read or respond.
    @discardableResult
    private func closeConnection(after delay: TimeInterval) -> Task<Void, Never> {
        Task { [weak connection] in
            guard (try? await Task.sleep(for: .seconds(delay))) != nil else { return }
            connection?.close()
        }
    }

    /// Sends a ping. Calls `onSent` when the system has accepted the ping or can't send it, and `respond` once, with the result.
    func ping(
        onSent: @escaping @Sendable () -> Void = {},
        _ respond: @escaping @Sendable (WebSocketRequest.PingResponse) -> Void
    ) {
        let payload = state.withLock { state -> Data? in
            guard !state.isEnded else { return nil }
            state.pingCount += 1
            let payload = withUnsafeBytes(of: state.pingCount.bigEndian) { Data($0) }
            state.pings.append(Ping(payload: payload, respond: respond))
            return payload
        }
        guard let payload else { return respond(.error(closedError)) }
        write({ _ in WebSocketFrame.encode(.ping, payload) }) { _ in onSent() }
    }

    private func didReceivePong(_ payload: Data) {
        // A pong also answers all earlier pings (RFC 6455, section 5.5.3).
        let answered = state.withLock { state -> [Ping] in
            guard let index = state.pings.firstIndex(where: { $0.payload == payload }) else { return [] }
            defer { state.pings.removeFirst(index + 1) }
            return Array(state.pings[...index])
        }
        for ping in answered {
            let latency = ping.start.duration(to: .now) / .seconds(1)
            ping.respond(.pong(.init(start: ping.date, latency: latency)))
        }
    }

    /// Answers a ping. If many pings are waiting, only the latest pings are answered, which is sufficient (RFC 6455, section
    /// 5.5.3).
    private func answer(_ payload: Data) {
        let isFirst = state.withLock { state in
            state.pongs.append(payload)
            if state.pongs.count > Self.pongLimit { state.pongs.removeFirst() }
            return state.pongs.count == 1
        }
        guard isFirst else { return }
        write({ [state] _ in
            let payloads = state.withLock { Swift.exchange(&$0.pongs, with: []) }
            return payloads.reduce(into: Data()) { $0.append(WebSocketFrame.encode(.pong, $1)) }
        }) { _ in }
    }

    /// Sends a close frame, which is the last frame.
    private func sendClose(_ code: UInt16?, reason: String = "") async {
        state.withLock { $0.sentClose = $0.sentClose ?? .protocolError }
        let timer = closeConnection(after: Self.closeGracePeriod)
        defer { timer.cancel() }
        await withUnsafeContinuation { continuation in
            write({ _ in
                WebSocketFrame.encode(.close, WebSocketFrame.closePayload(code: code, reason: reason))
            }) { _ in continuation.resume() }
        }
    }

    private func enqueue(
        _ encode: @escaping @Sendable (MessageDeflater?) -> Data,
        _ completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        guard state.withLock({ $0.sentClose == nil && !$0.isEnded }) else { return completion(.failure(closedError)) }
        write(encode, completion)
    }

    /// Writes a frame after all earlier frames.
    private func write(
        _ encode: @escaping @Sendable (MessageDeflater?) -> Data,
        _ completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        writing.lock { [connection, outgoing, writing] in
            Task {
                let result: Result<Void, any Error>
                do {
                    result = .success(try await connection.write(encode(outgoing.deflater), timeout: nil))
                } catch {
                    result = .failure(error)
                }
                completion(result)
                writing.unlock()
            }
        }
    }

    private var closedError: TransportError {
        TransportError(.cancelled, phase: .sending, url: url, message: "the WebSocket is closed or closing")
    }

    private func located(_ error: any Error) -> any Error {
        guard var error = error as? TransportError else { return error }
        error.url = url
        return error
    }
}

extension Data {
    /// Returns a text frame, compressed if compression was negotiated.
    fileprivate static func text(_ deflater: MessageDeflater?, _ text: String) -> Data {
        frame(.text, Array(text.utf8), deflater)
    }

    fileprivate static func binary(_ deflater: MessageDeflater?, _ data: Data) -> Data {
        frame(.binary, data, deflater)
    }

    private static func frame(
        _ opcode: WebSocketFrame.Opcode, _ payload: some ContiguousBytes, _ deflater: MessageDeflater?
    ) -> Data {
        guard let compressed = deflater?.compress(payload) else { return WebSocketFrame.encode(opcode, payload) }
        return WebSocketFrame.encode(opcode, compressed, isCompressed: true)
    }
}

/// A stage that adds the fields of the WebSocket handshake to each request (RFC 6455, section 4.1). If the server accepts, the
/// stage checks the response.
struct WebSocketHandshakeStage: ExchangeStage {
    func begin(_ hop: Hop) -> (any StageRun)? { Run() }

    private final class Run: StageRun {
        private let handshake = Locked<WebSocketHandshake?>(nil)

        func before(_ hop: Hop) -> Reply<RequestAction> {
            var exchange = hop.exchange
            let handshake: WebSocketHandshake
            do {
                handshake = try WebSocketHandshake(for: exchange.request.headerFields)
            } catch {
                return .now(.fail(hop.failure(.unknown, error.description)))
            }
            handshake.complete(&exchange.request.headerFields)
            self.handshake.withLock { $0 = handshake }
            return .now(.change(exchange))
        }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
            let isHTTP2 = head.httpVersion == "HTTP/2"
            guard isHTTP2 ? (200..<300).contains(head.status) : head.status == 101,
                let handshake = handshake.withLock(\.self)
            else { return .now(.pass) }
            do {
                try handshake.agreement(in: head.fields, isHTTP2: isHTTP2)
                return .now(.pass)
            } catch {
                return .now(
                    .fail(
                        TransportError(
                            .malformedResponse, phase: .awaitingResponse, url: hop.exchange.url,
                            message: error.description)))
            }
        }
    }
}
