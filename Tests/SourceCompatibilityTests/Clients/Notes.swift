import Foundation

/// Notes in the order in which they were added.
final class Notes: @unchecked Sendable {
    private let lock = NSLock()
    private var list: [String] = []

    var all: [String] { lock.withLock { list } }

    func add(_ note: String) { lock.withLock { list.append(note) } }
}
