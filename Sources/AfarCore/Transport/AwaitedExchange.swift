import Foundation

/// One exchange over a transport that can only be awaited: somebody's own, or one around another.
///
/// Such a transport may know nothing of verdicts, and return a response that nobody wants, with its body. Then what it was
/// to do at the head is done here.
struct AwaitedExchange: Sendable {
    private let exchange: Exchange
    /// The verdict on the head that came last.
    private let given = Locked<HeadVerdict?>(nil)
    /// Where the body begins in its file.
    private let start: off_t?

    init(_ exchange: Exchange) {
        if case .file(let descriptor, _) = exchange.delivery {
            start = lseek(descriptor, 0, SEEK_CUR)
        } else {
            start = nil
        }
        var observed = exchange
        observed.verdict = { [given] head in
            let verdict = exchange.headArrived(head)
            given.withLock { $0 = verdict }
            return verdict
        }
        self.exchange = observed
    }

    func result(of transport: any Transport) async -> Result<TransportResponse, any Error> {
        do {
            let response = try await transport.send(exchange)
            let verdict = given.withLock { $0 } ?? exchange.headArrived(response.head)
            return .success(try await obey(verdict, with: response))
        } catch {
            if case .discard = given.withLock({ $0 }) { try? takeOut(into: nil) }
            return .failure(error)
        }
    }

    private func obey(_ verdict: HeadVerdict, with response: TransportResponse) async throws -> TransportResponse {
        var response = response
        switch verdict {
        case .take(.file(let descriptor, _)): try takeOut(into: descriptor)
        case .take: break
        case .discard:
            if case .stream(let stream) = response.body { stream.cancel() }
            response.body = .data(Data())
            try takeOut(into: nil)
        case .refuse(let error):
            if case .stream(let stream) = response.body { stream.cancel() }
            var failure = TransportError(refused: exchange.url, because: error)
            failure.report = response.report
            throw failure
        case .ask(let pending):
            return try await obey(await pending.verdict, with: response)
        }
        return response
    }

    /// Takes what was written to the exchange's file out of it again, and puts it where it belongs, if it is not there.
    private func takeOut(into destination: Int32?) throws(TransportError) {
        guard case .file(let descriptor, _) = exchange.delivery, let start else { return }
        let end = lseek(descriptor, 0, SEEK_END)
        guard end > start else { return }
        if let destination, lseek(destination, 0, SEEK_CUR) == 0 {
            var buffer = [UInt8](repeating: 0, count: 64 * 1024)
            var offset = start
            while offset < end {
                let count = pread(descriptor, &buffer, buffer.count, offset)
                guard count > 0 else { throw failure("the response's body could not be read again", errno) }
                if let code = buffer.withUnsafeBytes({ UnsafeRawBufferPointer(rebasing: $0[..<count]).write(to: destination) }) {
                    throw failure("the response's body could not be written", code)
                }
                offset += off_t(count)
            }
        }
        guard ftruncate(descriptor, start) == 0, lseek(descriptor, start, SEEK_SET) == start else {
            throw failure("the file could not be cut", errno)
        }
    }

    private func failure(_ message: String, _ code: Int32) -> TransportError {
        TransportError(.deliveryFailed, phase: .receiving, url: exchange.url, message: message, systemError: code)
    }
}

extension PendingVerdict {
    /// The verdict, once it is given; a refusal when the task is cancelled before.
    package var verdict: HeadVerdict {
        get async {
            let deferred = Deferred<HeadVerdict>()
            return await withTaskCancellationHandler {
                whenGiven { deferred.fulfil($0) }
                return await deferred.value
            } onCancel: {
                deferred.fulfil(.refuse(CancellationError()))
            }
        }
    }
}
