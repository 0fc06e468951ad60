/// State protected by a lock and shared by several objects or closures. Use ``InlineLocked`` for state that one object owns.
@usableFromInline package final class Locked<State>: Sendable {
    @usableFromInline let content: InlineLocked<State>

    /// Creates a lock around its initial state.
    @inlinable package init(_ state: consuming sending State) { content = InlineLocked(state) }

    /// Runs `body` with exclusive access to the state.
    @inlinable package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try content.withLock(body)
    }

    /// Runs `body` with exclusive access to the state, and releases its result after unlocking. Use it for user objects, whose
    /// `deinit` can run user code.
    @inlinable package func release<Spent>(_ body: (inout State) -> sending Spent) { content.release(body) }
}
