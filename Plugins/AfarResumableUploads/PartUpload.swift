import AfarCore
import Foundation

/// Sends one upload: creates it, appends bytes, and after an interruption continues at the server's offset.
struct PartUpload: Sendable {
    let dialect: any UploadDialect
    let source: any UploadSource
    let options: ResumableUploadOptions
    /// Whether a new upload can be created if the server no longer has this one.
    let canStartOver: Bool
    let retries: UploadRetries
    /// Returns the upload's URL, or nil before the upload is created.
    let savedURL: @Sendable () -> URL?
    let saveURL: @Sendable (URL?) throws -> Void
    /// Called with the sum of the bytes that the server has and the bytes that the current request has sent.
    let didProgress: @Sendable (Int64) -> Void
    let didReceiveExpirationDate: @Sendable (Date?) -> Void

    /// The values of one run.
    private struct Run {
        /// The server's offset, or nil if it must be requested.
        var offset: Int64?
        /// The highest offset that the server has confirmed. A lower offset isn't progress.
        var highest: Int64 = 0
        var hasStartedOver = false
        var requestLimit: Int64?
        var retries: UploadRetries.Count
    }

    /// Sends the upload and returns the response that completed it.
    func run() async throws -> UploadClient.Reply {
        var run = Run(retries: retries.makeCount())
        while true {
            try Task.checkCancellation()
            do {
                if let reply = try await step(&run) { return reply }
            } catch Interruption.gone(let status) {
                // Without this limit, starting over could repeat forever.
                guard canStartOver, !run.hasStartedOver, source.canStartOver else {
                    throw ResumableUploadError.uploadGone(status: status)
                }
                try saveURL(nil)
                (run.hasStartedOver, run.offset, run.highest) = (true, nil, 0)
                didProgress(0)
            } catch Interruption.transient(let error, let delay) {
                run.offset = nil
                try await run.retries.wait(after: error, retryAfter: delay)
            }
        }
    }

    /// Sends one request. Returns the response if the upload is complete.
    private func step(_ run: inout Run) async throws -> UploadClient.Reply? {
        guard let url = savedURL() else {
            let state = try await dialect.create(for: source, didFindURL: saveURL) { didProgress($0) }
            return try apply(state, to: &run, sentThrough: nil)
        }
        guard let offset = run.offset else {
            return try apply(try await dialect.state(of: url, source: source), to: &run, sentThrough: nil)
        }
        let limit = [options.requestLimit(isFile: source is FileSource), run.requestLimit].compactMap { $0 }.min()
        let segment = try await source.segment(at: offset, limit: limit)
        let state = try await dialect.append(segment, of: source, to: url) { didProgress(offset + $0) }
        try segment.checkSource()
        return try apply(state, to: &run, sentThrough: segment)
    }

    /// Adopts the server's state. Returns the response if the upload is complete.
    private func apply(
        _ state: UploadState, to run: inout Run, sentThrough segment: Segment?
    ) throws -> UploadClient.Reply? {
        didReceiveExpirationDate(state.expirationDate)
        if let limit = state.requestLimit { run.requestLimit = limit }
        guard let offset = state.offset else { return nil }
        let end = source.length ?? segment?.end ?? .max
        guard offset <= end else {
            throw ResumableUploadError.invalidOffset("of \(offset) is beyond the end of the upload (\(end))")
        }
        if let segment, offset > segment.end {
            throw ResumableUploadError.invalidOffset("of \(offset) is beyond the bytes that were sent (\(segment.end))")
        }
        run.offset = offset
        didProgress(offset)
        let hasAdvanced = offset > run.highest
        if hasAdvanced {
            run.highest = offset
            run.retries.didProgress()
        }
        // The length of a sequence must be sent to the server even if no bytes remain.
        let isWhole = offset == source.length && (source is FileSource || segment?.isLast == true)
        if state.isComplete ?? isWhole { return state.reply }
        if let segment, !hasAdvanced, segment.count > 0 {
            throw Interruption.transient(OffsetNotAdvanced(offset: offset), retryAfter: nil)
        }
        if let segment, segment.isLast, offset == segment.end {
            // The server has all bytes but doesn't complete the upload.
            throw Interruption.transient(OffsetNotAdvanced(offset: offset), retryAfter: nil)
        }
        return nil
    }
}

/// The limits and delays of attempts, counted separately for each part.
struct UploadRetries: Sendable {
    let options: ResumableUploadOptions
    let session: Session

    func makeCount() -> Count { Count(retries: self) }

    struct Count {
        fileprivate let retries: UploadRetries
        private var attempts = 0
        private var interruptions = 0

        fileprivate init(retries: UploadRetries) { self.retries = retries }

        mutating func didProgress() { attempts = 0 }

        /// Waits before the next attempt.
        ///
        /// - Throws: A ``ResumableUploadError`` if a limit has been reached, or `CancellationError`.
        mutating func wait(after error: any Error, retryAfter: Duration?) async throws {
            let options = retries.options
            attempts += 1
            interruptions += 1
            guard attempts < max(1, options.maximumAttemptsWithoutProgress) else {
                throw ResumableUploadError.noProgress(attempts: attempts, lastError: error)
            }
            guard interruptions <= max(0, options.maximumInterruptions) else {
                throw ResumableUploadError.tooManyInterruptions(count: interruptions, lastError: error)
            }
            let maximum = max(options.maximumDelay, .zero)
            var delay = max(options.firstDelay, .zero)
            for _ in 1..<attempts where delay < maximum { delay *= 2 }
            // A random factor prevents all clients from returning at the same time after a server restarts.
            delay = min(delay, maximum) * Double.random(in: 0.75...1)
            delay = max(delay, min(retryAfter ?? .zero, maximum))
            try await retries.session.configuration.timeSource.sleep(for: delay)
        }
    }
}
