package import Foundation

/// The lock of a file among processes, held until it is released. It is a file beside the other, and stays there.
package struct FileLock {
    /// How long another process may hold the lock.
    private static let longestWait = Duration.seconds(5)

    private let descriptor: Int32

    /// Waits for the lock, and blocks the thread meanwhile.
    package init(for url: URL) throws(StoreFileError) {
        let descriptor = open(url.path + ".lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unwritable(url, POSIXErrorCode(rawValue: errno) ?? .EIO) }
        let end = ContinuousClock.now + Self.longestWait
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            guard code == EWOULDBLOCK || code == EINTR, ContinuousClock.now < end else {
                close(descriptor)
                throw code == EWOULDBLOCK ? .inUse(url) : .unwritable(url, POSIXErrorCode(rawValue: code) ?? .EIO)
            }
            usleep(2_000)
        }
        self.descriptor = descriptor
    }

    package func release() { close(descriptor) }
}
