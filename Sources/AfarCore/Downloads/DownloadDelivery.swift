import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Writes the body of one attempt to a file. Depending on the response's head, this is a new file, or a partial file to which
/// the rest of the body is appended.
final class DownloadDelivery: Sendable {
    /// A request for the rest of a partial file.
    struct Rest {
        /// The existing part.
        var part: ResumeData
        /// The first byte to request.
        var start: Int64
    }

    private struct State {
        /// The rest to request, or nil for the whole file.
        var rest: Rest?
        /// Whether this attempt has already received a response head.
        var hadHead = false
        /// Whether a full response in this attempt has replaced the part.
        var isPartReplaced = false
        var isOver = false
        /// The files for bodies that aren't the requested file. They stay open because a transport might still write to them.
        var otherFiles: [TemporaryFile] = []
        /// The file for the current body, if it isn't the requested file.
        var aside: TemporaryFile?
        /// The resume data to use if this attempt is interrupted.
        var resumable: ResumeData?
        /// The length of the whole file according to the response.
        var promised: Int64?
        /// The number of bytes in the file before the body.
        var offset: Int64 = 0
    }

    /// The file behind `descriptor`. It contains the download or the part to resume.
    private let file: TemporaryFile
    private let state: Locked<State>
    /// Held while choosing the file for a body, and while closing the files.
    private let deciding = InlineLocked(())

    /// Creates a delivery into a new file.
    init() throws(TransportError) {
        file = try TemporaryFile()
        state = Locked(State())
    }

    /// Creates a delivery that resumes a part. Returns nil if the part no longer exists or doesn't belong to the request. An
    /// unusable part is removed.
    init?(resuming data: ResumeData, with request: URLRequest) throws {
        guard let file = try TemporaryFile(keptAt: data.path) else { return nil }
        var data = data
        data.byteCount = min(data.byteCount, file.length)
        try file.truncate(to: data.byteCount)
        let isPart = data.isPart(of: request) && data.byteCount <= data.totalLength ?? .max
        guard isPart, data.byteCount > 0 else { return nil }
        self.file = file
        // Even if the file is complete, request its last byte: only a response with bytes proves that it is unchanged.
        let start = data.byteCount == data.totalLength ? data.byteCount - 1 : data.byteCount
        state = Locked(State(rest: Rest(part: data, start: start), resumable: data))
    }

    var descriptor: Int32 { file.descriptor }

    /// The number of bytes in the file before this attempt's body.
    var offset: Int64 { state.withLock { $0.offset } }

    /// The file that receives the body.
    var url: URL { state.withLock { $0.aside ?? file }.url }

    /// The resume data for an interruption at this moment.
    var resumable: ResumeData? { state.withLock { $0.resumable } }

    // MARK: Response head

    /// The rest to request, or nil for the whole file.
    var rest: Rest? { state.withLock { $0.rest } }

    /// Returns whether the body that follows a head can be used. If it can't, call ``prepareRetry(after:)`` and send the
    /// request again.
    func accepts(_ head: ResponseHead) -> Bool {
        let (rest, isPartReplaced) = state.withLock { ($0.rest, $0.isPartReplaced) }
        guard let rest else { return true }
        return switch rest.part.answer(in: head, from: rest.start) {
        case .rest: !isPartReplaced
        case .whole, .other: true
        case .nothingLeft, .misfit: false
        }
    }

    /// Prepares to request the last byte if the part is the whole file, or the whole file if the part can't be used.
    func prepareRetry(after head: ResponseHead) throws {
        try deciding.withLock { _ in
            let (rest, isOver) = state.withLock { ($0.rest, $0.isOver) }
            guard !isOver else { throw CancellationError() }
            guard let rest else { return }
            guard case .nothingLeft(let length) = rest.part.answer(in: head, from: rest.start) else {
                state.withLock { ($0.rest, $0.resumable) = (nil, nil) }
                return try file.truncate(to: 0)
            }
            state.withLock { state in
                state.rest?.part.totalLength = length
                state.rest?.start = length - 1
                state.resumable?.totalLength = length
            }
        }
    }

    /// Chooses the file for the body that follows a head. Each call is for another response.
    ///
    /// - Parameters:
    ///   - original: The request before adapters.
    ///   - sent: The adapted request.
    /// - Returns: The descriptor that receives the body instead of the file, if any.
    /// - Throws: The reason the body can't be accepted.
    func receive(_ head: ResponseHead, to original: URLRequest?, sent: URLRequest?) throws -> Int32? {
        try deciding.withLock { _ in try decide(head, original, sent) }
    }

