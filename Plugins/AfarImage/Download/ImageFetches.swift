import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The fetches of a downloader: which one is next, and who waits for which. It does nothing itself.
struct ImageFetches: Sendable {
    private let prioritization: ImageDownloader.DownloadPrioritization
    private let maximumActive: Int
    private var fetches: [ImageFetch.Key: ImageFetch] = [:]
    /// What has not been sent, in the order in which it came.
    private var queue: [ImageFetch.Key] = []
    private var active = 0
    private var lastID: UInt64 = 0

    init(_ prioritization: ImageDownloader.DownloadPrioritization, maximumActive: Int) {
        self.prioritization = prioritization
        self.maximumActive = max(1, maximumActive)
    }

    /// A number that nothing else has.
    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Adds somebody to a fetch, if there is one.
    ///
    /// - Returns: Its request.
    mutating func join(_ key: ImageFetch.Key, _ waiter: ImageFetch.Waiter) -> DataRequest? {
        fetches[key]?.waiters.append(waiter)
        return fetches[key]?.request
    }

    /// Adds a fetch, which has to be prepared before it is queued.
    ///
    /// - Returns: Its number.
    mutating func add(_ key: ImageFetch.Key, _ request: DataRequest, _ waiter: ImageFetch.Waiter) -> UInt64 {
        let id = makeID()
        fetches[key] = ImageFetch(id: id, request: request, waiters: [waiter])
        return id
    }

    /// Queues a fetch, unless nobody waits for it any more.
    ///
    /// - Returns: The requests that are to be sent now.
    mutating func enqueue(_ key: ImageFetch.Key, _ id: UInt64) -> [DataRequest] {
        guard let fetch = fetches[key], fetch.id == id, case .preparing = fetch.stage else { return [] }
        fetches[key]?.stage = .queued
        queue.append(key)
        return next()
    }

    /// Ends the loading of a fetch.
    ///
    /// - Returns: Whether the fetch still exists. It has ended if all its waiters have left.
    mutating func endLoading(_ key: ImageFetch.Key, _ id: UInt64) -> Bool {
        guard let fetch = fetches[key], fetch.id == id else { return false }
        if case .loading = fetch.stage {
            fetches[key]?.stage = .delivering(isActive: true)
        } else {
            vacate(key, fetch.stage)
            fetches[key]?.stage = .delivering(isActive: false)
        }
        return true
    }

    /// Takes all who wait for a fetch that was loaded.
    mutating func takeWaiters(_ key: ImageFetch.Key, _ id: UInt64) -> [ImageFetch.Waiter] {
        guard let fetch = fetches[key], fetch.id == id, !fetch.waiters.isEmpty else { return [] }
        fetches[key]?.waiters = []
        return fetch.waiters
    }

    /// Ends a fetch for which nobody waits, or that has failed for all who do.
    ///
    /// - Returns: The fetch, which is to be released elsewhere than under a lock, and the requests that are to be sent now.
    mutating func end(_ key: ImageFetch.Key, _ id: UInt64) -> (fetch: ImageFetch?, next: [DataRequest]) {
        guard let fetch = fetches[key], fetch.id == id else { return (nil, []) }
        fetches[key] = nil
        vacate(key, fetch.stage)
        return (fetch, next())
    }

    /// Those who wait for a fetch.
    func waiters(_ key: ImageFetch.Key, _ id: UInt64) -> [ImageFetch.Waiter] {
        fetches[key].flatMap { $0.id == id ? $0.waiters : nil } ?? []
    }

    /// What follows when somebody does not want to wait any more.
    struct Leaving {
        let waiter: ImageFetch.Waiter
        let request: DataRequest
        /// Whether nobody is left who waits for the request.
        let isLast: Bool
        /// The requests that are to be sent now.
        let next: [DataRequest]
    }

    /// Removes somebody from a fetch; nil when they wait no more.
    mutating func leave(_ key: ImageFetch.Key, _ waiter: UInt64) -> Leaving? {
        guard var fetch = fetches[key], let index = fetch.waiters.firstIndex(where: { $0.id == waiter }) else {
            return nil
        }
        let leaving = fetch.waiters.remove(at: index)
        let isLast = fetch.waiters.isEmpty && !fetch.isDelivering
        fetches[key] = isLast ? nil : fetch
        if isLast { vacate(key, fetch.stage) }
        return Leaving(waiter: leaving, request: fetch.request, isLast: isLast, next: isLast ? next() : [])
    }

    /// Gives up the place that a fetch has in the queue, or among those that are active.
    private mutating func vacate(_ key: ImageFetch.Key, _ stage: ImageFetch.Stage) {
        switch stage {
        case .preparing, .delivering(isActive: false): break
        case .queued: queue.removeAll { $0 == key }
        case .loading, .delivering(isActive: true): active -= 1
        }
    }

