import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Where the body of one attempt goes: into a new file, or to the end of one that holds a part. The response's head
/// decides.
final class DownloadDelivery: Sendable {
    /// The request for the rest of a file of which a part exists.
    struct Rest {
        /// The part that exists.
        var part: ResumeData
        /// The first byte to request.
        var start: Int64
    }

    private struct State {
        /// The rest to request; nil for the whole file.
        var rest: Rest?
        /// Whether a response was judged before in this attempt.
        var hadHead = false
        /// Whether the whole file of an earlier response has replaced the part.
        var isPartReplaced = false
        var isOver = false
        /// The files of answers that were about something else. They stay open: somebody may still write to them.
        var asides: [TemporaryFile] = []
        /// The file of an answer that is about something else.
        var aside: TemporaryFile?
        /// What can be resumed when this attempt is interrupted.
        var resumable: ResumeData?
        /// The length that the file must have in the end.
        var promised: Int64?
        /// How many bytes were there before the body.
        var offset: Int64 = 0
    }

    /// The file that its descriptor names, and that a part of the whole is in or will be.
    private let file: TemporaryFile
    private let state: Locked<State>
    /// Held while it is decided what is done with a body, and while the files are closed.
    private let deciding = InlineLocked(())

    /// A delivery into a new file.
    init() throws(TransportError) {
        file = try TemporaryFile()
        state = Locked(State())
    }

    /// A delivery that resumes a part. Nil when the part is not there any more, or the request is not for it; a part that
    /// nothing can be done with is removed.
    init?(resuming data: ResumeData, with request: URLRequest) throws {
        guard let file = try TemporaryFile(keptAt: data.path) else { return nil }
        var data = data
        data.byteCount = min(data.byteCount, file.length)
        try file.truncate(to: data.byteCount)
        let isPart = data.isPart(of: request) && data.byteCount <= data.totalLength ?? .max
        guard isPart, data.byteCount > 0 else { return nil }
        self.file = file
        // Of a whole file the last byte is asked for again: only an answer with bytes tells whether it is still the same.
        let start = data.byteCount == data.totalLength ? data.byteCount - 1 : data.byteCount
        state = Locked(State(rest: Rest(part: data, start: start), resumable: data))
    }

    var descriptor: Int32 { file.descriptor }

    /// How many bytes of the file were there before the body of this attempt.
    var offset: Int64 { state.withLock { $0.offset } }

    /// Where the body goes.
    var url: URL { state.withLock { $0.aside ?? file }.url }

    /// What can be resumed, should this attempt be interrupted now.
    var resumable: ResumeData? { state.withLock { $0.resumable } }

    // MARK: The head

    /// The rest to request; nil for the whole file.
    var rest: Rest? { state.withLock { $0.rest } }

    /// Returns whether the body that follows a head fits. If it doesn't, call ``askAgain(after:)`` and send the request again.
    func accepts(_ head: ResponseHead) -> Bool {
        let (rest, isPartReplaced) = state.withLock { ($0.rest, $0.isPartReplaced) }
        guard let rest else { return true }
        return switch rest.part.answer(in: head, from: rest.start) {
        case .rest: !isPartReplaced
        case .whole, .other: true
        case .nothingLeft, .misfit: false
        }
    }

    /// Requests the last byte if the part is the whole file, and the whole file if the part is useless.
    func askAgain(after head: ResponseHead) throws {
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

    /// Decides what is done with the body that follows. A second head is that of another response.
    ///
    /// - Parameters:
    ///   - original: The request as its owner made it.
    ///   - sent: The request as adapted.
    /// - Returns: Where the body goes instead of into the file.
    /// - Throws: What stands against taking the body.
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
                message: "the server sent another part than it was asked for")
        case .other:
            let aside = try TemporaryFile()
            state.withLock { state in
                state.asides.append(aside)
                state.aside = aside
            }
            return aside.descriptor
        }
        return nil
    }

    /// A part that nobody has asked for must not pass for the whole.
    private func checkThatNoPart(_ head: ResponseHead, answers sent: URLRequest?) throws {
        guard head.status == 206, sent?.value(forHTTPHeaderField: "Range") == nil else { return }
        throw TransportError(
            .malformedResponse, phase: .receiving, url: head.url,
            message: "the server sent a part (206) of what it was asked for as a whole")
    }

    // MARK: The end

    /// Ends the writing, with a whole body there.
    ///
    /// - Returns: The file that the body is in, and what can still be resumed: a part that the answer had nothing
    ///   to do with.
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
                message: "\(file.length) of \(promised) bytes are there after the last one was said to have come")
        }
        guard (aside ?? file).exists else {
            throw TransportError(
                .deliveryFailed, phase: .receiving, url: nil,
                message: "somebody removed the file \(url.path) before it was whole")
        }
        (aside ?? file).publish()
        file.close()
        guard let aside else { return (file, nil) }
        aside.close()
        file.keep()
        return (aside, resumable)
    }

    /// Ends the writing, with a body that is not whole.
    ///
    /// - Parameter mayKeep: Whether what can be resumed is wanted.
    /// - Returns: What can be resumed, if its bytes have been kept.
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
        // Now, and not when the last reference to them is released, which may be a transport's.
        defer {
            file.remove()
            aside?.remove()
        }
        guard mayKeep, var resumable else { return nil }
        let length = file.length
        // A server that says more than it promised would make a part of what is too much.
        guard length > 0, length <= resumable.totalLength ?? .max else { return nil }
        resumable.byteCount = length
        file.keep()
        return resumable
    }
}
