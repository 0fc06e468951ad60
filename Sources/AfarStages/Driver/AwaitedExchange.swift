import Foundation

/// An exchange over a transport that has only an async interface: a custom transport, or a wrapper around another transport.
///
/// Such a transport can ignore ``Exchange/decide`` and return a response with its whole body. In this case, this type makes and
/// applies the decision. The total timeout doesn't apply to that decision, because the transport, which enforces the timeout,
/// has returned.
struct AwaitedExchange: Sendable {
    private struct State {
        var decisions: [(head: ResponseHead, decision: HeadDecision)] = []
        /// Whether the transport has returned. It might still receive responses afterward.
        var hasReturned = false
    }

    private let original: Exchange
    private let exchange: Exchange
    /// The offset of the body in its file.
    private let start: off_t
    private let state = Locked(State())

    init(_ exchange: Exchange) {
        original = exchange
        start = exchange.delivery.descriptor.map { lseek($0, 0, SEEK_CUR) } ?? 0
        var observed = exchange
        observed.decide = { [state] head in
            guard !state.withLock({ $0.hasReturned }) else { return .refuse(CancellationError()) }
            let decision = exchange.headArrived(head)
            state.withLock { $0.decisions.append((head, decision)) }
            return decision
        }
        self.exchange = observed
    }

    func result(of transport: any Transport) async -> Result<TransportResponse, any Error> {
        do {
            let response = try await transport.send(exchange)
            let decisions = close()
            let entry =
                decisions.last { $0.head === response.head } ?? decisions.last { response.head.isLike($0.head) }
            if let decision = entry?.decision { return .success(try await apply(decision, with: response)) }
            return .success(try await decide(on: response, isFirst: decisions.isEmpty))
        } catch {
            // Keep the file's contents only if the last decision accepted them.
            if case .take(nil)? = close().last?.decision {} else { try? moveBody(to: nil) }
            return .failure(error)
        }
    }

    /// Returns the decisions so far. All later heads are refused.
    private func close() -> [(head: ResponseHead, decision: HeadDecision)] {
        state.withLock { state in
            state.hasReturned = true
            return state.decisions
        }
    }

    /// Decides how to handle a complete response, as if its head had just arrived.
    ///
    /// - Parameter isFirst: Whether this is the first decision. The first decision copies the body only if the body doesn't start at the
    ///   beginning of its file.
    private func decide(on response: TransportResponse, isFirst: Bool) async throws -> TransportResponse {
        guard let descriptor = exchange.delivery.descriptor, !isFirst || start > 0 else {
            return try await apply(original.headArrived(response.head), with: response)
        }
        let body = try AnonymousFile()
        try moveBody(to: body.descriptor)
        let decision = await original.headArrived(response.head).settled()
        let decided = try await apply(decision, with: response)
        guard case .take(let delivery) = decision else { return decided }
        let end = lseek(body.descriptor, 0, SEEK_END)
        try copy(from: body.descriptor, 0..<end, to: delivery?.descriptor ?? descriptor)
        return decided
    }

    private func apply(_ decision: consuming HeadDecision, with response: TransportResponse) async throws
        -> TransportResponse
    {
        let decision = await decision.settled()
        switch decision {
        case .take(let delivery):
            if let descriptor = delivery?.descriptor { try moveBody(to: descriptor) }
            return response
        case .discard, .refuse, .deferred:
            try moveBody(to: nil)
            return try response.applying(decision, deliveringTo: exchange.delivery).get()
        }
    }

    /// Removes the body from the exchange's file. If nothing has been written to the destination, copies the body there first.
    private func moveBody(to destination: Int32?) throws(TransportError) {
        guard let descriptor = exchange.delivery.descriptor else { return }
        let end = lseek(descriptor, 0, SEEK_END)
        guard end > start else { return }
        if let destination, lseek(destination, 0, SEEK_CUR) == 0 {
            try copy(from: descriptor, start..<end, to: destination)
        }
        guard ftruncate(descriptor, start) == 0, lseek(descriptor, start, SEEK_SET) == start else {
            throw failure("the file could not be truncated", errno)
        }
    }

    private func copy(from source: Int32, _ range: Range<off_t>, to destination: Int32) throws(TransportError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 1)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = pread(source, buffer.baseAddress, min(buffer.count, Int(range.upperBound - offset)), offset)
            guard count > 0 else { throw failure("the response's body could not be read again", errno) }
            if let code = UnsafeRawBufferPointer(rebasing: buffer[..<count]).write(to: destination) {
                throw failure("the response's body could not be written", code)
            }
            offset += off_t(count)
        }
    }

    private func failure(_ message: String, _ code: Int32) -> TransportError {
        TransportError(.deliveryFailed, phase: .receiving, url: exchange.url, message: message, systemError: code)
    }
}

/// A temporary file without a name.
private final class AnonymousFile {
    let descriptor: Int32

    init() throws(TransportError) {
        let template = FileManager.default.temporaryDirectory.appendingPathComponent("afar-XXXXXX")
        var path = Array(template.path.utf8CString)
        descriptor = mkstemp(&path)
        guard descriptor >= 0 else {
            throw TransportError(
                .deliveryFailed, phase: .receiving, url: nil, message: "no temporary file could be created",
                systemError: errno)
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(path)
    }

    deinit { close(descriptor) }
}
