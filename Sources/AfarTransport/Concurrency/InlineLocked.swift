public import Synchronization

/// State that is reached only while its lock is held, stored where it is declared: for the state of an object, which so
/// needs no allocation of its own. What several share is ``Locked``.
///
/// The lock is not recursive: do not call out while holding it.
@usableFromInline package struct InlineLocked<State>: ~Copyable, @unchecked Sendable {
    // Sendable because the state is only reachable through the mutex. Usable from inline, or other modules would call
    // `withLock` unspecialized.
    @usableFromInline struct Content: @unchecked Sendable {
        // Sendable because the mutex would not let a state be touched that is reachable from elsewhere too.
        @usableFromInline var state: State

        @inlinable init(_ state: consuming State) { self.state = state }
    }

    @usableFromInline let mutex: Mutex<Content>
    /// Written before each unlocking and read after each locking: the thread sanitizer does not see inside the mutex.
    @usableFromInline let order = Atomic(false)

    /// Makes the lock around its first state.
    @inlinable package init(_ state: consuming sending State) { mutex = Mutex(Content(state)) }

    /// Runs `body` with the state, alone.
    @inlinable package borrowing func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { content throws(Failure) in
            _ = order.load(ordering: .acquiring)
            defer { order.store(true, ordering: .releasing) }
            return try body(&content.state)
        }
    }

    /// Runs `body` with the state, alone, and lets go of what it returns when the lock is free again. For what is the
    /// user's, who may run code when it is released.
    @inlinable package borrowing func release<Spent>(_ body: (inout State) -> sending Spent) { _ = withLock(body) }
}
