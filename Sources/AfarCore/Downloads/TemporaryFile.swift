import Foundation

/// The file that a download is written to, in a separate directory that only this user can access. The file and the directory are
/// removed when this object is released, unless the file was moved or kept.
///
/// Only this user can read the file while it is being written. The complete file gets the permissions of a new file, and keeps
/// them when it is moved.
package final class TemporaryFile: Sendable {
    private struct State {
        var url: URL
        var isOpen = true
        var isOwned = true
    }

    package static let directoryPrefix = "afar-"
    package static let name = "download"
    /// The name of the complete file.
    package static let wholeName = "downloaded"
    /// The name of a file that is created and immediately deleted, to find out which permissions new files get.
    package static let sampleName = "download-permissions"

    var url: URL { state.withLock { $0.url } }
    /// Open for reading and writing.
    let descriptor: Int32
    private let directory: String
    private let state: Locked<State>

    /// Creates a file in the directory for temporary files (`TMPDIR`).
    init() throws(TransportError) {
        let template = FileManager.default.temporaryDirectory.appendingPathComponent(Self.directoryPrefix + "XXXXXX")
        var path = Array(template.path.utf8CString)
        guard mkdtemp(&path) != nil else {
            throw Self.failure("can't create a directory in \(template.deletingLastPathComponent().path)")
        }
        directory = path.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } ?? ""
        let url = URL(fileURLWithPath: directory, isDirectory: true).appendingPathComponent(Self.name)
        state = Locked(State(url: url))
        descriptor = open(url.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let failure = Self.failure("can't create a file in \(directory)")
            rmdir(directory)
            throw failure
        }
    }

    /// Takes over a file that an earlier download kept. Returns nil if the path doesn't name such a file. For safety, the path
    /// must name a regular file that belongs to this user, has this class's file name and has no other link. Other users must not
    /// have write access to the file or its directory.
    ///
    /// - Throws: ``ResumeDataError/inUse(path:)`` if another download has taken it over.
    init?(keptAt path: String) throws(ResumeDataError) {
        let url = URL(fileURLWithPath: path)
        let directory = url.deletingLastPathComponent()
        guard path.hasPrefix("/"), !path.utf8.contains(0), url.lastPathComponent == Self.name,
            directory.lastPathComponent.hasPrefix(Self.directoryPrefix),
            let descriptor = try? PrivateDirectory(at: directory.path).openFile(Self.name, O_RDWR)
        else { return nil }
        // No other process uses a new file, so only resumed files are locked.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            Foundation.close(descriptor)
            throw .inUse(path: path)
        }
        fchmod(descriptor, 0o600)
        state = Locked(State(url: url))
        self.directory = directory.path
        self.descriptor = descriptor
    }

    deinit {
        close()
        remove()
    }

    /// Removes the file, unless it was moved or kept. Also removes the directory if it is empty. The directory of a kept file can
    /// be empty too, because the new owner might have moved the file.
    func remove() {
        let isOwned = state.withLock { Swift.exchange(&$0.isOwned, with: false) }
        if isOwned { unlink(url.path) }
        rmdir(directory)
    }

    /// The file's length in bytes.
    var length: Int64 {
        var status = stat()
        return lstat(url.path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Truncates the file and continues writing at its new end.
    func truncate(to length: Int64) throws(TransportError) {
        guard ftruncate(descriptor, off_t(length)) == 0, lseek(descriptor, off_t(length), SEEK_SET) == off_t(length)
        else { throw Self.failure("can't truncate the file \(url.path) to \(length) bytes") }
    }

    /// Gives the complete file the permissions of a new file and another name. Because of the new name, old resume data for the
    /// partial file can't truncate the complete file.
    func publish() {
        let whole = url.deletingLastPathComponent().appending(path: Self.wholeName)
        if rename(url.path, whole.path) == 0 { state.withLock { $0.url = whole } }
        // The system doesn't report the default permissions, but a new file has them.
        let sample = url.deletingLastPathComponent().appending(path: Self.sampleName).path
        let descriptor = open(sample, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { return }
        var status = stat()
        if fstat(descriptor, &status) == 0 { fchmod(self.descriptor, status.st_mode & 0o777) }
        _ = Foundation.close(descriptor)
        unlink(sample)
    }

    /// Whether the file still exists. Another program might have cleared the temporary directory.
    var exists: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink > 0
    }

    func close() {
        let mustClose = state.withLock { Swift.exchange(&$0.isOpen, with: false) }
        guard mustClose else { return }
        // Unlock now, because a forked process's copy of the descriptor would hold the lock longer.
        flock(descriptor, LOCK_UN)
        _ = Foundation.close(descriptor)
    }

    func keep() { state.withLock { $0.isOwned = false } }

    /// Takes ownership of a kept file again. If the file still exists, it is removed when this object is released.
    func reclaim() { state.withLock { $0.isOwned = true } }

    /// Moves the file to its destination.
    ///
    /// - Throws: A `CocoaError` with the reason. After an error, the file remains in place.
    func move(to destination: URL, _ options: DownloadRequest.Options) throws {
        guard destination.standardizedFileURL != url.standardizedFileURL else { return keep() }
        try FileMove(source: url, destination: destination, options: options).perform()
        keep()
        rmdir(directory)
    }

    private static func failure(_ message: String) -> TransportError {
        let code = errno
        return TransportError(.deliveryFailed, phase: .queued, url: nil, message: message, systemError: code)
    }
}

/// An open directory that belongs to this user and that no one else can write to.
///
/// The owner and the permissions are read from the opened directory, and files are opened relative to it. Renaming or replacing
/// the directory therefore has no effect.
package final class PrivateDirectory: Sendable {
    /// The reason a directory was rejected.
    package enum Refusal: Error {
        /// The directory can't be opened. The associated value is the `errno`, which is `ENOTDIR` for a file or a link.
        case cannotBeOpened(Int32)
        case ownedByAnotherUser
        case writableByOthers
    }

    package let descriptor: Int32

    package convenience init(at path: String) throws(Refusal) {
        try self.init(adopting: open(path, Self.flags))
    }

    package convenience init(_ name: String, in parent: PrivateDirectory) throws(Refusal) {
        try self.init(adopting: openat(parent.descriptor, name, Self.flags))
    }

    private static let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC

    private init(adopting descriptor: Int32) throws(Refusal) {
        guard descriptor >= 0 else { throw .cannotBeOpened(errno) }
        do throws(Refusal) {
            try Self.check(descriptor)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    private static func check(_ descriptor: Int32) throws(Refusal) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .cannotBeOpened(errno) }
        guard status.st_uid == geteuid() else { throw .ownedByAnotherUser }
        guard status.st_mode & (S_IWGRP | S_IWOTH) == 0 else { throw .writableByOthers }
    }

    /// Opens a regular file that belongs to this user, has no other link, and isn't writable by other users. Returns nil if no
    /// such file exists.
    package func openFile(_ name: String, _ flags: Int32) -> Int32? {
        let file = openat(descriptor, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_nlink == 1, status.st_mode & (S_IWGRP | S_IWOTH) == 0
        else {
            close(file)
            return nil
        }
        return file
    }
}

/// Moves a file atomically: the destination has either its previous content or the complete file.
struct FileMove {
    let source: URL
    let destination: URL
    let options: DownloadRequest.Options

    /// - Throws: A `CocoaError`. After an error, the source is unchanged.
    func perform() throws {
        guard destination.isFileURL else {
            throw failure(.fileWriteUnsupportedScheme, "The destination isn't a file URL. Use URL(filePath:).")
        }
        if options.contains(.createIntermediateDirectories) {
            try FileManager.default.createDirectory(
                at: destination.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
        var status = stat()
        if lstat(destination.path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            throw failure(EISDIR)
        }
        guard let code = moveIntoPlace(source.path) else { return }
        guard code == EXDEV else { throw failure(code) }
        try copy()
    }

    /// Renames the file to the destination. Returns the `errno` of a failure.
    private func moveIntoPlace(_ path: String) -> Int32? {
        if options.contains(.removePreviousFile) {
            return rename(path, destination.path) == 0 ? nil : errno
        }
        // Unlike `rename`, `link` never replaces an existing file.
        if link(path, destination.path) == 0 {
            unlink(path)
            return nil
        }
        guard errno == EPERM || errno == ENOTSUP || errno == ENOSYS || errno == EMLINK else { return errno }
        // The file system has no hard links.
        var status = stat()
        guard lstat(destination.path, &status) != 0 else { return EEXIST }
        return rename(path, destination.path) == 0 ? nil : errno
    }

    /// Copies the file to another file system. The copy is written next to the destination and renamed when it is complete.
    private func copy() throws {
        let temporaryURL = destination.deletingLastPathComponent().appendingPathComponent(".afar-\(UUID().uuidString)")
        if let code = Self.copy(source.path, to: temporaryURL.path) ?? moveIntoPlace(temporaryURL.path) {
            unlink(temporaryURL.path)
            throw failure(code)
        }
        unlink(source.path)
    }

    /// Returns the `errno` of a failure.
    private static func copy(_ source: String, to copy: String) -> Int32? {
        let input = open(source, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { return errno }
        defer { close(input) }
        let output = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard output >= 0 else { return errno }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = read(input, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = count < 0 ? errno : nil
                var status = stat()
                if code == nil, fstat(input, &status) == 0 { fchmod(output, status.st_mode & 0o777) }
                // Some file systems report a full disk only here.
                return close(output) == 0 ? code : code ?? errno
            }
            if let code = buffer[..<count].withUnsafeBytes({ $0.write(to: output) }) {
                close(output)
                return code
            }
        }
    }

    private func failure(_ code: Int32) -> CocoaError {
        let reason = String(cString: strerror(code))
        let folder = destination.deletingLastPathComponent().path
        let cause = POSIXError(errno: code)
        return switch code {
        case EEXIST:
            failure(.fileWriteFileExists, "A file already exists. To replace it, use removePreviousFile.", cause)
        case EISDIR: failure(.fileWriteFileExists, "A directory already exists. Directories are never replaced.", cause)
        case ENOENT:
            failure(
                .fileNoSuchFile,
                "The directory \(folder) doesn't exist. To create it, use createIntermediateDirectories.", cause)
        case ENOTDIR: failure(.fileNoSuchFile, "\(folder) isn't a directory.", cause)
        case EACCES, EPERM: failure(.fileWriteNoPermission, "Writing to \(folder) isn't permitted: \(reason).", cause)
        case EROFS: failure(.fileWriteVolumeReadOnly, "\(folder) is read-only: \(reason).", cause)
        case ENOSPC, EDQUOT: failure(.fileWriteOutOfSpace, "There isn't enough space in \(folder): \(reason).", cause)
        case ENAMETOOLONG: failure(.fileWriteInvalidFileName, "The file name is too long.", cause)
        default: failure(.fileWriteUnknown, "\(reason).", cause)
        }
    }

    private func failure(_ code: CocoaError.Code, _ message: String, _ cause: POSIXError? = nil) -> CocoaError {
        var userInfo: [String: Any] = [
            NSLocalizedDescriptionKey: message, NSURLErrorKey: destination, NSFilePathErrorKey: destination.path,
        ]
        userInfo[NSUnderlyingErrorKey] = cause
        return CocoaError(code, userInfo: userInfo)
    }
}
