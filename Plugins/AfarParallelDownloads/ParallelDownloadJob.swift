import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Runs a parallel download: workers that each request one part after another.
final class ParallelDownloadJob: Sendable {
    private struct State {
        var plan: DownloadPlan
        var version: FileVersion?
        /// The rest of parts that failed.
        var unfinished: [Range<Int64>] = []
        /// Where the original URL was redirected.
        var mirror: Mirror?
    }

    private let download: ParallelDownload
    private let destination: URL
    private let workers: Int
    private let queue = DispatchQueue(label: "afar.parallel")
    private let state: Locked<State>

    init(download: ParallelDownload, workers: Int, destination: URL) {
        self.download = download
        self.workers = workers
        self.destination = destination
        state = Locked(State(plan: DownloadPlan(workers: workers)))
    }

    func run() async throws -> URL {
        try Task.checkCancellation()
        let earlier = try download.earlier()
        let file = try earlier.map { try PartialFile($0, for: destination) } ?? PartialFile(nextTo: destination)
        do {
            try await complete(file, after: earlier)
        } catch {
            if let partial = partialDownload(in: file, after: error) {
                file.keep()
                download.didKeep(partial)
            } else {
                file.discard()
            }
            throw error
        }
        return destination
    }

    /// Returns what another download requires to continue, or nil if the bytes can't be used.
    private func partialDownload(in file: PartialFile, after error: any Error) -> PartialDownload? {
        guard download.keepsPartialFile else { return nil }
        if let error = error.ownError {
            guard case .cannotWrite = error as? ParallelDownloadError else { return nil }
        }
        let (version, missing) = state.withLock { ($0.version, $0.plan.free + $0.unfinished) }
        return version.flatMap { PartialDownload(missing.filter { !$0.isEmpty }, of: $0, in: file) }
    }

    private func complete(_ file: PartialFile, after earlier: PartialDownload?) async throws {
        let length: Int64
        if let earlier {
            try await downloadRest(of: earlier, to: file)
            length = earlier.length
        } else {
            length = try await download(to: file)
        }
        try file.truncate(to: length)
        try await download.checks.verify(file.url, head: download.head)
        try Task.checkCancellation()
        try file.move(to: destination)
    }

