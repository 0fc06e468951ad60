public import AfarStages
public import Foundation
import GRDB

#if !DiskCache
    #error("AfarDiskCache requires the package trait DiskCache: .package(url: …, traits: [.defaults, \"DiskCache\"])")
#endif

/// A cache store that keeps responses in a folder. Response heads and small bodies are in an SQLite database, and large bodies are
/// in files next to it. If the capacity is exceeded, the least recently used responses are removed. Several processes can share a
/// folder.
///
/// A stored response is available immediately and written shortly afterward on the store's queue. Write errors are passed to
/// the initializer's `onError` closure. They don't affect requests, but responses that can't be written are lost. If the
/// database is damaged, the store stops storing and returning responses, and the next store that opens the folder replaces the
/// database. The next store also replaces the database if a response couldn't be removed, for example because the disk was
/// full.
public final class DiskCacheStore: CacheStore {
    /// The default capacity, 256 MiB.
    public static let defaultCapacity = 256 * 1024 * 1024

    /// The folder of the cache.
    public let directory: URL
    /// The maximum total size of the responses in bytes.
    public let capacity: Int
    private let database: CacheDatabase
    private let bodies: BodyFiles
    private let onError: @Sendable (any Error) -> Void
    private let queue = DispatchQueue(label: "afar.cache.disk")
    private let lock = NSLock()
    // Safe because it's only used under the lock.
    private nonisolated(unsafe) var pending = PendingWrites()

    /// The maximum number of bytes that wait for writing.
    private static let longestQueue = 64 * 1024 * 1024

    /// Creates a store for a folder. If the folder doesn't exist, it's created with access for its owner only. If the database is
    /// damaged or has another format, an empty database replaces it.
    ///
    /// - Parameters:
    ///   - directory: The folder.
    ///   - capacity: The maximum total size of the responses in bytes. A response larger than an eighth of it isn't stored.
    ///   - onError: A closure that receives read and write errors, on any thread. The default does nothing.
    /// - Throws: An error of the system or SQLite if the folder can't be used.
    public init(
        directory: URL, capacity: Int = DiskCacheStore.defaultCapacity,
        onError: @escaping @Sendable (any Error) -> Void = { _ in }
    ) throws {
        self.directory = directory
        self.capacity = max(0, capacity)
        self.onError = onError
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        bodies = try BodyFiles(folder: directory.appending(path: "bodies"))
        database = try CacheDatabase.open(
            directory.appending(path: "responses.sqlite"), removingBodies: bodies.removeAll)
        write { [bodies, database] in bodies.removeOrphans(except: try database.files()) }
    }

    /// Waits until all changes are written. Call this method before the process ends. Otherwise, unwritten changes are lost.
    public func flush() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    private func withPending<Value>(_ body: (inout PendingWrites) -> Value) -> Value {
        lock.withLock { body(&pending) }
    }

    // MARK: Reading

    /// Returns the responses for a URL, newest first.
    public func responses(for url: String) -> [CachedResponse] {
        let known = withPending { $0[url] }
        if let known, known.hidesOthers { return known.responses }
        do {
            let (rows, mustUpdateUse) = try database.rows(for: url)
            if mustUpdateUse { scheduleUseUpdate(of: url) }
            let variants = Set(known?.responses.map(\.variant) ?? [])
            return try (known?.responses ?? []) + rows.filter { !variants.contains($0.variant) }.compactMap(response)
        } catch {
            report(error)
            return known?.responses ?? []
        }
    }

    /// Returns a response, or nil if its body is missing or damaged. Another process may have removed it.
    private func response(_ row: ResponseRow) throws -> CachedResponse? {
        guard let body = try body(of: row) else {
            if let file = row.file { write { [bodies, database] in bodies.remove(try database.removeRow(of: file)) } }
            return nil
        }
        return CachedResponse(
            url: row.url, variant: row.variant, status: row.status, fields: try FieldLines.fields(row.fields),
            body: body,
            requestDate: row.requestDate, responseDate: row.responseDate)
    }

    private func body(of row: ResponseRow) throws -> Data? {
        if let body = row.body { return BodyFiles.checksum(of: body) == row.checksum ? body : nil }
        return try row.file.flatMap { try bodies.read($0, byteCount: row.bodyByteCount, checksum: row.checksum) }
    }

