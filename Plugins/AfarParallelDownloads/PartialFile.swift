import AfarCore
import Foundation

/// The temporary file next to the destination. Each part of the download is written at its own offset.
///
/// The file is removed when this object is released, unless the file was moved.
final class PartialFile: Sendable {
    let url: URL
    private let descriptor: Int32
    /// The permissions of the complete file. While the file is incomplete, only this user can read it.
    let permissions: mode_t
    private let state = Locked((isOpen: true, isKept: false))

    /// Creates the file and missing directories.
    ///
    /// - Throws: A ``ParallelDownloadError``, or the error that other downloads throw if the destination is a directory.
    init(nextTo destination: URL) throws {
        let folder = destination.deletingLastPathComponent()
        url = folder.appending(path: "\(Self.prefix)\(UUID().uuidString)")
        try Self.prepare(destination, for: url)
        descriptor = open(url.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw ParallelDownloadError.cannotWrite(path: url.path, code: errno) }
        var status = stat()
        permissions = fstat(descriptor, &status) == 0 ? status.st_mode & 0o777 : 0o600
        fchmod(descriptor, 0o600)
        flock(descriptor, LOCK_EX | LOCK_NB)
    }

    /// Opens the file of an earlier download.
    ///
    /// - Throws: A ``ResumeDataError`` if this isn't the earlier download's file, or if another download uses it.
    init(_ earlier: PartialDownload, for destination: URL) throws {
        url = URL(filePath: earlier.path)
        permissions = mode_t(truncatingIfNeeded: earlier.permissions & 0o666)
        try Self.prepare(destination, for: url)
        descriptor = open(url.path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        // Until the checks succeed, the path can belong to another file, so `deinit` doesn't remove it.
        state.withLock { $0.isKept = true }
        guard descriptor >= 0 else { throw ParallelDownloadError.cannotWrite(path: url.path, code: errno) }
        var (status, folder) = (stat(), stat())
        let isOwn =
            fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid()
            && status.st_nlink == 1 && status.st_mode & 0o077 == 0 && status.st_size == earlier.length
        guard isOwn, url.lastPathComponent.hasPrefix(Self.prefix) else { throw ResumeDataError.damaged }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw ResumeDataError.inUse(path: url.path) }
        // The complete file is renamed, so it must be on the same file system as the destination.
        guard stat(destination.deletingLastPathComponent().path, &folder) == 0, folder.st_dev == status.st_dev else {
            throw ParallelDownloadError.cannotWrite(path: destination.path, code: EXDEV)
        }
        state.withLock { $0.isKept = false }
    }

    private static let prefix = ".afar-"

    /// Checks the destination, and creates missing directories.
    private static func prepare(_ destination: URL, for url: URL) throws {
        let folder = destination.deletingLastPathComponent()
        guard destination.isFileURL else {
            throw ParallelDownloadError.cannotWrite(
                path: Redaction.standard.url(destination.absoluteString), code: EINVAL)
        }
        var status = stat()
        guard lstat(destination.path, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR else {
            let cause = CocoaError(
                .fileWriteFileExists,
                userInfo: [
                    NSLocalizedDescriptionKey: "A directory already exists. Directories are never replaced.",
                    NSURLErrorKey: destination, NSFilePathErrorKey: destination.path,
                    NSUnderlyingErrorKey: POSIXError(.EISDIR),
                ])
            throw AFError.downloadedFileMoveFailed(error: cause, source: url, destination: destination)
        }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            let cause = (error as? CocoaError)?.userInfo[NSUnderlyingErrorKey] as? POSIXError
            throw ParallelDownloadError.cannotWrite(path: folder.path, code: cause?.code.rawValue ?? EIO)
        }
    }

    deinit {
        close()
        // After a move, the name no longer exists.
        if !state.withLock({ $0.isKept }) { unlink(url.path) }
    }

    /// Keeps the file for another download, and closes it.
    func keep() {
        state.withLock { $0.isKept = true }
        close()
    }

    /// Sets the length. The file system allocates space only for written bytes, so a large announced length doesn't fill the disk.
    func truncate(to length: Int64) throws(ParallelDownloadError) {
        guard ftruncate(descriptor, off_t(length)) == 0 else { throw failure(errno) }
    }

    func write(_ data: Data, at offset: Int64) throws(ParallelDownloadError) {
        let code = data.withUnsafeBytes { bytes -> Int32? in
            var written = 0
            while written < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(written))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count < 0 ? errno : EIO }
                written += count
            }
            return nil
        }
        if let code { throw failure(code) }
    }

    /// Removes the file and frees its space, even if other objects still reference a request for a part.
    func discard() {
        unlink(url.path)
        // After the file has been closed, another file can have the same descriptor.
        state.withLock { if $0.isOpen { _ = ftruncate(descriptor, 0) } }
    }

    /// Closes the file and renames it to the destination.
    func move(to destination: URL) throws(ParallelDownloadError) {
        fchmod(descriptor, permissions)
        // Some file systems report a full disk only here.
        guard close() == 0, rename(url.path, destination.path) == 0 else {
            throw .cannotWrite(path: destination.path, code: errno)
        }
    }

    @discardableResult
    private func close() -> Int32 {
        let mustClose = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        return mustClose ? Foundation.close(descriptor) : 0
    }

    private func failure(_ code: Int32) -> ParallelDownloadError { .cannotWrite(path: url.path, code: code) }
}