    /// Downloads all parts. Returns the length of the file.
    private func download(to file: PartialFile) async throws -> Int64 {
        let (opened, opening) = AsyncStream.makeStream(of: Void.self)
        let first = Part(file: file, download: download) { [self] head, version in
            try open(head, version, file)
            opening.finish()
        }
        state.withLock { $0.plan.begin() }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                defer { opening.finish() }
                try await fetchFirst(first)
                try await work(on: file)
            }
            for await _ in opened {}
            // If the server doesn't support parts, the workers find nothing to do.
            for _ in 1..<max(2, workers) where workers > 1 {
                state.withLock { $0.plan.begin() }
                group.addTask { [self] in try await work(on: file) }
            }
            while try await group.next() != nil {}
            return state.withLock { $0.version }?.length ?? first.end ?? 0
        }
    }

    /// Downloads the parts that an earlier download didn't complete.
    private func downloadRest(of earlier: PartialDownload, to file: PartialFile) async throws {
        let missing = earlier.ranges
        state.withLock { state in
            state.version = earlier.version
            for range in missing.reversed() { state.plan.add(range) }
            for _ in 0..<workers { state.plan.begin() }
        }
        let completed = missing.reduce(earlier.length) { $0 - Int64($1.count) }
        download.updateProgress { ($0, $1) = (completed, earlier.length) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<workers { group.addTask { [self] in try await work(on: file) } }
            while try await group.next() != nil {}
        }
    }

    /// Called with the head of the first successful response, and again if the first request is repeated.
    private func open(_ head: ResponseHead, _ version: FileVersion?, _ file: PartialFile) throws {
        download.didReceive(head)
        let isNew = state.withLock { state in
            guard let version, state.version != version else {
                if version == nil { state.version = nil }
                return false
            }
            state.version = version
            state.plan.add(DownloadPlan.minimumLength..<max(DownloadPlan.minimumLength, version.length))
            return true
        }
        guard isNew, let version else { return }
        try file.truncate(to: version.length)
        download.updateProgress { ($0, $1) = (0, version.length) }
    }

    private func fetchFirst(_ part: Part) async throws {
        do {
            try await fetch(part)
        } catch  where error.ownError is Part.NoParts {
            part.requestWhole()
            try await fetch(part)
        } catch {
            keepRest(of: part)
            throw error
        }
    }

    private func keepRest(of part: Part) {
        guard let rest = part.rest else { return }
        state.withLock { $0.unfinished.append(rest) }
    }

    /// Requests parts until none is left.
    private func work(on file: PartialFile) async throws {
        while let (range, version) = next() {
            let part = Part(range, of: version, file: file, download: download)
            do {
                try await fetch(part)
            } catch {
                guard leave(part, after: error) else {
                    keepRest(of: part)
                    throw error
                }
                return
            }
        }
    }

    private func next() -> (Range<Int64>, FileVersion)? {
        state.withLock { state in
            guard let range = state.plan.next(), let version = state.version else { return nil }
            return (range, version)
        }
    }

    /// Leaves the rest of a part to the other workers, for example if the server limits the number of connections.
    private func leave(_ part: Part, after error: any Error) -> Bool {
        guard error.ownError == nil, !Task.isCancelled, let rest = part.rest else { return false }
        return state.withLock { $0.plan.giveBack(rest) }
    }

    private func fetch(_ part: Part) async throws {
        repeat { try await request(part) } while try !part.isComplete()
    }

    // MARK: Requests

    /// Sends a request for the rest of a part to the mirror that sent the first part. If the request fails, the original URL is requested.
    /// It can redirect to another URL of that mirror, for example one with a new signature.
    private func request(_ part: Part) async throws {
        let mirror = state.withLock { $0.mirror }
        do {
            try await request(part, from: mirror)
        } catch {
            guard let mirror, error.ownError == nil, !Task.isCancelled else { throw error }
            state.withLock { if $0.mirror == mirror { $0.mirror = nil } }
            part.forgetFailures()
            do {
                try await request(part, from: nil)
            } catch let other where other.ownError as? ParallelDownloadError == .changedOnServer {
                // The other mirror has another file or other validators, so the failure of the first mirror is reported.
                throw error
            }
        }
    }

    private func request(_ part: Part, from mirror: Mirror?) async throws {
        try Task.checkCancellation()
        let session = download.session
        var interceptors: [any RequestInterceptor] = [download.interceptor, PartRetrier(part: part)].compactMap { $0 }
        let filter = mirror?.isOtherOrigin == true ? CredentialFilter(session.configuration.sensitiveHeaders) : nil
        if let mirror { interceptors.append(mirror) }
        if let filter { interceptors.append(filter) }
        let request = session.streamRequest(
            PartRequest(
                convertible: download.convertible, part: part, requestsDigest: download.checks.isRequired != nil),
            automaticallyCancelOnStreamError: true, interceptor: Interceptor(interceptors: interceptors),
            shouldAutomaticallyResume: false)
        download.prepare(request)
        if let mirror { request.adapt(using: mirror) }
        filter?.apply(to: request)
        request.validate(readingBodyUpTo: 0) { [state, download] urlRequest, head in
            // The other workers start when the first response has been accepted.
            if mirror == nil, [200, 206].contains(head.status),
                let target = Mirror(of: urlRequest?.url, answeredBy: head)
            {
                state.withLock { $0.mirror = target }
            }
            try part.accept(head)
            if download.head == nil { download.didReceive(head) }
            return nil
        }
        let completion = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                request.responseStream(using: PartWriter(part: part), on: queue) { stream in
                    if let completion = stream.completion { continuation.resume(returning: completion) }
                }
                download.start(request)
            }
        } onCancel: {
            request.cancel()
        }
        download.finish(request)
        if let error = part.error { throw error }
        // A response can fail after its last byte, for example if the end of its chunks or of its TLS connection is missing.
        if let error = completion.error, !part.hasWholeResponse { throw error }
    }
}
