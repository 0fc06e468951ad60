import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Writes the body of a response to a file and moves the file to its destination.
final class FileSink: ResponseSink {
    let storage: DownloadStorage
    private let destination: DownloadRequest.Destination?
    private let producesResumeDataWhenCancelled = Locked(false)
    private let checks = Locked<[DigestCheck]>([])

    init(to destination: DownloadRequest.Destination?, resuming part: ResumeData? = nil) {
        self.destination = destination
        storage = DownloadStorage(resuming: part)
    }

    // MARK: Sending

    func begin() { storage.begin() }

    func prepare(_ urlRequest: inout URLRequest, of request: Request) throws {
        try storage.prepare(for: urlRequest, hiding: request.sensitiveHeaders)
        for check in checks.withLock({ $0 }) { check.prepare(&urlRequest) }
    }

    /// Adds a digest to verify.
    func append(_ check: DigestCheck) { checks.withLock { $0.append(check) } }

    func openDelivery(for request: Request) throws -> ResponseDelivery {
        do throws(TransportError) {
            return try storage.open()
        } catch {
            throw receive(error, for: request)
        }
    }

    func stages(of stack: TransportStack) -> [any ExchangeStage] {
        storage.resumeStage.map { [$0] + stack.stages } ?? stack.stages
    }

    // MARK: Receiving

    func decide(on head: ResponseHead, for request: Request) -> HeadDecision {
        let decision = storage.decision(at: head, sent: request.lastRequest)
        if case .take = decision { request.didResume(at: storage.offset, expected: head.contentLength) }
        return decision
    }

    func receive(_ response: TransportResponse, for request: Request) throws {
        do throws(TransportError) {
            guard let file = try storage.finish(), let events = request.events,
                let task = request.lastTask as? URLSessionDownloadTask
            else { return }
            events.receive(.downloadTaskDidFinishDownloading(task, to: file))
        } catch {
            throw receive(error, for: request)
        }
    }

    func receive(_ error: TransportError, for request: Request) -> AFError {
        interrupt(request)
        if let refusal = error.trustFailure { return refusal }
        // The storage's error is more specific. The transport's error reports only that the head was refused.
        return .sessionTaskFailed(
            error: (error.underlying as? TransportError ?? error).urlError(resumeData: storage.files.resumeData))
    }

    nonisolated(nonsending) func commit(for request: Request) async throws(AFError) {
        let file = storage.wholeFile
        let delegate = request.session.delegate
        if let file, delegate.receivesFiles {
            await request.onQueue(request.session.queues.root) { delegate.didDownload(file, of: request) }
        }
        try await request.validate(.file(storage.files.fileURL))
        guard let file else { return }
        try await verify(file, of: request)
        if let destination, let response = request.response {
            // Moving the file to another file system is slow, because the file is copied.
            let queue = DispatchQueue(label: "afar.download.move", qos: .utility)
            try await request.onQueue(queue) { () throws(AFError) in
                try move(file, to: destination(file, response), of: request)
            }
        } else {
            storage.keep()
            request.notify(DownloadRequest.self) { .requestDidCreateDestinationURL($0, file) }
        }
        if let fileURL = storage.files.fileURL { didFinish(request, with: .success(fileURL)) }
        callResumeDataHandlers(request)
    }

    private func verify(_ file: URL, of request: Request) async throws(AFError) {
        let checks = checks.withLock { $0 }
        guard !checks.isEmpty, let head = request.responseHead else { return }
        // Reading and hashing a large file takes seconds.
        let queue = DispatchQueue(label: "afar.download.verify", qos: .utility)
        try await request.onQueue(queue) { () throws(AFError) in
            do {
                for digest in try checks.flatMap({ try $0.digests(of: head, trailers: request.trailers) }) {
                    try digest.verify(file, shouldStop: { request.hasEnded })
                }
            } catch {
                throw request.fail(with: .responseValidationFailed(reason: .customValidationFailed(error: error)))
            }
        }
    }

    private func move(
        _ file: URL, to destination: (destinationURL: URL, options: DownloadRequest.Options), of request: Request
    ) throws(AFError) {
        request.notify(DownloadRequest.self) { .requestDidCreateDestinationURL($0, destination.destinationURL) }
        do {
            try storage.move(to: destination.destinationURL, destination.options)
        } catch {
            let failure = request.fail(
                with: .downloadedFileMoveFailed(error: error, source: file, destination: destination.destinationURL))
            didFinish(request, with: .failure(failure))
            throw failure
        }
    }

    private func didFinish(_ request: Request, with result: Result<URL, AFError>) {
        guard let task = request.lastTask else { return }
        request.notify(DownloadRequest.self) { .requestDidFinishDownloading($0, task, result) }
    }

    // MARK: Interruption

    func produceResumeDataWhenCancelled() { producesResumeDataWhenCancelled.withLock { $0 = true } }

    func abandon(for request: Request) {
        interrupt(request)
        callResumeDataHandlers(request)
    }

    /// Stops writing. Removes the partial file only if the request was canceled without producing resume data.
    private func interrupt(_ request: Request) {
        let isCancelled = if case .explicitlyCancelled = request.mutable.withLock({ $0.end }) { true } else { false }
        storage.interrupt(keeping: !isCancelled || producesResumeDataWhenCancelled.withLock { $0 })
    }

    private func callResumeDataHandlers(_ request: Request) {
        let waiting = storage.takeWaiting()
        guard !waiting.isEmpty else { return }
        request.session.queues.root.async { [storage] in
            let data = storage.files.resumeData
            for handler in waiting { handler(data) }
        }
    }
}

extension Request {
    /// Notifies the request's observers that the body begins in the middle of the file.
    fileprivate func didResume(at offset: Int64, expected: Int64?) {
        mutable.withLock { $0.attempt.bytesBefore = offset }
        guard offset > 0 else { return }
        didReceive(bytes: 0, expected: expected)
        guard let events, let task = lastTask as? URLSessionDownloadTask else { return }
        events.receive(
            .downloadTaskDidResumeAtOffset(
                task, offset, expectedTotalBytes: expected.map { offset + $0 } ?? -1))
    }
}

extension TransportError {
    fileprivate func urlError(resumeData: Data?) -> URLError {
        let error = urlError
        guard let resumeData else { return error }
        return URLError(
            error.code, userInfo: error.userInfo.merging([AFError.resumeDataKey: resumeData]) { _, new in new })
    }
}
