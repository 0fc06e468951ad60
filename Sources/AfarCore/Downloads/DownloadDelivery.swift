import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Writes the body of one attempt to a file. If the attempt resumes a partial file, the response's head determines whether the
/// body is appended to it, replaces it, or is written to another file.
final class DownloadDelivery: Sendable {
    /// A request for the rest of a partial file.
    struct RemainingRange {
        var part: ResumeData
        /// The first byte to request.
        var start: Int64
    }

    private struct State {
        /// The range to request, or nil for the whole file.
        var remainingRange: RemainingRange?
        /// Whether this attempt has already received a response head.
        var hasReceivedHead = false
        /// Whether a full response in this attempt has replaced the part.
        var isPartReplaced = false
        var isClosed = false
        /// The files for bodies that aren't the requested file. The files stay open because a transport might still write to
        /// them.
        var otherFiles: [TemporaryFile] = []
        /// The file for the current body, if it isn't the requested file.
        var otherFile: TemporaryFile?
        /// The resume data to use if this attempt is interrupted.
        var resumable: ResumeData?
        /// The length of the whole file according to the response.
        var expectedLength: Int64?
        /// The number of bytes in the file before the body.
        var offset: Int64 = 0
    }

    /// The file behind `descriptor`. The file contains the download or the part to resume.
    private let file: TemporaryFile
    private let state: Locked<State>
    /// Held while choosing the file for a body, and while closing the files.
    private let decisionLock = InlineLocked(())

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
        if data.isRelocated, let url = request.url.flatMap(ResumeData.withoutUserinfo) { data.url = url }
        let isPart = data.isPart(of: request) && data.byteCount <= data.totalLength ?? .max
        guard isPart, data.byteCount > 0 else { return nil }
        self.file = file
        // If the part is complete, request its last byte: only a response with bytes proves that the file is unchanged.
        let start = data.byteCount == data.totalLength ? data.byteCount - 1 : data.byteCount
        state = Locked(State(remainingRange: RemainingRange(part: data, start: start), resumable: data))
    }

    var descriptor: Int32 { file.descriptor }

    /// The number of bytes in the file before this attempt's body.
    var offset: Int64 { state.withLock { $0.offset } }

    /// The file that receives the body.
    var url: URL { state.withLock { $0.otherFile ?? file }.url }

    /// The resume data to use if the download is interrupted now.
    var resumable: ResumeData? { state.withLock { $0.resumable } }

    // MARK: Response head

    /// The range to request, or nil for the whole file.
    var remainingRange: RemainingRange? { state.withLock { $0.remainingRange } }

    /// Returns whether the body that follows a head can be used. If it can't, call ``prepareRetry(after:)`` and send the
    /// request again.
    func accepts(_ head: ResponseHead) -> Bool {
        let (remainingRange, isPartReplaced) = state.withLock { ($0.remainingRange, $0.isPartReplaced) }
        guard let remainingRange else { return true }
        return switch remainingRange.part.kind(of: head, from: remainingRange.start) {
        case .remainder: !isPartReplaced
        case .whole, .other: true
        case .alreadyComplete, .unusable: false
        }
    }

    /// Prepares a request for the last byte if the part is the whole file. Otherwise, prepares a request for the whole file.
    func prepareRetry(after head: ResponseHead) throws {
        try decisionLock.withLock { _ in
            let (remainingRange, isClosed) = state.withLock { ($0.remainingRange, $0.isClosed) }
            guard !isClosed else { throw CancellationError() }
            guard let remainingRange else { return }
            guard case .alreadyComplete(let length) = remainingRange.part.kind(of: head, from: remainingRange.start)
            else {
                state.withLock { ($0.remainingRange, $0.resumable) = (nil, nil) }
                return try file.truncate(to: 0)
            }
            state.withLock { state in
                state.remainingRange?.part.totalLength = length
                state.remainingRange?.start = length - 1
                state.resumable?.totalLength = length
            }
        }
    }

    /// Chooses the file for the body that follows a head. Each call is for a different response.
    ///
    /// - Parameters:
    ///   - original: The request before adapters.
    ///   - sent: The adapted request.
    /// - Returns: The descriptor of another file that receives the body, or nil if the download's own file receives it.
    /// - Throws: The reason the body can't be accepted.
    func receive(_ head: ResponseHead, to original: URLRequest?, sent: URLRequest?) throws -> Int32? {
        try decisionLock.withLock { _ in try decide(head, original, sent) }
    }

    private func decide(_ head: ResponseHead, _ original: URLRequest?, _ sent: URLRequest?) throws -> Int32? {
        let (isClosed, hasReceivedHead, remainingRange, isPartReplaced) = state.withLock { state in
            (state.otherFile, state.expectedLength, state.offset) = (nil, nil, 0)
            return (
                state.isClosed, Swift.exchange(&state.hasReceivedHead, with: true), state.remainingRange,
                state.isPartReplaced
            )
        }
        guard !isClosed else { throw CancellationError() }
        guard let remainingRange else {
            try rejectUnrequestedPart(head, sent: sent)
            if hasReceivedHead { try file.truncate(to: 0) }
            let isPlain = sent?.httpMethod ?? "GET" == "GET" && sent?.value(forHTTPHeaderField: "Range") == nil
            let resumable = isPlain ? original.flatMap { ResumeData(head, to: $0, in: file.url) } : nil
            state.withLock { $0.resumable = resumable }
            return nil
        }
        switch remainingRange.part.kind(of: head, from: remainingRange.start) {
        case .remainder(let length) where !isPartReplaced:
            try file.truncate(to: remainingRange.start)
            state.withLock { state in
                (state.expectedLength, state.offset, state.resumable) = (
                    length, remainingRange.start, remainingRange.part
                )
                state.resumable?.totalLength = length
                if remainingRange.part.isRelocated {
                    state.resumable?.origin = head.origin
                    state.resumable?.isRelocated = false
                }
            }
        case .whole:
            try file.truncate(to: 0)
            state.withLock { [file] state in
                state.isPartReplaced = true
                state.resumable = original.flatMap { ResumeData(head, to: $0, in: file.url) }
            }
        case .remainder, .alreadyComplete, .unusable:
            throw TransportError(
                .malformedResponse, phase: .receiving, url: head.url,
                message: "the server sent a different part of the file than requested")
        case .other:
            let otherFile = try TemporaryFile()
            state.withLock { state in
                state.otherFiles.append(otherFile)
                state.otherFile = otherFile
            }
            return otherFile.descriptor
        }
        return nil
    }

    /// Throws an error for a partial response that wasn't requested, because its body isn't the whole file.
    private func rejectUnrequestedPart(_ head: ResponseHead, sent: URLRequest?) throws {
        guard head.status == 206, sent?.value(forHTTPHeaderField: "Range") == nil else { return }
        throw TransportError(
            .malformedResponse, phase: .receiving, url: head.url,
            message: "the server sent partial content (206), although the whole file was requested")
    }

    // MARK: Completion

    /// Ends writing after the body is complete.
    ///
    /// - Returns: The file with the body. If the body isn't in the part's file, also the resume data of the unchanged part.
    func finish() throws(TransportError) -> (TemporaryFile, ResumeData?) {
        try decisionLock.withLock { _ throws(TransportError) in try closeFiles() }
    }

    private func closeFiles() throws(TransportError) -> (TemporaryFile, ResumeData?) {
        let (otherFile, expectedLength, resumable) = state.withLock { state in
            state.isClosed = true
            return (state.otherFile, state.expectedLength, state.resumable)
        }
        if let expectedLength, otherFile == nil, file.length != expectedLength {
            throw TransportError(
                .bodyIncomplete, phase: .receiving, url: nil,
                message: "the response is complete, but the file has \(file.length) of \(expectedLength) bytes")
        }
        guard (otherFile ?? file).exists else {
            throw TransportError(
                .deliveryFailed, phase: .receiving, url: nil,
                message: "the file \(url.path) was removed before the download was complete")
        }
        (otherFile ?? file).publish()
        file.close()
        guard let otherFile else { return (file, nil) }
        otherFile.close()
        file.keep()
        return (otherFile, resumable)
    }

    /// Ends writing before the body is complete.
    func interrupt(keeping shouldKeep: Bool) -> ResumeData? {
        decisionLock.withLock { _ in abandonFiles(keeping: shouldKeep) }
    }

    private func abandonFiles(keeping shouldKeep: Bool) -> ResumeData? {
        let (otherFile, resumable) = state.withLock { state in
            state.isClosed = true
            return (state.otherFile, state.resumable)
        }
        file.close()
        otherFile?.close()
        // Remove the files now, because a transport might hold the last reference and release it late.
        defer {
            file.remove()
            otherFile?.remove()
        }
        guard shouldKeep, var resumable else { return nil }
        let length = file.length
        // The server can send more than the specified length; the excess isn't part of the file.
        guard length > 0, length <= resumable.totalLength ?? .max else { return nil }
        resumable.byteCount = length
        file.keep()
        return resumable
    }
}

