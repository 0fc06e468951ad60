public import Synchronization

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

// MARK: - Inline state

/// State protected by a lock and stored inline, so that an object's state needs no allocation of its own. Use ``Locked`` for
/// state that several owners share.
///
/// The lock is not recursive: do not call out while holding it.
@usableFromInline package struct InlineLocked<State>: ~Copyable, @unchecked Sendable {
    // Sendable because the state is reachable only through the mutex. `@usableFromInline` because otherwise other modules would
    // call `withLock` unspecialized.
    @usableFromInline struct Content: @unchecked Sendable {
        // Sendable because the mutex doesn't permit access to state that is also reachable from elsewhere.
        @usableFromInline var state: State

        @inlinable init(_ state: consuming State) { self.state = state }
    }

    @usableFromInline let mutex: Mutex<Content>
    /// Written before each unlock and read after each lock, because the thread sanitizer can't look inside the mutex.
    @usableFromInline let order = Atomic(false)

    /// Creates a lock around its initial state.
    @inlinable package init(_ state: consuming sending State) { mutex = Mutex(Content(state)) }

    /// Runs `body` with exclusive access to the state.
    @inlinable package borrowing func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { content throws(Failure) in
            _ = order.load(ordering: .acquiring)
            defer { order.store(true, ordering: .releasing) }
            return try body(&content.state)
        }
    }

    /// Runs `body` with exclusive access to the state, and releases its result after unlocking. Use it for user objects, whose
    /// `deinit` can run user code.
    @inlinable package borrowing func release<Spent>(_ body: (inout State) -> sending Spent) { _ = withLock(body) }
}
