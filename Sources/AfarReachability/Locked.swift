#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// State that is protected by a pthread mutex, which ThreadSanitizer supports on all platforms.
///
/// The lock is not recursive. Don't call other code while holding it.
final class Locked<State>: @unchecked Sendable {
    // Sendable because the state is only accessible through the mutex, whose address never changes.
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

    /// Runs `body` with exclusive access to the state.
    func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Replaces a value and releases the old value outside the lock, because the old value's `deinit` can access this
    /// state.
    func exchange<Value: Sendable>(_ place: WritableKeyPath<State, Value>, for value: Value) {
        let old = withLock { state in
            let old = state[keyPath: place]
            state[keyPath: place] = value
            return old
        }
        withExtendedLifetime(old) {}
    }
}