    private mutating func next() -> [DataRequest] {
        var requests: [DataRequest] = []
        while active < maximumActive, !queue.isEmpty {
            let key = prioritization == .fifo ? queue.removeFirst() : queue.removeLast()
            guard let fetch = fetches[key] else { continue }
            fetches[key]?.stage = .loading
            active += 1
            requests.append(fetch.request)
        }
        return requests
    }
}

// MARK: - A fetch

/// An image that is being fetched, and those who wait for it.
struct ImageFetch: Sendable {
    /// What tells fetches apart.
    struct Key: Hashable, Sendable {
        private let request: String
        private let cachePolicy: URLRequest.CachePolicy
        private let serializer: String
        private let credential: String?
        /// As long as this key is used, no other serializer has the address that its identity may be.
        private let keptSerializer: Kept

        init(_ request: URLRequest, _ serializer: ImageResponseSerializer, _ credential: URLCredential?) {
            self.request = request.imageIdentity
            cachePolicy = request.cachePolicy
            self.serializer = serializer.identity
            self.credential = credential?.imageIdentity
            keptSerializer = Kept(serializer: serializer)
        }

        /// Is equal to every other one.
        private struct Kept: Hashable, Sendable {
            let serializer: ImageResponseSerializer

            static func == (lhs: Self, rhs: Self) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
        }
    }

    /// A caller that waits for a fetch.
    struct Waiter: Sendable {
        let id: UInt64
        let filter: (any ImageFilter)?
        /// Keeps the image, as it is wanted.
        let keep: @Sendable (Image) -> Void
        /// Called with the progress, if it is wanted.
        let report: (@Sendable (Progress) -> Void)?
        /// Called once.
        let complete: @Sendable (AFIDataResponse<Image>) -> Void
    }

    /// How far it is.
    enum Stage: Sendable {
        case preparing, queued, loading
        /// The image has arrived, and is filtered and delivered. A fetch that was active stays active until then.
        case delivering(isActive: Bool)
    }

    let id: UInt64
    let request: DataRequest
    var stage = Stage.preparing
    var waiters: [Waiter]

    var isDelivering: Bool {
        if case .delivering = stage { true } else { false }
    }
}

// MARK: - Fetching

extension ImageDownloader {
    /// Adds a waiter to the fetch for a key, and creates the fetch if necessary.
    ///
    /// - Returns: The request of the fetch.
    func fetch(
        _ urlRequest: URLRequest, _ key: ImageFetch.Key, _ serializer: ImageResponseSerializer,
        _ credential: URLCredential?, _ waiter: ImageFetch.Waiter
    ) -> DataRequest {
        if let request = fetches.withLock({ $0.join(key, waiter) }) { return request }
        // Not under the lock, as a session may be anybody's subclass. Another thread may have been faster meanwhile.
        let request = session.request(urlRequest, shouldAutomaticallyResume: false)
        let (joined, id) = fetches.withLock { fetches -> (DataRequest?, UInt64) in
            if let joined = fetches.join(key, waiter) { return (joined, 0) }
            return (nil, fetches.add(key, request, waiter))
        }
        if let joined {
            request.cancel()
            return joined
        }
        if let credential { request.authenticate(with: credential) }
        request.validate()
        request.downloadProgress(queue: workQueue) { [self] progress in
            for waiter in fetches.withLock({ $0.waiters(key, id) }) { waiter.report?(progress) }
        }
        request.response(queue: workQueue, responseSerializer: serializer) { [self] in end(key, id, $0) }
        for request in fetches.withLock({ $0.enqueue(key, id) }) { request.resume() }
        return request
    }

    /// The request of a fetch has ended.
    private func end(_ key: ImageFetch.Key, _ id: UInt64, _ response: AFDataResponse<Image>) {
        guard fetches.withLock({ $0.endLoading(key, id) }) else { return }
        guard let image = response.value else {
            let failure = response.mapError { AFIError($0) }
            let (fetch, next) = fetches.withLock { $0.end(key, id) }
            for waiter in fetch?.waiters ?? [] { waiter.complete(failure) }
            for request in next { request.resume() }
            return
        }
        var filtered: [String: Image] = [:]
        // Others may come while filters run; who comes later finds the image in the cache.
        var isOver = false
        while !isOver {
            let waiters = fetches.withLock { $0.takeWaiters(key, id) }
            for waiter in waiters {
                let result = waiter.filter.map { filter in
                    let result = filtered[filter.identifier] ?? filter.filter(image)
                    filtered[filter.identifier] = result
                    return result
                }
                let wanted = result ?? image
                waiter.keep(wanted)
                waiter.complete(response.map { _ in wanted }.mapError { AFIError($0) })
            }
            guard waiters.isEmpty else { continue }
            let (fetch, next) = fetches.withLock { fetches in
                fetches.waiters(key, id).isEmpty ? fetches.end(key, id) : (nil, [])
            }
            for request in next { request.resume() }
            isOver = fetch != nil
        }
    }
}
