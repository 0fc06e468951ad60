import Foundation

/// What a store has in memory, and the file that it is written to a moment later.
///
/// The file is written on a queue: at once after the first change, then a tenth of a second after the last time at the
/// earliest, with all that has changed meanwhile. What others have written into it is kept: only what has changed here is
/// changed there. What is left is written when the process exits.
final class StoredContent<Content: StoreContent>: UnsavedStore {
    private struct State {
        var content: Content
        var changes = StoreChanges<Content.Key, Content.Value>()
        var isScheduled = false
        var lastEnd = ContinuousClock.now - .seconds(1)
        var error: StoreFileError?
        /// The version of the file that holds the content as it was without the changes.
        var version: StoreFile.Version?
    }

    private static var shortestPause: Duration { .milliseconds(100) }

    let file: StoreFile
    private let state: InlineLocked<State>
    private let queue = DispatchQueue(label: "afar.store", qos: .utility)

    /// - Parameter content: Takes what is in the file.
    init(file url: URL, _ content: Content) throws(StoreFileError) {
        file = StoreFile(url: url)
        var content = content
        let contents = try file.read()
        if let contents { content.read(contents.bytes, now: Date()) }
        state = InlineLocked(State(content: content, version: contents?.version))
    }

    /// Why the file was not written the last time; nil when it was.
    var error: StoreFileError? { state.withLock { $0.error } }

    /// Does something with the content that need not be written.
    func withContent<Result: Sendable>(_ body: (inout Content) -> Result) -> Result {
        state.withLock { body(&$0.content) }
    }

    /// Changes the content.
    func change(_ body: (inout Content, inout StoreChanges<Content.Key, Content.Value>) -> Void) {
        let delay = state.withLock { state -> Duration? in
            body(&state.content, &state.changes)
            if state.changes.values.count > StoreChanges<Content.Key, Content.Value>.limit {
                state.changes.keep { [content = state.content] in content.contains($0) }
            }
            guard !state.changes.isEmpty, !state.isScheduled else { return nil }
            state.isScheduled = true
            // In one step with the change, or the process could exit in between.
            UnsavedStores.shared.insert(self)
            return ContinuousClock.now.duration(to: state.lastEnd + Self.shortestPause)
        }
        guard let delay else { return }
        // It holds this object until that has been written.
        let save: @Sendable () -> Void = { self.save() }
        if delay > .zero {
            queue.asyncAfter(deadline: .now() + delay / .seconds(1), execute: save)
        } else {
            queue.async(execute: save)
        }
    }

    /// Writes what has changed, and returns when it is on the disk.
    func flush() throws(StoreFileError) {
        queue.sync { write() }
        if let error { throw error }
    }

    func saveAtExit() { queue.sync { write() } }

    private func save() {
        state.withLock { $0.isScheduled = false }
        write()
    }

    /// On the queue only.
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
                // Nobody else has written it.
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

/// What a store has in memory and in a file.
protocol StoreContent: Sendable {
    associatedtype Key: Hashable & Sendable
    associatedtype Value: Sendable

    /// Takes what is in a file, in place of what it has.
    ///
    /// - Parameter bytes: What is in the file. Whatever it may be, it is kept or passed over.
    mutating func read(_ bytes: [UInt8], now: Date)

    /// Takes what has changed.
    mutating func apply(_ changes: StoreChanges<Key, Value>, now: Date)

    /// What is to be in the file.
    func bytes(now: Date) -> [UInt8]

    func contains(_ key: Key) -> Bool
}

/// What has been changed in a store and is not in its file yet.
struct StoreChanges<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// How many are kept for a file that cannot be written, before those are left out that the store itself no longer has.
    static var limit: Int { 20_000 }

    /// Whether all that was there before has been removed.
    private(set) var removesAll = false
    /// The new values, nil for what was removed.
    private(set) var values: [Key: Value?] = [:]

    var isEmpty: Bool { !removesAll && values.isEmpty }

    mutating func set(_ value: Value?, for key: Key) { values[key] = .some(value) }

    mutating func removeAll() { (removesAll, values) = (true, [:]) }

    /// These, and others that came later.
    mutating func append(_ later: Self) {
        if later.removesAll { removeAll() }
        values.merge(later.values) { $1 }
    }

    mutating func keep(where isKept: (Key) -> Bool) { values = values.filter { $0.value == nil || isKept($0.key) } }
}

/// A store whose file is behind.
protocol UnsavedStore: AnyObject, Sendable {
    /// Writes the file, as well as that is possible.
    func saveAtExit()
}

/// The stores that have something to write, which they do at the latest when the process exits. One that is killed by a
/// signal loses what it has changed in the last moment.
final class UnsavedStores: Sendable {
    static let shared = UnsavedStores()

    private let stores = InlineLocked<[ObjectIdentifier: any UnsavedStore]>([:])

    private init() {
        atexit { UnsavedStores.shared.saveAll() }
    }

    func insert(_ store: any UnsavedStore) { stores.withLock { $0[ObjectIdentifier(store)] = store } }

    func remove(_ store: any UnsavedStore) {
        stores.release { $0.removeValue(forKey: ObjectIdentifier(store)) }
    }

    private func saveAll() {
        for store in stores.withLock({ Array($0.values) }) { store.saveAtExit() }
    }
}
