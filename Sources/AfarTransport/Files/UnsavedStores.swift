import Foundation

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