    private func scheduleUseUpdate(of url: String) {
        guard withPending({ $0.scheduleUseUpdate(of: url) }) else { return }
        write { [self] in
            defer { withPending { $0.finishUseUpdate(of: url) } }
            try database.updateLastUse(of: url)
        }
    }

    /// Returns the entries of the cache, most recently used first.
    public func entries() throws -> [Entry] { try database.entries() }

    // MARK: Writing

    /// Stores a response. Replaces the response with the same URL and variant.
    public func store(_ response: CachedResponse) {
        // If the new response can't be stored, the older responses are removed, because they are outdated.
        guard response.byteCount <= capacity / 8, !response.isForMemoryOnly, response.fields.count <= FieldLines.limit,
            withPending({ $0.byteCount }) + response.byteCount <= Self.longestQueue
        else { return removeResponses(for: response.url) }
        write(about: response.url, noting: { $0.store(response) }) { [self] in try insert(response) }
    }

    /// Replaces a response with one that has the same body. The body isn't written again.
    public func update(_ response: CachedResponse, inPlaceOf old: CachedResponse) {
        write(about: response.url, noting: { $0.store(response) }) { [self] in
            if mustRemoveOthers(of: response.url) { return try insert(response) }
            if try !database.update(response, responseDate: old.responseDate) { try insert(response) }
        }
    }

    private func mustRemoveOthers(of url: String) -> Bool { withPending { $0[url]?.hasFailed } ?? false }

    private func insert(_ response: CachedResponse) throws {
        let replacesAll = mustRemoveOthers(of: response.url)
        let file = response.body.count > BodyFiles.smallestSize ? try bodies.write(response.body) : nil
        do {
            let row = ResponseRow(response, file: file)
            bodies.remove(try database.store(row, replacesAll: replacesAll, capacity: capacity))
        } catch {
            if let file { bodies.remove([file]) }
            throw error
        }
    }

    /// Removes the responses for a URL.
    public func removeResponses(for url: String) {
        write(about: url, noting: { $0.remove(url) }) { [bodies, database] in
            try database.remove(url, and: bodies.remove)
        }
    }

    /// Removes all responses.
    public func removeAll() {
        enqueue(noting: { $0.removeAll() }) { [bodies, database] in
            try database.removeAll(and: bodies.remove)
        } ended: { pending, isDone in
            pending.endRemovingAll(isDone: isDone)
        }
    }

    private func write(
        about url: String, noting change: (inout PendingWrites) -> Void,
        _ work: @escaping @Sendable () throws -> Void
    ) {
        enqueue(noting: change, work) { pending, isDone in pending.end(url, isDone: isDone) }
    }

    private func write(_ work: @escaping @Sendable () throws -> Void) {
        enqueue(noting: { _ in }, work) { _, _ in }
    }

    /// Records a change and schedules its write. Writes run in the order in which changes are recorded.
    private func enqueue(
        noting change: (inout PendingWrites) -> Void, _ work: @escaping @Sendable () throws -> Void,
        ended: @escaping @Sendable (inout PendingWrites, _ isDone: Bool) -> Void
    ) {
        withPending { state in
            guard !state.isDamaged else { return }
            change(&state)
            queue.async { [self] in
                guard withPending({ !$0.isDamaged }) else { return }
                var isDone = true
                do { try work() } catch {
                    isDone = false
                    report(error)
                }
                withPending { ended(&$0, isDone) }
            }
        }
    }

    private func report(_ error: any Error) {
        if database.noteDamage(error) { withPending { $0.markDamaged() } }
        onError(error)
    }
}

// MARK: - Entries

extension DiskCacheStore {
    /// A cached response without its contents.
    public struct Entry: Sendable, Hashable {
        /// The requested URL.
        public let url: String
        /// The variant, which distinguishes responses of the same URL. See `CachedResponse.variant`.
        public let variant: String
        /// The status code.
        public let status: Int
        /// The number of bytes in the body.
        public let bodyByteCount: Int
        /// The date at which the response arrived or was last validated.
        public let responseDate: Date
        /// The date of the last use, accurate to about a minute.
        public let lastUse: Date
    }
}
