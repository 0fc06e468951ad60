public import Synchronization

/// State protected by a lock and shared by several objects or closures.
///
/// It corresponds to the standard library's `Mutex`, but the thread sanitizer recognizes it on Linux. The lock isn't recursive: don't call
/// other code while you hold it.
public final class Locked<State>: Sendable {
    @usableFromInline let content: InlineLocked<State>

    /// Creates a lock with its state.
    @inlinable public init(_ state: consuming sending State) { content = InlineLocked(state) }

    /// Runs `body` with exclusive access to the state.
    @inlinable public func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try content.withLock(body)
    }

    /// Runs `body` with exclusive access to the state, and releases the result of `body` after unlocking. Remove user objects with this
    /// method, because their `deinit` can run user code.
    @inlinable package func release<Spent>(_ body: (inout State) -> sending Spent) { content.release(body) }
}

/// State protected by a lock and stored inline, without a separate allocation. Use ``Locked`` for state that several owners share.
///
/// The lock isn't recursive: don't call other code while you hold it.
@usableFromInline package struct InlineLocked<State>: ~Copyable, @unchecked Sendable {
    // Sendable because the state is accessible only through the mutex. It is `@usableFromInline` so that other modules can specialize
    // `withLock`.
    @usableFromInline struct Content: @unchecked Sendable {
        // Sendable because the mutex takes sole ownership of the state.
        @usableFromInline var state: State

        @inlinable init(_ state: consuming State) { self.state = state }
    }

    @usableFromInline let mutex: Mutex<Content>
    /// Written before each unlock and read after each lock, because the thread sanitizer doesn't recognize the mutex.
    @usableFromInline let order = Atomic(false)

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

    /// Runs `body` with exclusive access to the state, or returns nil if another thread holds the lock.
    @inlinable package borrowing func withLockIfAvailable<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        try mutex.withLockIfAvailable { content throws(Failure) in
            _ = order.load(ordering: .acquiring)
            defer { order.store(true, ordering: .releasing) }
            return try body(&content.state)
        }
    }

    /// Runs `body` with exclusive access to the state, and releases the result of `body` after unlocking. Remove user objects with this
    /// method, because their `deinit` can run user code.
    @inlinable package borrowing func release<Spent>(_ body: (inout State) -> sending Spent) { _ = withLock(body) }
}
