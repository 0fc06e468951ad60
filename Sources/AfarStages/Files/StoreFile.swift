public import Foundation

/// A file that several processes can share. Each write replaces the whole file, so a reader never finds a partial file. While a
/// process writes the file, it holds a ``FileLock``. Only the current user can read the file.
struct StoreFile: Sendable {
    private static let largestSize = 64 << 20

    /// Identifies a version of the file. Different versions differ in at least one property.
    struct Version: Equatable, Sendable {
        let inode: UInt64
        let size: Int64
        /// The modification time, as the system represents it.
        let time: [UInt8]
    }

    let url: URL
    private var path: String { url.path }

    /// Returns the contents of the file and their version, or nil if the file doesn't exist.
    func read() throws(StoreFileError) -> (bytes: [UInt8], version: Version)? {
        // O_NONBLOCK, because opening a pipe without a writer would block.
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

    /// Replaces the contents of the file while holding its lock.
    ///
    /// - Parameter change: Returns the new contents, given the old ones.
    /// - Returns: The new version.
    func replace(
        _ change: ((bytes: [UInt8], version: Version)?) -> [UInt8]
    ) throws(StoreFileError) -> Version {
        let lock = try FileLock(for: url)
        defer { lock.release() }
        return try write(change(try read()))
    }

    /// Writes a temporary file in the same directory. When its contents are on the disk, renames the temporary file to
    /// replace the file.
    private func write(_ bytes: [UInt8]) throws(StoreFileError) -> Version {
        let new = path + ".new"
        // A killed process can leave a temporary file behind. No other process is writing the file now, because this
        // process holds the lock.
        unlink(new)
        let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .unwritable(url, Self.lastError) }
        var status = stat()
        let isWritten =
            fchmod(descriptor, 0o600) == 0 && bytes.withUnsafeBytes { $0.write(to: descriptor) } == nil
            && fsync(descriptor) == 0 && fstat(descriptor, &status) == 0 && rename(new, path) == 0
        let code = Self.lastError
        close(descriptor)
        guard isWritten else {
            unlink(new)
            throw .unwritable(url, code)
        }
        syncDirectory()
        return Version(status)
    }

    /// Flushes the directory to the disk. If flushing fails, the disk still contains either the old or the new file.
    private func syncDirectory() {
        let directory = open(url.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
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

/// An error that occurs when a file of cookies, HSTS hosts, or cached responses can't be read or written.
public enum StoreFileError: Error, Sendable, Hashable {
    /// The path isn't a regular file but a directory, a symbolic link, a pipe, or a device.
    case notARegularFile(URL)
    /// The file can't be opened or read.
    case unreadable(URL, POSIXErrorCode)
    /// The file is larger than 64 MiB.
    case tooLarge(URL)
    /// Another process has held the file's lock for more than five seconds.
    case inUse(URL)
    /// The file can't be written. The file keeps its previous contents.
    case unwritable(URL, POSIXErrorCode)
}

extension StoreFileError: LocalizedError, CustomStringConvertible {
    /// A description of the problem that names the file.
    public var description: String {
        switch self {
        case .notARegularFile(let file): "\(file.path) is not a regular file"
        case .unreadable(let file, let code): "\(file.path) cannot be read: \(Self.text(code))"
        case .tooLarge(let file): "\(file.path) is larger than 64 MiB"
        case .inUse(let file): "\(file.path) is in use by another process, which holds its lock"
        case .unwritable(let file, let code): "\(file.path) cannot be written: \(Self.text(code))"
        }
    }

    /// The same text as ``description``.
    public var errorDescription: String? { description }

    private static func text(_ code: POSIXErrorCode) -> String { String(cString: strerror(code.rawValue)) }
}
