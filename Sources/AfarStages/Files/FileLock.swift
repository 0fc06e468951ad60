package import Foundation

/// A lock on a file that several processes replace. Other processes can't acquire the lock until it is released.
///
/// The lock is a second file in the same directory, with `.lock` appended to the name. The file itself can't be locked, because each
/// write replaces it. The release removes the second file. If a process is killed, the system releases the lock, and the second file
/// remains until the next release.
package struct FileLock {
    /// The maximum time to wait for another process: 5 seconds.
    private static let longestWait = Duration.seconds(5)

    private let path: String
    private let descriptor: Int32

    /// Acquires the lock. Blocks the thread while it waits.
    package init(for url: URL) throws(StoreFileError) {
        path = url.path + ".lock"
        let end = ContinuousClock.now + Self.longestWait
        while true {
            let descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw .unwritable(url, POSIXErrorCode(rawValue: errno) ?? .EIO) }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
                // The last owner can have removed the file between `open` and `flock`. Other processes then lock a new one.
                if Self.isFile(descriptor, at: path) {
                    self.descriptor = descriptor
                    return
                }
                close(descriptor)
            } else {
                let code = errno
                close(descriptor)
                guard code == EWOULDBLOCK || code == EINTR else {
                    throw .unwritable(url, POSIXErrorCode(rawValue: code) ?? .EIO)
                }
            }
            guard ContinuousClock.now < end else { throw .inUse(url) }
            usleep(2_000)
        }
    }

    package func release() {
        // Removing the file after the release could remove a file that another process has locked.
        unlink(path)
        close(descriptor)
    }

    private static func isFile(_ descriptor: Int32, at path: String) -> Bool {
        var (opened, current) = (stat(), stat())
        return fstat(descriptor, &opened) == 0 && lstat(path, &current) == 0 && opened.st_ino == current.st_ino
            && opened.st_dev == current.st_dev
    }
}