    private func decide(_ head: ResponseHead, _ original: URLRequest?, _ sent: URLRequest?) throws -> Int32? {
        let (isOver, hadHead, rest, isPartReplaced) = state.withLock { state in
            (state.aside, state.promised, state.offset) = (nil, nil, 0)
            return (state.isOver, Swift.exchange(&state.hadHead, with: true), state.rest, state.isPartReplaced)
        }
        guard !isOver else { throw CancellationError() }
        guard let rest else {
            try checkThatNoPart(head, answers: sent)
            if hadHead { try file.truncate(to: 0) }
            let isPlain = sent?.httpMethod ?? "GET" == "GET" && sent?.value(forHTTPHeaderField: "Range") == nil
            let resumable = isPlain ? original.flatMap { ResumeData(head, to: $0, in: file.url) } : nil
            state.withLock { $0.resumable = resumable }
            return nil
        }
        switch rest.part.answer(in: head, from: rest.start) {
        case .rest(let length) where !isPartReplaced:
            try file.truncate(to: rest.start)
            state.withLock { state in
                (state.promised, state.offset, state.resumable) = (length, rest.start, rest.part)
                state.resumable?.totalLength = length
            }
        case .whole:
            try file.truncate(to: 0)
            state.withLock { [file] state in
                state.isPartReplaced = true
                state.resumable = original.flatMap { ResumeData(head, to: $0, in: file.url) }
            }
        case .rest, .nothingLeft, .misfit:
            throw TransportError(
                .malformedResponse, phase: .receiving, url: head.url,
                message: "the server sent a different part of the file than requested")
        case .other:
            let aside = try TemporaryFile()
            state.withLock { state in
                state.otherFiles.append(aside)
                state.aside = aside
            }
            return aside.descriptor
        }
        return nil
    }

    /// Prevents a partial response that wasn't requested from being taken for the whole file.
    private func checkThatNoPart(_ head: ResponseHead, answers sent: URLRequest?) throws {
        guard head.status == 206, sent?.value(forHTTPHeaderField: "Range") == nil else { return }
        throw TransportError(
            .malformedResponse, phase: .receiving, url: head.url,
            message: "the server sent partial content (206), although the whole file was requested")
    }

    // MARK: Completion

    /// Ends writing after a complete body.
    ///
    /// - Returns: The file with the body, and the resume data of a part that the response didn't affect.
    func finish() throws(TransportError) -> (TemporaryFile, ResumeData?) {
        try deciding.withLock { _ throws(TransportError) in try closeFiles() }
    }

    private func closeFiles() throws(TransportError) -> (TemporaryFile, ResumeData?) {
        let (aside, promised, resumable) = state.withLock { state in
            state.isOver = true
            return (state.aside, state.promised, state.resumable)
        }
        if let promised, aside == nil, file.length != promised {
            throw TransportError(
                .bodyIncomplete, phase: .receiving, url: nil,
                message: "the response is complete, but the file has \(file.length) of \(promised) bytes")
        }
        guard (aside ?? file).exists else {
            throw TransportError(
                .deliveryFailed, phase: .receiving, url: nil,
                message: "the file \(url.path) was removed before the download was complete")
        }
        (aside ?? file).publish()
        file.close()
        guard let aside else { return (file, nil) }
        aside.close()
        file.keep()
        return (aside, resumable)
    }

    /// Ends writing before the body is complete.
    ///
    /// - Parameter mayKeep: Whether to keep a part that can be resumed.
    /// - Returns: The resume data, if the part was kept.
    func interrupt(keeping mayKeep: Bool) -> ResumeData? {
        deciding.withLock { _ in abandonFiles(keeping: mayKeep) }
    }

    private func abandonFiles(keeping mayKeep: Bool) -> ResumeData? {
        let (aside, resumable) = state.withLock { state in
            state.isOver = true
            return (state.aside, state.resumable)
        }
        file.close()
        aside?.close()
        // A transport might hold the last reference and release it late.
        defer {
            file.remove()
            aside?.remove()
        }
        guard mayKeep, var resumable else { return nil }
        let length = file.length
        // The server can send more than the specified length; the excess isn't part of the file.
        guard length > 0, length <= resumable.totalLength ?? .max else { return nil }
        resumable.byteCount = length
        file.keep()
        return resumable
    }
}

// MARK: - Requesting the rest

/// A stage that requests the rest of a file when a download is resumed. If the response can't be used, it requests the whole
/// file, or only the last byte if the part is the whole file.
struct ResumeStage: ExchangeStage {
    let delivery: DownloadDelivery

    func begin(_ hop: Hop) -> (any StageRun)? { Run(delivery) }

    private final class Run: StageRun {
        private let delivery: DownloadDelivery
        /// The head of the last response that couldn't be used.
        private let misfit = Locked<ResponseHead?>(nil)

        init(_ delivery: DownloadDelivery) { self.delivery = delivery }

        func before(_ hop: Hop) -> Reply<RequestAction> {
            if let head = misfit.withLock({ $0.take() }) {
                do { try delivery.prepareRetry(after: head) } catch { return .now(.fail(error)) }
            }
            guard let rest = delivery.rest else { return .now(.send) }
            var exchange = hop.exchange
            for field in rest.part.fields(from: rest.start) {
                guard let name = HTTPField.Name(field.name) else { continue }
                exchange.request.headerFields[name] = field.value
            }
            return .now(.change(exchange))
        }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
            guard !delivery.accepts(head) else { return .now(.pass) }
            misfit.withLock { $0 = head }
            return .now(.follow(hop.exchange, .validation))
        }
    }
}
