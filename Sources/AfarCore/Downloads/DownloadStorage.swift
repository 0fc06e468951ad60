import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Where the bytes of a download go in all of its attempts: to the part that they go on from, into the file of the attempt
/// that runs, and with that to where it belongs when it is whole. It knows no request and no closures but
/// those that wait for it.
struct DownloadStorage: Sendable {
    typealias Handler = @Sendable (_ resumeData: Data?) -> Void

    private struct State {
        /// What the owner of the request made, before adapters.
        var original: URLRequest?
        /// Where the body goes while it comes.
        var delivery: DownloadDelivery?
        /// The file with a body that is whole, while it is ours.
        var file: TemporaryFile?
        var fileURL: URL?
        var destinationURL: URL?
        /// What the next attempt, or another request, can resume from.
        var resumable: ResumeData?
        var waiting: [Handler] = []

        var temporaryURL: URL? { delivery?.url ?? file?.url }

        /// What there is to go on with, when nothing is in flight.
        var resumableAtRest: ResumeData? { delivery == nil ? resumable : nil }
    }

    private let state: Locked<State>

    /// - Parameter part: What the first attempt goes on from.
    init(resuming part: ResumeData? = nil) {
        state = Locked(State(resumable: part))
    }

    // MARK: What there is

    /// Where the file is, once it is whole.
    var fileURL: URL? { state.withLock { $0.fileURL } }
    /// Where the bytes arrive, or did before the file was moved.
    var temporaryURL: URL? { state.withLock { $0.temporaryURL } }
    /// Where the file was moved to.
    var destinationURL: URL? { state.withLock { $0.destinationURL } }
    /// What is needed to go on; nil while the download is in flight.
    var resumeData: Data? { state.withLock { $0.resumableAtRest }?.encoded() }
    /// What could be gone on from if the process ended now.
    var resumableInFlight: ResumeData? { state.withLock { $0.delivery?.resumable } }
    /// The file that is whole and has not been moved.
    var wholeFile: URL? { state.withLock { $0.file }?.url }
    /// How many bytes of the file were there before the body of this attempt.
    var offset: Int64 { state.withLock { $0.delivery }?.offset ?? 0 }
    /// The stage that requests the rest of a part; nil if the attempt doesn't resume one.
    var resumeStage: ResumeStage? {
        state.withLock { $0.delivery }.flatMap { $0.rest == nil ? nil : ResumeStage(delivery: $0) }
    }

    var files: DownloadFiles {
        var (files, resumable) = state.withLock { state in
            let files = DownloadFiles(
                fileURL: state.fileURL, temporaryURL: state.temporaryURL, destinationURL: state.destinationURL)
            return (files, state.resumableAtRest)
        }
        files.resumeData = resumable?.encoded()
        return files
    }

    // MARK: One attempt

    /// Has the next attempt go on from a part.
    func resume(from part: ResumeData) { state.withLock { $0.resumable = part } }

    /// Another attempt begins.
    func begin() {
        let file = state.withLock { state in
            state.fileURL = nil
            return state.file.take()
        }
        // One that was kept because it could not be moved; it will come again.
        file?.takeBack()
    }

    /// Opens the part that the request resumes, if it has one.
    ///
    /// - Parameters:
    ///   - urlRequest: The request before adapters.
    ///   - names: Headers that are not to be in resume data.
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

    /// Makes the file, if there is no part to be gone on with.
    func open() throws(TransportError) -> ResponseDelivery {
        if let delivery = state.withLock({ $0.delivery }) { return .file(descriptor: delivery.descriptor) }
        let delivery = try DownloadDelivery()
        state.withLock { $0.delivery = delivery }
        return .file(descriptor: delivery.descriptor)
    }

    /// Decides what is done with the body that follows a head.
    ///
    /// - Parameter sent: The request as adapted.
    func decision(at head: ResponseHead, sent: URLRequest?) -> HeadDecision {
        let (delivery, original) = state.withLock { ($0.delivery, $0.original) }
        guard let delivery else { return .take() }
        do {
            return .take(try delivery.receive(head, to: original, sent: sent).map { .file(descriptor: $0) })
        } catch {
            return .refuse(error)
        }
    }

    // MARK: Its end

    /// The whole body is there.
    ///
    /// - Returns: The file that it is in; nil when none was opened.
    func finish() throws(TransportError) -> URL? {
        guard let delivery = state.withLock({ $0.delivery }) else { return nil }
        let (file, resumable) = try delivery.finish()
        state.withLock { state in
            (state.file, state.fileURL) = (file, file.url)
            (state.delivery, state.resumable) = (nil, resumable)
        }
        return file.url
    }

    /// Moves the file that is whole. If that fails, it stays where it is, for good.
    func move(to destination: URL, createsDirectories: Bool, replacesFile: Bool) throws {
        guard let file = state.withLock({ $0.file }) else { return }
        do {
            try file.move(to: destination, createsDirectories: createsDirectories, replacesFile: replacesFile)
            state.withLock { ($0.fileURL, $0.destinationURL) = (destination, destination) }
        } catch {
            file.keep()
            state.withLock { $0.fileURL = nil }
            throw error
        }
    }

    /// Leaves the file that is whole where it is, for good.
    func keep() { state.withLock { $0.file }?.keep() }

    /// Ends the writing of a body that is not whole.
    ///
    /// - Parameter mayKeep: Whether to keep a part that can be resumed.
    func interrupt(keeping mayKeep: Bool) {
        guard let delivery = state.withLock({ $0.delivery }) else { return }
        let resumable = delivery.interrupt(keeping: mayKeep)
        state.withLock { ($0.delivery, $0.resumable) = (nil, resumable) }
    }

    // MARK: Who waits for it

    /// Keeps a handler until nothing is written any more. Returns whether that is still to come.
    func whenSettled(_ handler: @escaping Handler) -> Bool {
        state.withLock { state in
            if state.delivery != nil { state.waiting.append(handler) }
            return state.delivery != nil
        }
    }

    /// Those who were kept.
    func takeWaiting() -> [Handler] { state.withLock { Swift.exchange(&$0.waiting, with: []) } }
}

/// Where a download's bytes are, at one moment.
struct DownloadFiles {
    /// Where the file is, once it is whole.
    var fileURL: URL?
    /// Where the bytes arrive, or did before the file was moved.
    var temporaryURL: URL?
    /// Where the file was moved to.
    var destinationURL: URL?
    /// What is needed to go on with the download.
    var resumeData: Data?
}
