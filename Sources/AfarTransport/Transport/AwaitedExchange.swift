import Foundation

/// One exchange over a transport that can only be awaited: a custom one, or a decorator around another.
///
/// Such a transport may know nothing of verdicts, and return a response that nobody wants, with its body. Then what it was
/// to do at the head is done here; the total timeout, which is the transport's to keep, does not end a question any more.
struct AwaitedExchange: Sendable {
    private struct State {
        /// The heads that were judged, and the verdicts.
        var known: [(head: ResponseHead, verdict: HeadVerdict)] = []
        /// Whether the transport has returned. It may send on behind one's back.
        var isOver = false
    }

    private let original: Exchange
    private let exchange: Exchange
    /// Where the body begins in its file.
    private let start: off_t
    private let state = Locked(State())

    init(_ exchange: Exchange) {
        original = exchange
        start = exchange.delivery.descriptor.map { lseek($0, 0, SEEK_CUR) } ?? 0
        var observed = exchange
        observed.verdict = { [state] head in
            guard !state.withLock({ $0.isOver }) else { return .refuse(CancellationError()) }
            let verdict = exchange.headArrived(head)
            state.withLock { $0.known.append((head, verdict)) }
            return verdict
        }
        self.exchange = observed
    }

    func result(of transport: any Transport) async -> Result<TransportResponse, any Error> {
        do {
            let response = try await transport.send(exchange)
            let known = close()
            let entry =
                known.last { $0.head === response.head } ?? known.last { response.head.isLike($0.head) }
            if let verdict = entry?.verdict { return .success(try await obey(verdict, with: response)) }
            return .success(try await judge(response, isFirst: known.isEmpty))
        } catch {
            // What is in the file belongs there only if it was taken.
            if case .take(nil)? = close().last?.verdict {} else { try? takeOut(into: nil) }
            return .failure(error)
        }
    }

    /// No more heads are judged.
    private func close() -> [(head: ResponseHead, verdict: HeadVerdict)] {
        state.withLock { state in
            state.isOver = true
            return state.known
        }
    }

    /// Has a whole response judged as if its head had just come.
    ///
    /// - Parameter isFirst: Whether none was judged before. Then the file of a body that begins with it is not touched.
    private func judge(_ response: TransportResponse, isFirst: Bool) async throws -> TransportResponse {
        guard let descriptor = exchange.delivery.descriptor, !isFirst || start > 0 else {
            return try await obey(original.headArrived(response.head), with: response)
        }
        let body = try AnonymousFile()
        try takeOut(into: body.descriptor)
        let verdict = await original.headArrived(response.head).settled()
        let judged = try await obey(verdict, with: response)
        guard case .take(let delivery) = verdict else { return judged }
        let end = lseek(body.descriptor, 0, SEEK_END)
        try copy(from: body.descriptor, 0..<end, to: delivery?.descriptor ?? descriptor)
        return judged
    }

    private func obey(_ verdict: consuming HeadVerdict, with response: TransportResponse) async throws
        -> TransportResponse
    {
        let verdict = await verdict.settled()
        switch verdict {
        case .take(let delivery):
            if let descriptor = delivery?.descriptor { try takeOut(into: descriptor) }
            return response
        case .discard, .refuse, .ask:
            try takeOut(into: nil)
            return try response.obeying(verdict, instead: exchange.delivery).get()
        }
    }

    /// Takes what was written to the exchange's file out of it again, and puts it where it belongs, if it is not there.
    private func takeOut(into destination: Int32?) throws(TransportError) {
        guard let descriptor = exchange.delivery.descriptor else { return }
        let end = lseek(descriptor, 0, SEEK_END)
        guard end > start else { return }
        if let destination, lseek(destination, 0, SEEK_CUR) == 0 {
            try copy(from: descriptor, start..<end, to: destination)
        }
        guard ftruncate(descriptor, start) == 0, lseek(descriptor, start, SEEK_SET) == start else {
            throw failure("the file could not be cut", errno)
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

extension HeadVerdict {
    /// For transports: the verdict that is given in the end, which is not ``ask(_:)``; a refusal when the task is cancelled
    /// before. Nobody here keeps one that is pending: when its owner drops it, that is a refusal too.
    public consuming func settled() async -> HeadVerdict {
        let deferred = Deferred<HeadVerdict>()
        pass(to: deferred)
        return await withTaskCancellationHandler {
            await deferred.value
        } onCancel: {
            deferred.fulfil(.refuse(CancellationError()))
        }
    }

    private consuming func pass(to deferred: Deferred<HeadVerdict>) {
        if case .ask(let pending) = self { pending.whenGiven { deferred.fulfil($0) } } else { deferred.fulfil(self) }
    }
}

/// A file for a moment.
private final class AnonymousFile {
    let descriptor: Int32

    init() throws(TransportError) {
        let template = FileManager.default.temporaryDirectory.appendingPathComponent("afar-XXXXXX")
        var path = Array(template.path.utf8CString)
        descriptor = mkstemp(&path)
        guard descriptor >= 0 else {
            throw TransportError(
                .deliveryFailed, phase: .receiving, url: nil, message: "there is no place for the response's body",
                systemError: errno)
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(path)
    }

    deinit { close(descriptor) }
}
