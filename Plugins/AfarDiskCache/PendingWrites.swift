import AfarStages

/// What was stored and removed, and is not written yet, or could not be.
struct PendingWrites {
    /// What is known about one URL.
    struct Change {
        /// The newest first.
        fileprivate(set) var responses: [CachedResponse] = []
        /// Whether what is in the database does not count.
        fileprivate(set) var hidesOthers = false
        /// Whether something that should be gone is still in the database, because a write failed.
        fileprivate(set) var hasFailed = false
        /// How many writes are to come.
        fileprivate var writeCount = 0
        fileprivate var byteCount: Int { responses.reduce(0) { $0 + $1.byteCount } }
    }

    /// For how many URLs writing may fail before nothing in the database counts.
    private static let failureLimit = 1000

    /// Whether the database is damaged: nothing is written to it or read from it any more.
    private(set) var isDamaged = false
    /// Whether nothing in the database counts.
    private var hidesAll = false
    private var changes: [String: Change] = [:]
    /// The URLs about which the last write failed.
    private var failedURLs: Set<String> = []
    /// How many removals of everything are to come.
    private var clearCount = 0
    private var notedURLs: Set<String> = []
    /// How many bytes wait to be written.
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

    /// A write about a URL is over. What could not be written must not bring back what was there before: that does not count
    /// until a later write about the URL has removed it.
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

    /// The database is damaged.
    mutating func endForGood() {
        isDamaged = true
        (changes, failedURLs, notedURLs, byteCount) = ([:], [], [], 0)
    }

    /// Everything is to be removed.
    mutating func removeAll() {
        byteCount = 0
        for url in changes.keys { changes[url]?.responses = [] }
        for url in changes.keys { changes[url]?.hidesOthers = true }
        clearCount += 1
    }

    /// The removal of everything is over.
    mutating func endRemovingAll(isDone: Bool) {
        clearCount -= 1
        hidesAll = !isDone
        if isDone { forgetFailures() }
    }

    /// Whether it is still to be noted that the responses to a URL were used.
    mutating func mustNote(_ url: String) -> Bool { notedURLs.insert(url).inserted }

    mutating func hasNoted(_ url: String) { notedURLs.remove(url) }
}
