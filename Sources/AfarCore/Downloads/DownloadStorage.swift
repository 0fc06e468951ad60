import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The files of a download across all of its attempts: the part to resume, the file being written, and the moved file. The
/// storage doesn't reference the request. It stores closures only while they wait for the files to be closed.
struct DownloadStorage: Sendable {
    typealias Handler = @Sendable (_ resumeData: Data?) -> Void

    private struct State {
        /// The request before adapters.
        var original: URLRequest?
        /// Writes the body while it arrives.
        var delivery: DownloadDelivery?
        /// The complete file, while it belongs to this download.
        var file: TemporaryFile?
        var fileURL: URL?
        var destinationURL: URL?
        /// The part that the next attempt, or another request, can resume.
        var resumable: ResumeData?
        var waiting: [Handler] = []
    }

    private let state: Locked<State>

    init(resuming part: ResumeData? = nil) {
        state = Locked(State(resumable: part))
    }

    // MARK: Files

    /// The current locations and resume data.
    var files: DownloadFiles {
        state.withLock { state in
            DownloadFiles(
                fileURL: state.fileURL, temporaryURL: state.delivery?.url ?? state.file?.url,
                destinationURL: state.destinationURL, resumable: state.delivery == nil ? state.resumable : nil)
        }
    }
    /// The part that could be resumed if the process ended now.
    var resumableInFlight: ResumeData? { state.withLock { $0.delivery?.resumable } }
    /// The complete file, before it is moved.
    var wholeFile: URL? { state.withLock { $0.file }?.url }
    /// The number of bytes in the file before this attempt's body.
    var offset: Int64 { state.withLock { $0.delivery }?.offset ?? 0 }
    /// The stage that requests the rest of a partial file, or nil if the attempt doesn't resume a download.
    var resumeStage: ResumeStage? {
        state.withLock { $0.delivery }.flatMap { $0.remainingRange == nil ? nil : ResumeStage(delivery: $0) }
    }

    // MARK: Attempts

    /// Sets the part that the next attempt resumes.
    func resume(from part: ResumeData) { state.withLock { $0.resumable = part } }

    /// Called when another attempt begins.
    func begin() {
        let file = state.withLock { state in
            state.fileURL = nil
            return state.file.take()
        }
        // Take the file back. It was kept because it couldn't be moved.
        file?.reclaim()
    }

    /// Opens the part that the request resumes, if there is one.
    func prepare(for urlRequest: URLRequest, hiding names: Set<String>) throws {
        var original = urlRequest
        for name in names { original.setValue(nil, forHTTPHeaderField: name) }
        let part = state.withLock { [original] state in
            state.original = original
            return state.resumable
        }
        guard let part else { return }
        let delivery = try DownloadDelivery(resuming: part, with: urlRequest)
        state.withLock { state in
            state.delivery = delivery
            if delivery == nil { state.resumable = nil }
        }
    }

    /// Creates the file, unless a part is resumed.
    func open() throws(TransportError) -> ResponseDelivery {
        if let delivery = state.withLock({ $0.delivery }) { return .file(descriptor: delivery.descriptor) }
        let delivery = try DownloadDelivery()
        state.withLock { $0.delivery = delivery }
        return .file(descriptor: delivery.descriptor)
    }

    /// Chooses the file for the body that follows a head.
    func decision(at head: ResponseHead, sent: URLRequest?) -> HeadDecision {
        let (delivery, original) = state.withLock { ($0.delivery, $0.original) }
        guard let delivery else { return .take() }
        do {
            return .take(try delivery.receive(head, to: original, sent: sent).map { .file(descriptor: $0) })
        } catch {
            return .refuse(error)
        }
    }

    // MARK: Completion

    /// Ends writing after the body is complete.
    func finish() throws(TransportError) -> URL? {
        guard let delivery = state.withLock({ $0.delivery }) else { return nil }
        let (file, resumable) = try delivery.finish()
        state.withLock { state in
            (state.file, state.fileURL) = (file, file.url)
            (state.delivery, state.resumable) = (nil, resumable)
        }
        return file.url
    }

    /// Moves the complete file. If the move fails, keeps the file in place and gives up ownership of it.
    func move(to destination: URL, _ options: DownloadRequest.Options) throws {
        guard let file = state.withLock({ $0.file }) else { return }
        do {
            try file.move(to: destination, options)
            state.withLock { ($0.fileURL, $0.destinationURL) = (destination, destination) }
        } catch {
            file.keep()
            state.withLock { $0.fileURL = nil }
            throw error
        }
    }

    /// Keeps the completed file and gives up ownership of it.
    func keep() { state.withLock { $0.file }?.keep() }

    /// Ends writing before the body is complete.
    func interrupt(keeping shouldKeep: Bool) {
        guard let delivery = state.withLock({ $0.delivery }) else { return }
        let resumable = delivery.interrupt(keeping: shouldKeep)
        state.withLock { ($0.delivery, $0.resumable) = (nil, resumable) }
    }

    // MARK: Waiting for completion

    /// Stores a handler until writing has ended. Returns false and doesn't store the handler if no file is being written.
    func whenSettled(_ handler: @escaping Handler) -> Bool {
        state.withLock { state in
            if state.delivery != nil { state.waiting.append(handler) }
            return state.delivery != nil
        }
    }

    /// Removes and returns the stored handlers.
    func takeWaiting() -> [Handler] { state.withLock { Swift.exchange(&$0.waiting, with: []) } }
}

/// The locations of a download's files at one moment.
struct DownloadFiles {
    /// The complete file's location, if the file is complete.
    var fileURL: URL?
    /// The temporary file's location, even after the file was moved.
    var temporaryURL: URL?
    /// The location that the file was moved to.
    var destinationURL: URL?
    /// The part that can be resumed, or nil while the download is in flight.
    var resumable: ResumeData?

    var resumeData: Data? { resumable?.encoded() }
}
