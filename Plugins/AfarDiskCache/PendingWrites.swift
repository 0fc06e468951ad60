import AfarTransport

/// What was stored and removed, and is not written yet.
struct PendingWrites {
    /// What is known about one URL.
    struct Change {
        /// The newest first.
        var responses: [CachedResponse] = []
        /// Whether what is in the database does not count.
        var hidesOthers = false
        /// How many writes are to come.
        var writeCount = 0
    }

    private var changes: [String: Change] = [:]

    var urls: Set<String> { Set(changes.keys) }

    subscript(url: String) -> Change? { changes[url] }

    mutating func store(_ response: CachedResponse) {
        var change = changes[response.url] ?? Change()
        change.responses = [response] + change.responses.filter { $0.variant != response.variant }
        change.writeCount += 1
        changes[response.url] = change
    }

    mutating func remove(_ url: String) {
        changes[url] = Change(hidesOthers: true, writeCount: (changes[url]?.writeCount ?? 0) + 1)
    }

    /// A write is done, or has failed.
    mutating func end(_ url: String) {
        guard let change = changes[url] else { return }
        if change.writeCount <= 1 { changes[url] = nil } else { changes[url]?.writeCount -= 1 }
    }
}
