import Foundation

/// State that several threads use, one at a time.
final class Guarded<State>: @unchecked Sendable {
    // Sendable because the state is used under the lock only.
    private let lock = NSLock()
    private var state: State

    init(_ state: State) { self.state = state }

    func withLock<Value>(_ body: (inout State) -> Value) -> Value { lock.withLock { body(&state) } }
}
