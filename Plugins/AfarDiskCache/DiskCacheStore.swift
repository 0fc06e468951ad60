public import AfarTransport
public import Foundation
import GRDB

#if !DiskCache
    #error("AfarDiskCache needs the package trait DiskCache: .package(url: …, traits: [\"DiskCache\"])")
#endif

/// Keeps responses in a folder, up to a number of bytes: heads and small bodies in an SQLite database, large bodies as files
/// beside it. Those that were not used for longest go first. Several processes may use one folder.
///
/// What is stored is written soon, on a queue of the store's, and is found at once. What fails there is reported and
/// otherwise passed over: a cache that cannot write is one that forgets.
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
    private let pending = Locked(PendingWrites())

    /// Opens a folder, and makes it where there is none; only its owner may look into it. A database that is damaged, or is of
    /// another kind, is replaced by an empty one.
    ///
    /// - Parameters:
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
        database = try CacheDatabase.open(directory.appending(path: "responses.sqlite"))
        write { [database, bodies] in bodies.removeOrphans(except: try database.files()) }
    }

    /// Waits until all that was stored, and removed, is written. To be called before the process ends: what is not written
    /// then is lost.
    public func flush() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }

    // MARK: Reading

    /// The responses to a URL, the newest first.
    public func responses(for url: String) -> [CachedResponse] {
        let known = pending.withLock { $0[url] }
        if let known, known.hidesOthers { return known.responses }
        do {
            let (rows, mustNote) = try database.rows(for: url)
            if mustNote { write { [database] in try database.noteUse(of: url) } }
            let variants = Set(known?.responses.map(\.variant) ?? [])
            return (known?.responses ?? []) + rows.filter { !variants.contains($0.variant) }.compactMap(response)
        } catch {
            onError(error)
            return known?.responses ?? []
        }
    }

    /// Nil when the body is gone: somebody else has removed the response meanwhile.
    private func response(_ row: ResponseRow) -> CachedResponse? {
        guard let body = row.body ?? row.file.flatMap({ bodies.read($0, byteCount: row.bodyByteCount) }) else {
            return nil
        }
        return CachedResponse(
            url: row.url, variant: row.variant, status: row.status, fields: FieldLines.fields(row.fields), body: body,
            requestDate: row.requestDate, responseDate: row.responseDate)
    }

    /// What is kept, the most recently used first.
    public func entries() throws -> [Entry] { try database.entries() }

    // MARK: Writing

    /// Keeps a response in the place of the one of its variant.
    public func store(_ response: CachedResponse) {
        guard response.byteCount <= capacity / 8 else { return removeVariant(of: response) }
        write(about: response.url, noting: { $0.store(response) }) { [self] in
            let file = response.body.count > BodyFiles.smallestSize ? try bodies.write(response.body) : nil
            do {
                bodies.remove(try database.store(ResponseRow(response, file: file), capacity: capacity))
            } catch {
                if let file { bodies.remove([file]) }
                throw error
            }
        }
    }

    /// Forgets the responses to a URL.
    public func removeResponses(for url: String) {
        write(about: url, noting: { $0.remove(url) }) { [self] in bodies.remove(try database.remove(url)) }
    }

    /// Forgets all responses.
    public func removeAll() {
        let urls = Set((try? database.entries().map(\.url)) ?? []).union(pending.withLock { $0.urls })
        for url in urls { removeResponses(for: url) }
    }

    /// An older response does not outlive a newer one that is too large.
    private func removeVariant(of response: CachedResponse) {
        if responses(for: response.url).contains(where: { $0.variant == response.variant }) {
            removeResponses(for: response.url)
        }
    }

    /// Writes later, in the order in which it is noted.
    private func write(
        about url: String? = nil, noting change: (inout PendingWrites) -> Void = { _ in },
        _ work: @escaping @Sendable () throws -> Void
    ) {
        pending.withLock { state in
            change(&state)
            queue.async { [onError, pending] in
                do { try work() } catch { onError(error) }
                if let url { pending.withLock { $0.end(url) } }
            }
        }
    }
}
