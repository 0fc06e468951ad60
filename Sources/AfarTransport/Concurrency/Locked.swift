#if canImport(Glibc)
    public import Glibc
#elseif canImport(Musl)
    public import Musl
#elseif canImport(Darwin)
    public import Darwin
#endif

/// State that is reached only while its lock is held.
///
/// It stands on a pthread mutex, because the thread sanitizer understands that one on every platform. State and mutex
/// share one allocation. The lock is not recursive: do not call out while holding it.
@usableFromInline package struct Locked<State>: @unchecked Sendable {
    // Sendable because the state is only reachable through the mutex. Usable from inline, or other modules would call
    // `withLock` unspecialized.
    @usableFromInline package final class Buffer: ManagedBuffer<State, pthread_mutex_t> {
        deinit {
            withUnsafeMutablePointers { state, mutex in
                _ = pthread_mutex_destroy(mutex)
                _ = state
            }
        }
    }

    @usableFromInline package let buffer: ManagedBuffer<State, pthread_mutex_t>

    /// Makes the lock around its first state.
    @inlinable
    package init(_ state: sending State) {
        buffer = Buffer.create(minimumCapacity: 1) { _ in state }
        buffer.withUnsafeMutablePointerToElements { mutex in
            mutex.initialize(to: pthread_mutex_t())
            _ = pthread_mutex_init(mutex, nil)
        }
    }

    /// Runs `body` with the state, alone.
    @inlinable
    package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        let (state, mutex) = buffer.withUnsafeMutablePointers { ($0, $1) }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state.pointee)
    }

    /// Runs `body` with the state, alone, and lets go of what it returns when the lock is free again. For what is the
    /// user's, who may run code when it is released.
    @inlinable
    package func release<Spent>(_ body: (inout State) -> sending Spent) { _ = withLock(body) }
}

/// A lock by itself, for state that cannot be a type of its own.
package typealias Lock = Locked<Void>

extension Locked where State == Void {
    @inlinable package init() { self.init(()) }

    @inlinable package func lock() { _ = buffer.withUnsafeMutablePointerToElements { pthread_mutex_lock($0) } }

    @inlinable package func unlock() { _ = buffer.withUnsafeMutablePointerToElements { pthread_mutex_unlock($0) } }
}
