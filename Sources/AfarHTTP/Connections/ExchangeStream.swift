import AfarTransport
import Foundation

/// The bytes of a raw connection. They are the bodies of an exchange's request and response.
final class ExchangeStream: RawStream {
    /// The maximum time for sending the last bytes after the connection has been closed.
    private static let closeTimeout = Duration.seconds(2)

    let state: Locked<RawStreamState>
    /// Used only under the lock.
    private nonisolated(unsafe) let bytes: ExchangeBytes
    private let response = Locked<ResponseBodyStream?>(nil)

    init() {
        // This is safe because the bytes are used only under the lock.
        nonisolated(unsafe) let bytes = ExchangeBytes()
        self.bytes = bytes
        nonisolated(unsafe) let state = RawStreamState(bytes)
        self.state = Locked(state)
    }

    /// The body of the request.
    var requestBody: RequestBodyStream {
        var body = RequestBodyStream(isReplayable: false) { { await self.nextChunk() } }
        body.isDuplex = true
        return body
    }

    /// Begins to receive the body of the response.
    func connect(_ body: ResponseBodyStream) {
        response.withLock { $0 = body }
        Task { await receive(body) }
    }

    private func receive(_ body: ResponseBodyStream) async {
        var end = StreamResult.end(isClean: true)
        do {
            for try await chunk in body { await update({ bytes.receive(chunk) })?.value }
        } catch {
            // The stream throws only `TransportError`.
            let fault = (error as? TransportError).map { Fault($0) } ?? .cancelled
            // A protocol other than HTTP has no body that could be incomplete.
            end = .failed(fault.code == .bodyIncomplete ? Fault(.connectionLost, fault.message) : fault)
        }
        update { bytes.end = end }
        // The body retains its exchange, which retains this object.
        response.withLock { $0 = nil }
    }

    /// Returns the next part of the request's body, or nil at the end.
    private func nextChunk() async -> Data? {
        while !Task.isCancelled {
            switch update({ bytes.next() }) {
            case .chunk(let chunk): return chunk
            case .wait(let added): await added.value(ifCancelled: ())
            case .end(let isClosed):
                // All bytes have been sent.
                if isClosed { response.withLock { $0 }?.cancel() }
                return nil
            }
        }
        return nil
    }

    /// Called when the exchange sends no more bytes. The exchange may still receive bytes.
    func sendingEnded() { update { bytes.isSendingOver = true } }

    func finishWriting() { update { bytes.finishWriting() } }

    func expectBytes() {}

    func willClose() { bytes.close() }

    func didClose() {
        guard let body = response.withLock({ $0 }) else { return }
        Task {
            await TimeSource.system.pause(for: Self.closeTimeout)
            body.cancel()
        }
    }
}

/// Bytes that have been received but not read, and bytes that have been written but not sent.
private final class ExchangeBytes: ByteStream {
    enum Next {
        case chunk(Data)
        /// No bytes follow.
        case end(isClosed: Bool)
        /// Wait for bytes or the end.
        case wait(Deferred<Void>)
    }

    private static let maximumUnsentCount = 64 * 1024

    private var received = Data()
    /// Fulfilled when ``received`` has been read.
    private var taken: Deferred<Void>?
    private var unsent = Data()
    /// Fulfilled when ``unsent`` isn't empty, or no bytes follow.
    private var added: Deferred<Void>?
    private var isFinished = false
    private var isClosed = false
    /// Whether the exchange sends no more bytes.
    var isSendingOver = false
    /// The end of the received bytes.
    var end: StreamResult?

    // MARK: The exchange

    /// Adds received bytes. Returns nil if they aren't needed. Otherwise, the caller must wait for the result, which is fulfilled
    /// when the bytes have been read.
    func receive(_ chunk: Data) -> Deferred<Void>? {
        guard !isClosed else { return nil }
        received = chunk
        taken = Deferred()
        return taken
    }

    func next() -> Next {
        if !unsent.isEmpty { return .chunk(Swift.exchange(&unsent, with: Data())) }
        if isFinished { return .end(isClosed: isClosed) }
        let added = Deferred<Void>()
        self.added = added
        return .wait(added)
    }

    // MARK: The connection

    var canRead: Bool { !received.isEmpty || end != nil }
    var canWrite: Bool { unsent.count < Self.maximumUnsentCount || isSendingOver }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> StreamResult {
        guard !received.isEmpty else { return end ?? .wouldBlock }
        let count = received.copyBytes(to: buffer)
        received = received.dropFirst(count)
        if received.isEmpty { taken?.fulfill(()) }
        return .bytes(count)
    }

    func write(_ bytes: UnsafeRawBufferPointer) -> StreamResult {
        if isSendingOver { return end ?? .end(isClean: true) }
        let part = bytes.prefix(Self.maximumUnsentCount - unsent.count)
        guard !part.isEmpty else { return .wouldBlock }
        unsent.append(contentsOf: part)
        added?.fulfill(())
        return .bytes(part.count)
    }

    func isIdle() -> Bool { !canRead }

    func finishWriting() {
        isFinished = true
        added?.fulfill(())
    }

    func close() {
        (isClosed, received) = (true, Data())
        taken?.fulfill(())
        finishWriting()
    }
}
