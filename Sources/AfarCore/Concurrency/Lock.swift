#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A lock by itself, for state that cannot be a type of its own; else take ``Locked``.
package struct Lock: @unchecked Sendable {
    // Sendable because a mutex is made for that.
    private final class Buffer: ManagedBuffer<Void, pthread_mutex_t> {
        deinit { _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) } }
    }

    private let buffer: ManagedBuffer<Void, pthread_mutex_t>

    package init() {
        buffer = Buffer.create(minimumCapacity: 1) { _ in }
        buffer.withUnsafeMutablePointerToElements { mutex in
            mutex.initialize(to: pthread_mutex_t())
            _ = pthread_mutex_init(mutex, nil)
        }
    }

    package func lock() { _ = buffer.withUnsafeMutablePointerToElements { pthread_mutex_lock($0) } }

    package func unlock() { _ = buffer.withUnsafeMutablePointerToElements { pthread_mutex_unlock($0) } }
}