// MARK: - Requesting the rest

/// A stage that requests the rest of a file when a download is resumed. If the response can't be used, the stage sends a second
/// request. If the part already has the length of the whole file, that request is for the last byte. Otherwise, it is for the
/// whole file.
struct ResumeStage: ExchangeStage {
    let delivery: DownloadDelivery

    func begin(_ hop: Hop) -> (any StageRun)? { Run(delivery) }

    private final class Run: StageRun {
        private let delivery: DownloadDelivery
        /// The head of the last response that couldn't be used.
        private let unusableHead = Locked<ResponseHead?>(nil)

        init(_ delivery: DownloadDelivery) { self.delivery = delivery }

        func before(_ hop: Hop) -> Reply<RequestAction> {
            if let head = unusableHead.withLock({ $0.take() }) {
                do { try delivery.prepareRetry(after: head) } catch { return .now(.fail(error)) }
            }
            guard let remainingRange = delivery.remainingRange else { return .now(.send) }
            var exchange = hop.exchange
            for field in remainingRange.part.fields(from: remainingRange.start) {
                guard let name = HTTPField.Name(field.name) else { continue }
                exchange.request.headerFields[name] = field.value
            }
            return .now(.change(exchange))
        }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> {
            guard !delivery.accepts(head) else { return .now(.pass) }
            unusableHead.withLock { $0 = head }
            return .now(.follow(hop.exchange, .validation))
        }
    }
}
