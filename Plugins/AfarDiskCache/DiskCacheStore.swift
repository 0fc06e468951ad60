public import AfarStages
public import Foundation
import GRDB

#if !DiskCache
    #error("AfarDiskCache needs the package trait DiskCache: .package(url: …, traits: [\"DiskCache\"])")
#endif

/// Keeps responses in a folder, up to a number of bytes: heads and small bodies in an SQLite database, large bodies as files
/// beside it. Those that were not used for longest go first. Several processes may use one folder.
///
/// What is stored is written soon, on a queue of the store's, and is found at once. What fails there is reported and
/// otherwise passed over: a cache that cannot write is one that forgets. When the database turns out to be damaged, nothing more
/// is kept or found, and the next store that is opened in the folder replaces it. It also replaces a database from which a
/// response could not be removed, because the disk is full for example.
public final class DiskCacheStore: CacheStore {
    /// 256 MiB.
    public static let defaultCapacity = 256 * 1024 * 1024

    /// Where everything is.
    public let directory: URL
    /// The most bytes that the responses may take.
    public let capacity: Int
    private let database: CacheDatabase
    private let bodies: BodyFiles
    private let onError: @Sendable (any Error) -> Void
    private let queue = DispatchQueue(label: "afar.cache.disk")
    private let lock = NSLock()
    // Safe because it is used under the lock only.
    private nonisolated(unsafe) var pending = PendingWrites()

    /// The most bytes that may wait to be written.
    private static let longestQueue = 64 * 1024 * 1024

    /// Opens a folder, and makes it where there is none; only its owner may look into it. A database that is damaged, or is of
    /// another kind, is replaced by an empty one.
    ///
    /// - Parameters:
    ///   - directory: The folder.
    ///   - capacity: The most bytes that the responses may take. One that takes more than an eighth of it is not kept.
    ///   - onError: Told what could not be read or written; called on any thread. The default does nothing.
    /// - Throws: What the system or SQLite says when the folder cannot be used.
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

    /// Waits until all that was stored, and removed, is written. To be called before the process ends: what is not written
    /// then is lost.
    public func flush() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    private func withPending<Value>(_ body: (inout PendingWrites) -> Value) -> Value {
        lock.withLock { body(&pending) }
    }

    // MARK: Reading

    /// The responses to a URL, the newest first.
    public func responses(for url: String) -> [CachedResponse] {
        let known = withPending { $0[url] }
        if let known, known.hidesOthers { return known.responses }
        do {
            let (rows, mustNote) = try database.rows(for: url)
            if mustNote { noteUse(of: url) }
            let variants = Set(known?.responses.map(\.variant) ?? [])
            return try (known?.responses ?? []) + rows.filter { !variants.contains($0.variant) }.compactMap(response)
        } catch {
            report(error)
            return known?.responses ?? []
        }
    }

    /// Nil when the body is gone or damaged. Somebody else may have removed the response meanwhile.
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

    private func noteUse(of url: String) {
        guard withPending({ $0.mustNote(url) }) else { return }
        write { [self] in
            defer { withPending { $0.hasNoted(url) } }
            try database.noteUse(of: url)
        }
    }

    /// What is kept, the most recently used first.
    public func entries() throws -> [Entry] { try database.entries() }

    // MARK: Writing

    /// Keeps a response in the place of the one of its variant.
    public func store(_ response: CachedResponse) {
        // An older response does not outlive a newer one that is not kept.
        guard response.byteCount <= capacity / 8, !response.isForMemoryOnly, response.fields.count <= FieldLines.limit,
            withPending({ $0.byteCount }) + response.byteCount <= Self.longestQueue
        else { return removeResponses(for: response.url) }
        write(about: response.url, noting: { $0.store(response) }) { [self] in try insert(response) }
    }

    /// Keeps a response in the place of another that has the same body, which is not written again.
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

    /// Forgets the responses to a URL.
    public func removeResponses(for url: String) {
        write(about: url, noting: { $0.remove(url) }) { [bodies, database] in
            try database.remove(url, and: bodies.remove)
        }
    }

    /// Forgets all responses.
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

    /// Writes later, in the order in which it is noted.
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
        if database.noteDamage(error) { withPending { $0.endForGood() } }
        onError(error)
    }
}

// MARK: - Entries

extension DiskCacheStore {
    /// One response that is kept, without its contents.
    public struct Entry: Sendable, Hashable {
        /// The URL that was asked.
        public let url: String
        /// What tells it from others of the same URL; see `CachedResponse.variant`.
        public let variant: String
        /// The status code.
        public let status: Int
        /// How many bytes the body has.
        public let bodyByteCount: Int
        /// When the response came, or was last found to be valid.
        public let responseDate: Date
        /// When it was last used, to about a minute.
        public let lastUse: Date
    }
}
