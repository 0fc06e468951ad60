import Foundation

/// The contents of a store in memory. They are written to a file shortly after each change.
///
/// The first change is written immediately, on a queue. Each later write starts at least 100 ms after the end of the previous
/// write, and includes all changes that were made in the meantime. A write applies only this store's changes to the file, so
/// the changes of other processes are kept. When the process exits, the remaining changes are written.
final class StoredContent<Content: StoreContent>: Sendable {
    private struct State {
        var content: Content
        var changes = StoreChanges<Content.Key, Content.Value>()
        var isScheduled = false
        var lastEnd = ContinuousClock.now - .seconds(1)
        var error: StoreFileError?
        /// The version of the file that was last read or written. The content in memory is that version's content with
        /// `changes` applied.
        var version: StoreFile.Version?
    }

    private static var shortestPause: Duration { .milliseconds(100) }

    let file: StoreFile
    private let state: InlineLocked<State>
    private let queue = DispatchQueue(label: "afar.store", qos: .utility)

    /// - Parameter content: The initial content. If the file exists, the file's content replaces it.
    init(file url: URL, _ content: Content) throws(StoreFileError) {
        file = StoreFile(url: url)
        var content = content
        let contents = try file.read()
        if let contents { content.read(contents.bytes, now: Date()) }
        state = InlineLocked(State(content: content, version: contents?.version))
    }

    /// The error of the last attempt to write the file; nil if it succeeded.
    var error: StoreFileError? { state.withLock { $0.error } }

    /// Accesses the content without scheduling a write.
    func withContent<Result: Sendable>(_ body: (inout Content) -> Result) -> Result {
        state.withLock { body(&$0.content) }
    }

    /// Changes the content, and schedules a write.
    func change(_ body: (inout Content, inout StoreChanges<Content.Key, Content.Value>) -> Void) {
        let delay = state.withLock { state -> Duration? in
            body(&state.content, &state.changes)
            if state.changes.values.count > StoreChanges<Content.Key, Content.Value>.limit {
                state.changes.retain { [content = state.content] in content.contains($0) }
            }
            guard !state.changes.isEmpty, !state.isScheduled else { return nil }
            state.isScheduled = true
            // Register the store while the lock is held, because the process can exit right after the change.
            UnsavedStores.shared.insert(self) { [self] in queue.sync { write() } }
            return ContinuousClock.now.duration(to: state.lastEnd + Self.shortestPause)
        }
        guard let delay else { return }
        // Retains this object until the file is written.
        let save: @Sendable () -> Void = { self.save() }
        if delay > .zero {
            queue.asyncAfter(deadline: .now() + delay / .seconds(1), execute: save)
        } else {
            queue.async(execute: save)
        }
    }

    /// Writes pending changes, and returns when they are on the disk.
    func flush() throws(StoreFileError) {
        queue.sync { write() }
        if let error { throw error }
    }

    private func save() {
        state.withLock { $0.isScheduled = false }
        write()
    }

    /// Must be called on `queue`.
    private func write() {
        let (changes, own, version) = state.withLock { state in
            defer { state.changes = StoreChanges() }
            return (state.changes, state.content, state.version)
        }
        guard !changes.isEmpty else { return }
        let now = Date()
        var merged: Content?
        let result = Result { () throws(StoreFileError) in
            try file.replace { contents in
                if let version, contents?.version == version { return own.bytes(now: now) }
                var content = own
                content.read(contents?.bytes ?? [], now: now)
                content.apply(changes, now: now)
                merged = content
                return content.bytes(now: now)
            }
        }
        state.withLock { [merged] state in
            state.lastEnd = .now
            switch result {
            case .success(let version):
                (state.version, state.error) = (version, nil)
                if var merged {
                    merged.apply(state.changes, now: now)
                    state.content = merged
                }
            case .failure(let error):
                state.error = error
                var all = changes
                all.append(state.changes)
                state.changes = all
            }
            if state.changes.isEmpty { UnsavedStores.shared.remove(self) }
        }
    }
}

protocol StoreContent: Sendable {
    associatedtype Key: Hashable & Sendable
    associatedtype Value: Sendable

    /// Replaces the content with that of a file.
    ///
    /// - Parameter bytes: The contents of the file. Lines that can't be parsed are ignored, or kept for the next write.
    mutating func read(_ bytes: [UInt8], now: Date)

    mutating func apply(_ changes: StoreChanges<Key, Value>, now: Date)

    func bytes(now: Date) -> [UInt8]

    func contains(_ key: Key) -> Bool
}

/// The changes in a store that its file doesn't contain yet.
struct StoreChanges<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Pending changes accumulate while the file can't be written. If there are more than this number, the store drops the new values of
    /// entries that it no longer contains.
    static var limit: Int { 20_000 }

    private(set) var removesAll = false
    /// The new values by key; nil for removed entries.
    private(set) var values: [Key: Value?] = [:]

    var isEmpty: Bool { !removesAll && values.isEmpty }

    mutating func set(_ value: Value?, for key: Key) { values[key] = .some(value) }

    mutating func removeAll() { (removesAll, values) = (true, [:]) }

    mutating func append(_ later: Self) {
        if later.removesAll { removeAll() }
        values.merge(later.values) { $1 }
    }

    mutating func retain(where shouldRetain: (Key) -> Bool) {
        values = values.filter { $0.value == nil || shouldRetain($0.key) }
    }
}

/// The stores with unsaved changes. When the process exits, these changes are written. If a signal kills the process, the most
/// recent changes are lost.
final class UnsavedStores: Sendable {
    static let shared = UnsavedStores()

    private let saves = InlineLocked<[ObjectIdentifier: @Sendable () -> Void]>([:])

    private init() {
        atexit { UnsavedStores.shared.saveAll() }
    }

    /// - Parameter save: Writes the store's file, and ignores errors.
    func insert(_ store: AnyObject, _ save: @escaping @Sendable () -> Void) {
        saves.withLock { $0[ObjectIdentifier(store)] = save }
    }

    func remove(_ store: AnyObject) { saves.release { $0.removeValue(forKey: ObjectIdentifier(store)) } }

    private func saveAll() {
        for save in saves.withLock({ Array($0.values) }) { save() }
    }
}
