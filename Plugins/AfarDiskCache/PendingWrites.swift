import AfarStages

/// Changes that haven't been written yet or couldn't be written.
struct PendingWrites {
    /// The changes to the responses of a URL.
    struct Change {
        /// The stored responses, newest first.
        fileprivate(set) var responses: [CachedResponse] = []
        /// Whether the URL's responses in the database are obsolete, so that only ``responses`` is valid.
        fileprivate(set) var hidesOthers = false
        /// Whether the database still contains obsolete responses because a write failed.
        fileprivate(set) var hasFailed = false
        fileprivate var writeCount = 0
        fileprivate var byteCount: Int { responses.reduce(0) { $0 + $1.byteCount } }
    }

    /// The maximum number of URLs with failed writes. If it is exceeded, all responses in the database are considered obsolete.
    private static let failureLimit = 1000

    /// Whether the database is damaged. If so, it's no longer read or written.
    private(set) var isDamaged = false
    /// Whether all responses in the database are obsolete.
    private var hidesAll = false
    private var changes: [String: Change] = [:]
    /// The URLs whose last write failed.
    private var failedURLs: Set<String> = []
    /// The number of outstanding removals of all responses.
    private var clearCount = 0
    private var urlsWithPendingUse: Set<String> = []
    /// The number of bytes that haven't been written yet.
    private(set) var byteCount = 0

    subscript(url: String) -> Change? {
        changes[url] ?? (clearCount > 0 || hidesAll || isDamaged ? Change(hidesOthers: true) : nil)
    }

    mutating func store(_ response: CachedResponse) {
        change(response.url) { $0.responses = [response] + $0.responses.filter { $0.variant != response.variant } }
    }

    mutating func remove(_ url: String) {
        change(url) { change in (change.responses, change.hidesOthers) = ([], true) }
    }

    private mutating func change(_ url: String, _ change: (inout Change) -> Void) {
        var new = self[url] ?? Change()
        byteCount -= new.byteCount
        change(&new)
        new.writeCount += 1
        byteCount += new.byteCount
        changes[url] = new
    }

    /// Records the end of a write for a URL. After a failed write, the obsolete responses in the database stay hidden until a later
    /// write for the URL removes them.
    mutating func end(_ url: String, isDone: Bool) {
        guard var change = changes[url] else { return }
        change.writeCount -= 1
        change.hasFailed = !isDone
        if isDone {
            failedURLs.remove(url)
        } else {
            change.hidesOthers = true
            failedURLs.insert(url)
        }
        if change.writeCount > 0 {
            changes[url] = change
        } else {
            byteCount -= change.byteCount
            changes[url] = isDone ? nil : Change(hidesOthers: true, hasFailed: true)
        }
        guard failedURLs.count > Self.failureLimit else { return }
        hidesAll = true
        forgetFailures()
    }

    private mutating func forgetFailures() {
        for url in failedURLs where changes[url]?.writeCount == 0 { changes[url] = nil }
        failedURLs = []
    }

    mutating func markDamaged() {
        isDamaged = true
        (changes, failedURLs, urlsWithPendingUse, byteCount) = ([:], [], [], 0)
    }

    /// Records the start of the removal of all responses.
    mutating func removeAll() {
        byteCount = 0
        for url in changes.keys { changes[url]?.responses = [] }
        for url in changes.keys { changes[url]?.hidesOthers = true }
        clearCount += 1
    }

    /// Records the end of the removal of all responses.
    mutating func endRemovingAll(isDone: Bool) {
        clearCount -= 1
        hidesAll = !isDone
        if isDone { forgetFailures() }
    }

    /// Returns whether the date of a URL's last use must be updated, and marks this update as scheduled.
    mutating func scheduleUseUpdate(of url: String) -> Bool { urlsWithPendingUse.insert(url).inserted }

    mutating func finishUseUpdate(of url: String) { urlsWithPendingUse.remove(url) }
}
