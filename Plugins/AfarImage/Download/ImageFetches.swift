import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The state of a downloader's fetches: their queue and their waiters. It performs no I/O.
struct ImageFetches: Sendable {
    private let prioritization: ImageDownloader.DownloadPrioritization
    private let maximumActive: Int
    private var fetches: [ImageFetch.Key: ImageFetch] = [:]
    /// The fetches that haven't been sent, in the order of their arrival.
    private var queue: [ImageFetch.Key] = []
    private var active = 0
    private var lastID: UInt64 = 0

    init(_ prioritization: ImageDownloader.DownloadPrioritization, maximumActive: Int) {
        self.prioritization = prioritization
        self.maximumActive = max(1, maximumActive)
    }

    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Adds a waiter to the fetch for a key, if the fetch exists.
    ///
    /// - Returns: The request of the fetch.
    mutating func join(_ key: ImageFetch.Key, _ waiter: ImageFetch.Waiter) -> DataRequest? {
        fetches[key]?.waiters.append(waiter)
        return fetches[key]?.request
    }

    /// Adds a fetch, which must be prepared before it's queued.
    ///
    /// - Returns: The number of the fetch.
    mutating func add(_ key: ImageFetch.Key, _ request: DataRequest, _ waiter: ImageFetch.Waiter) -> UInt64 {
        let id = makeID()
        fetches[key] = ImageFetch(id: id, request: request, waiters: [waiter])
        return id
    }

    /// Queues a fetch, unless all its waiters have left.
    ///
    /// - Returns: The requests to send now.
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
            releaseSlot(key, fetch.stage)
            fetches[key]?.stage = .delivering(isActive: false)
        }
        return true
    }

    /// Removes and returns the waiters of a loaded fetch.
    mutating func takeWaiters(_ key: ImageFetch.Key, _ id: UInt64) -> [ImageFetch.Waiter] {
        guard let fetch = fetches[key], fetch.id == id, !fetch.waiters.isEmpty else { return [] }
        fetches[key]?.waiters = []
        return fetch.waiters
    }

    /// Ends a fetch that has no more waiters, or that has failed.
    ///
    /// - Returns: The fetch, which the caller must release outside the lock, and the requests to send now.
    mutating func end(_ key: ImageFetch.Key, _ id: UInt64) -> (fetch: ImageFetch?, next: [DataRequest]) {
        guard let fetch = fetches[key], fetch.id == id else { return (nil, []) }
        fetches[key] = nil
        releaseSlot(key, fetch.stage)
        return (fetch, next())
    }

    func waiters(_ key: ImageFetch.Key, _ id: UInt64) -> [ImageFetch.Waiter] {
        fetches[key].flatMap { $0.id == id ? $0.waiters : nil } ?? []
    }

    struct RemovedWaiter {
        let waiter: ImageFetch.Waiter
        let request: DataRequest
        /// Whether the request has no more waiters and must be canceled.
        let isLast: Bool
        /// The requests to send now.
        let next: [DataRequest]
    }

    /// Removes a waiter from a fetch. Returns nil if the waiter no longer waits.
    mutating func removeWaiter(_ key: ImageFetch.Key, _ waiter: UInt64) -> RemovedWaiter? {
        guard var fetch = fetches[key], let index = fetch.waiters.firstIndex(where: { $0.id == waiter }) else {
            return nil
        }
        let removed = fetch.waiters.remove(at: index)
        let isLast = fetch.waiters.isEmpty && !fetch.isDelivering
        fetches[key] = isLast ? nil : fetch
        if isLast { releaseSlot(key, fetch.stage) }
        return RemovedWaiter(waiter: removed, request: fetch.request, isLast: isLast, next: isLast ? next() : [])
    }

    /// Removes a fetch from the queue or from the active fetches.
    private mutating func releaseSlot(_ key: ImageFetch.Key, _ stage: ImageFetch.Stage) {
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

/// A fetch of an image, with its waiters.
struct ImageFetch: Sendable {
    struct Key: Hashable, Sendable {
        private let request: String
        private let cachePolicy: URLRequest.CachePolicy
        private let serializer: String
        private let credential: String?
        /// Retains the serializer, because its address can be its identity. While the serializer exists, no other one can have
        /// the same address.
        private let retainedSerializer: AlwaysEqual

        init(_ request: URLRequest, _ serializer: ImageResponseSerializer, _ credential: URLCredential?) {
            self.request = request.imageIdentity
            cachePolicy = request.cachePolicy
            self.serializer = serializer.identity
            self.credential = credential?.imageIdentity
            retainedSerializer = AlwaysEqual(serializer: serializer)
        }

        /// A wrapper that is always equal.
        private struct AlwaysEqual: Hashable, Sendable {
            let serializer: ImageResponseSerializer

            static func == (lhs: Self, rhs: Self) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
        }
    }

    /// A caller that waits for a fetch.
    struct Waiter: Sendable {
        let id: UInt64
        let filter: (any ImageFilter)?
        /// Stores the filtered image in the cache.
        let store: @Sendable (Image) -> Void
        let onProgress: (@Sendable (Progress) -> Void)?
        /// Called once.
        let onCompletion: @Sendable (AFIDataResponse<Image>) -> Void
    }

    enum Stage: Sendable {
        case preparing, queued, loading
        /// The image has arrived and is being filtered and delivered. An active fetch stays active until the delivery ends.
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

extension ImageDownloader {
    /// Adds a waiter to the fetch for a key, and creates the fetch if necessary.
    ///
    /// - Returns: The request of the fetch.
    func fetch(
        _ urlRequest: URLRequest, _ key: ImageFetch.Key, _ serializer: ImageResponseSerializer,
        _ credential: URLCredential?, _ waiter: ImageFetch.Waiter
    ) -> DataRequest {
        if let request = fetches.withLock({ $0.join(key, waiter) }) { return request }
        // The request is created outside the lock, because a session can be a user's subclass. Another thread can add the fetch
        // first.
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
            for waiter in fetches.withLock({ $0.waiters(key, id) }) { waiter.onProgress?(progress) }
        }
        request.response(queue: workQueue, responseSerializer: serializer) { [self] in end(key, id, $0) }
        for request in fetches.withLock({ $0.enqueue(key, id) }) { request.resume() }
        return request
    }

    /// Ends a fetch and delivers its response.
    private func end(_ key: ImageFetch.Key, _ id: UInt64, _ response: AFDataResponse<Image>) {
        guard fetches.withLock({ $0.endLoading(key, id) }) else { return }
        guard let image = response.value else {
            let failure = response.mapError { AFIError($0) }
            let (fetch, next) = fetches.withLock { $0.end(key, id) }
            for waiter in fetch?.waiters ?? [] { waiter.onCompletion(failure) }
            for request in next { request.resume() }
            return
        }
        var filtered: [String: Image] = [:]
        // Waiters can join while filters run. Later downloads find the image in the cache.
        var isFinished = false
        while !isFinished {
            let waiters = fetches.withLock { $0.takeWaiters(key, id) }
            for waiter in waiters {
                let result = waiter.filter.map { filter in
                    let result = filtered[filter.identifier] ?? filter.filter(image)
                    filtered[filter.identifier] = result
                    return result
                }
                let wanted = result ?? image
                waiter.store(wanted)
                waiter.onCompletion(response.map { _ in wanted }.mapError { AFIError($0) })
            }
            guard waiters.isEmpty else { continue }
            let (fetch, next) = fetches.withLock { fetches in
                fetches.waiters(key, id).isEmpty ? fetches.end(key, id) : (nil, [])
            }
            for request in next { request.resume() }
            isFinished = fetch != nil
        }
    }
}
