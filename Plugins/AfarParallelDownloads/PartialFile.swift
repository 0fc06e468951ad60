import Foundation

/// The temporary file next to the destination, to whose places the parts of a download are written.
///
/// It is removed when this object is released, unless it was moved.
final class PartialFile: Sendable {
    let url: URL
    private let descriptor: Int32
    /// The permissions of a new file. While the file is incomplete, only this user can read it.
    private let permissions: mode_t
    private let isOpen = Guarded(true)

    /// Creates the file and missing directories.
    init(nextTo destination: URL) throws(ParallelDownloadError) {
        let folder = destination.deletingLastPathComponent()
        guard destination.isFileURL else { throw .cannotWrite(path: destination.absoluteString, code: EINVAL) }
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            let cause = (error as? CocoaError)?.userInfo[NSUnderlyingErrorKey] as? POSIXError
            throw .cannotWrite(path: folder.path, code: cause?.code.rawValue ?? EIO)
        }
        url = folder.appending(path: ".afar-\(UUID().uuidString)")
        descriptor = open(url.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw .cannotWrite(path: url.path, code: errno) }
        var status = stat()
        permissions = fstat(descriptor, &status) == 0 ? status.st_mode & 0o777 : 0o600
        fchmod(descriptor, 0o600)
    }

    deinit {
        close()
        // After a move, the name no longer exists.
        unlink(url.path)
    }

    /// Reserves space for the file, so that a full disk is detected before anything is transferred.
    func reserve(_ length: Int64) throws(ParallelDownloadError) {
        guard length > 0 else { return }
        #if os(Linux)
            var code = EINTR
            while code == EINTR { code = posix_fallocate(descriptor, 0, off_t(length)) }
            if code == EOPNOTSUPP || code == EINVAL { return try truncate(to: length) }
            guard code == 0 else { throw .cannotWrite(path: url.path, code: code) }
        #else
            try truncate(to: length)
        #endif
    }

    func truncate(to length: Int64) throws(ParallelDownloadError) {
        guard ftruncate(descriptor, off_t(length)) == 0 else { throw failure() }
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
        if let code { throw .cannotWrite(path: url.path, code: code) }
    }

    /// Removes the file and frees its space, even if other objects still reference a request for a part.
    func discard() {
        unlink(url.path)
        // After the file has been closed, another file can have the same descriptor.
        isOpen.withLock { isOpen in if isOpen { _ = ftruncate(descriptor, 0) } }
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
        let mustClose = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        return mustClose ? Foundation.close(descriptor) : 0
    }

    private func failure() -> ParallelDownloadError { .cannotWrite(path: url.path, code: errno) }
}
