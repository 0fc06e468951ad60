/// State that is reached only while its lock is held, and that several objects or closures share; what one object owns is
/// ``InlineLocked``.
@usableFromInline package final class Locked<State>: Sendable {
    @usableFromInline let content: InlineLocked<State>

    /// Makes the lock around its first state.
    @inlinable package init(_ state: consuming sending State) { content = InlineLocked(state) }

    /// Runs `body` with the state, alone.
    @inlinable package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try content.withLock(body)
    }

    /// Runs `body` with the state, alone, and lets go of what it returns when the lock is free again. For what is the
    /// user's, who may run code when it is released.
    @inlinable package func release<Spent>(_ body: (inout State) -> sending Spent) { content.release(body) }
}
