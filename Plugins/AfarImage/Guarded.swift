import Foundation

/// State that is protected by a lock.
final class Guarded<State>: @unchecked Sendable {
    // Sendable because the state is only used under the lock.
    private let lock = NSLock()
    private var state: State

    init(_ state: State) { self.state = state }

    func withLock<Value>(_ body: (inout State) -> Value) -> Value { lock.withLock { body(&state) } }
}
