public import Foundation

/// A file that several processes may use, and that is never seen half written: it is replaced as a whole, under the lock of a
/// file beside it. Only this user may read it.
struct StoreFile: Sendable {
    private static let largestSize = 64 << 20

    /// Which version of the file this is: another one differs in something.
    struct Version: Equatable, Sendable {
        let inode: UInt64
        let size: Int64
        /// When it was changed, as the system writes it.
        let time: [UInt8]
    }

    let url: URL
    private var path: String { url.path }

    // MARK: Reading

    /// What is in the file, and which version that is; nil when there is no file.
    func read() throws(StoreFileError) -> (bytes: [UInt8], version: Version)? {
        // A pipe would block until somebody writes into it.
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw errno == ELOOP ? .notARegularFile(url) : .unreadable(url, Self.lastError)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .unreadable(url, Self.lastError) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notARegularFile(url) }
        guard status.st_size <= Self.largestSize else { throw .tooLarge(url) }
        return (try bytes(of: descriptor), Version(status))
    }

    private func bytes(of descriptor: Int32) throws(StoreFileError) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Foundation.read(descriptor, &chunk, chunk.count)
            if count < 0 {
                guard errno == EINTR else { throw .unreadable(url, Self.lastError) }
                continue
            }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= Self.largestSize else { throw .tooLarge(url) }
        }
    }

    // MARK: Writing

    /// Replaces what is in the file, alone among all who use it.
    ///
    /// - Parameter change: Makes the new contents of the old ones.
    /// - Returns: Which version it is now.
    func replace(
        _ change: ((bytes: [UInt8], version: Version)?) -> [UInt8]
    ) throws(StoreFileError) -> Version {
        let lock = try FileLock(for: url)
        defer { lock.release() }
        return try write(change(try read()))
    }

    /// Writes a file beside it, and puts that in its place when it is on the disk.
    private func write(_ bytes: [UInt8]) throws(StoreFileError) -> Version {
        let new = path + ".new"
        // What a process has left that was killed here: whoever has the lock is alone.
        unlink(new)
        let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unwritable(url, Self.lastError) }
        var status = stat()
        let isWritten =
            fchmod(descriptor, 0o600) == 0 && Self.write(bytes, to: descriptor) && fsync(descriptor) == 0
            && fstat(descriptor, &status) == 0 && rename(new, path) == 0
        let code = Self.lastError
        close(descriptor)
        guard isWritten else {
            unlink(new)
            throw .unwritable(url, code)
        }
        syncDirectory()
        return Version(status)
    }

    /// So that the new name is on the disk, too. Where that is not possible, the old or the new contents are.
    private func syncDirectory() {
        let directory = open(url.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno != EINTR { return false }
                rest = rest.dropFirst(max(0, count))
            }
            return true
        }
    }

    private static var lastError: POSIXErrorCode { POSIXErrorCode(rawValue: errno) ?? .EIO }
}

extension StoreFile.Version {
    fileprivate init(_ status: stat) {
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        #if canImport(Darwin)
            time = withUnsafeBytes(of: status.st_mtimespec, Array.init)
        #else
            time = withUnsafeBytes(of: status.st_mtim, Array.init)
        #endif
    }
}

/// Why a file of cookies, of HSTS hosts or of cached responses cannot be read or written.
public enum StoreFileError: Error, Sendable, Hashable {
    /// The path leads to something else: a directory, a symbolic link, a pipe, a device.
    case notARegularFile(URL)
    /// The file cannot be opened or read.
    case unreadable(URL, POSIXErrorCode)
    /// The file has more than 64 MiB.
    case tooLarge(URL)
    /// Another process holds the file's lock for more than five seconds.
    case inUse(URL)
    /// The file cannot be written. What it had is still there.
    case unwritable(URL, POSIXErrorCode)
}

extension StoreFileError: LocalizedError, CustomStringConvertible {
    /// What is wrong with which file.
    public var description: String {
        switch self {
        case .notARegularFile(let file): "\(file.path) is no regular file"
        case .unreadable(let file, let code): "\(file.path) cannot be read: \(Self.text(code))"
        case .tooLarge(let file): "\(file.path) is larger than 64 MiB"
        case .inUse(let file): "\(file.path) is in use by another process, which holds its lock"
        case .unwritable(let file, let code): "\(file.path) cannot be written: \(Self.text(code))"
        }
    }

    /// The same sentence.
    public var errorDescription: String? { description }

    private static func text(_ code: POSIXErrorCode) -> String { String(cString: strerror(code.rawValue)) }
}

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
