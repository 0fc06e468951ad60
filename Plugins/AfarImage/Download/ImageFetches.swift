import AfarCore

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

    /// Ends the loading of a fetch. Nothing happens to one that is none any more.
    mutating func endLoading(_ key: ImageFetch.Key, _ id: UInt64) {
        guard let fetch = fetches[key], fetch.id == id else { return }
        if case .loading = fetch.stage {
            fetches[key]?.stage = .delivering(isActive: true)
        } else {
            vacate(key, fetch.stage)
            fetches[key]?.stage = .delivering(isActive: false)
        }
    }

    /// Takes all who wait for a fetch that was loaded. When there is nobody, it is over.
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
