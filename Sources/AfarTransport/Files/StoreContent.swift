import Foundation

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
