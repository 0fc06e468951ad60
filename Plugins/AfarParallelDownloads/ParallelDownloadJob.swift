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
        var head: ResponseHead?
        var digests: [FileDigest] = []
        /// Whether to verify the digest that the server sends, and whether it is required. Nil if it isn't verified.
        var isDigestRequired: Bool?
    }

    private let convertible: any URLRequestConvertible
    private let session: Session
    private let interceptor: (any RequestInterceptor)?
    private let prepare: @Sendable (DataStreamRequest) -> Void
    private let destination: URL
    private let workers: Int
    private let queue = DispatchQueue(label: "afar.parallel")
    private let state: Guarded<State>
    let progress = DownloadProgress()

    init(
        convertible: any URLRequestConvertible, workers: Int, session: Session,
        interceptor: (any RequestInterceptor)?, prepare: @escaping @Sendable (DataStreamRequest) -> Void,
        destination: URL
    ) {
        self.convertible = convertible
        self.session = session
        self.interceptor = interceptor
        self.prepare = prepare
        self.destination = destination
        // A request that waits for a connection could time out.
        self.workers = max(1, min(workers, session.configuration.httpMaximumConnectionsPerHost))
        state = Guarded(State(plan: DownloadPlan(workers: self.workers)))
    }

    var head: ResponseHead? { state.withLock { $0.head } }

    func add(_ digest: FileDigest) { state.withLock { $0.digests.append(digest) } }

    func requestDigest(isRequired: Bool) {
        state.withLock { $0.isDigestRequired = isRequired || $0.isDigestRequired == true }
    }

    // MARK: Running

    func run() async throws -> URL {
        do {
            let file = try PartialFile(nextTo: destination)
            do {
                try await complete(file)
            } catch {
                file.discard()
                throw error
            }
            return destination
        } catch {
            if Task.isCancelled { throw AFError.explicitlyCancelled }
            throw error.ownError ?? error
        }
    }

    private func complete(_ file: PartialFile) async throws {
        let length = try await download(to: file)
        try file.truncate(to: length)
        await progress.finish()
        try await verify(file)
        try Task.checkCancellation()
        try file.move(to: destination)
    }

    /// Downloads all parts. Returns the length of the file.
    private func download(to file: PartialFile) async throws -> Int64 {
        let (opened, opening) = AsyncStream.makeStream(of: Void.self)
        let first = Part(file: file, progress: progress) { [self] head, version in
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
            // Without parts, the workers find nothing to do.
            for _ in 1..<max(2, workers) where workers > 1 {
                state.withLock { $0.plan.begin() }
                group.addTask { [self] in try await work(on: file) }
            }
            while try await group.next() != nil {}
            return state.withLock { $0.version }?.length ?? first.end ?? 0
        }
    }

    /// Called with the head of the first successful response, and again if the first request is repeated.
    private func open(_ head: ResponseHead, _ version: FileVersion?, _ file: PartialFile) throws {
        let isNew = state.withLock { state in
            state.head = head
            guard let version, state.version != version else {
                if version == nil { state.version = nil }
                return false
            }
            state.version = version
            state.plan.add(DownloadPlan.minimumLength..<max(DownloadPlan.minimumLength, version.length))
            return true
        }
        guard isNew, let version else { return }
        try file.reserve(version.length)
        progress.begin(total: version.length)
    }

    private func fetchFirst(_ part: Part) async throws {
        do {
            try await fetch(part)
        } catch  where error.ownError is Part.NoParts {
            part.requestWhole()
            try await fetch(part)
        }
    }

    /// Requests parts until none is left.
    private func work(on file: PartialFile) async throws {
        while let (range, version) = next() {
            let part = Part(range, of: version, file: file, progress: progress)
            do {
                try await fetch(part)
            } catch {
                guard leave(part, after: error) else { throw error }
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

    /// Requests a part until it is complete.
    private func fetch(_ part: Part) async throws {
        repeat { try await request(part) } while try !part.isComplete()
    }

    private func request(_ part: Part) async throws {
        try Task.checkCancellation()
        let requestsDigest = state.withLock { $0.isDigestRequired != nil }
        let interceptors = [interceptor, PartRetrier(part: part)].compactMap { $0 }
        let request = session.streamRequest(
            PartRequest(convertible: convertible, part: part, requestsDigest: requestsDigest),
            automaticallyCancelOnStreamError: true, interceptor: Interceptor(interceptors: interceptors),
            shouldAutomaticallyResume: true)
        prepare(request)
        request.validate(readingBodyUpTo: 0) { _, head in
            try part.accept(head)
            return nil
        }
        let completion = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                request.responseStream(using: PartWriter(part: part), on: queue) { stream in
                    if let completion = stream.completion { continuation.resume(returning: completion) }
                }
            }
        } onCancel: {
            request.cancel()
        }
        if let error = part.error ?? completion.error { throw error }
    }

    // MARK: Digests

    private func verify(_ file: PartialFile) async throws {
        let (expected, isRequired, head) = state.withLock { ($0.digests, $0.isDigestRequired, $0.head) }
        var digests = expected
        if let isRequired, let head {
            do {
                digests += try FileDigest.digests(in: head)
            } catch DigestError.missing where !isRequired {}
        }
        guard !digests.isEmpty else { return }
        let isCancelled = Guarded(false)
        try await withTaskCancellationHandler {
            for digest in digests { try digest.verify(file.url, shouldStop: { isCancelled.withLock { $0 } }) }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }
}
