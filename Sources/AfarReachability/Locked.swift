#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// State that is reached only while its lock is held: a pthread mutex, which the thread sanitizer understands everywhere.
/// The lock is not recursive: do not call out while holding it.
final class Locked<State>: @unchecked Sendable {
    // Sendable because the state is only reachable through the mutex, which never moves.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var state: State

    init(_ state: sending State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        _ = pthread_mutex_init(mutex, nil)
    }

    deinit {
        _ = pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with the state, alone.
    func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Puts another value in the place of one, which is let go of without the lock: what it owns may come back here then.
    func exchange<Value: Sendable>(_ place: WritableKeyPath<State, Value>, for value: Value) {
        let old = withLock { state in
            let old = state[keyPath: place]
            state[keyPath: place] = value
            return old
        }
        withExtendedLifetime(old) {}
    }
}
