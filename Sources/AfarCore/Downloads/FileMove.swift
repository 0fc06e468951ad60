import Foundation

/// Moves a file atomically: the destination has either its previous content or the complete file.
struct FileMove {
    let source: URL
    let destination: URL
    /// Whether to create the destination's parent directories.
    let createsDirectories: Bool
    /// Whether to replace an existing file.
    let replacesFile: Bool

    /// - Throws: A `CocoaError`. The source is then unchanged.
    func perform() throws {
        guard destination.isFileURL else {
            throw failure(.fileWriteUnsupportedScheme, "The destination is no file URL. Make one with URL(filePath:).")
        }
        if createsDirectories {
            try FileManager.default.createDirectory(
                at: destination.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
        var status = stat()
        if lstat(destination.path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            throw failure(EISDIR)
        }
        guard let code = put(source.path) else { return }
        guard code == EXDEV else { throw failure(code) }
        try copy()
    }

    /// Renames the file to the destination. Returns the `errno` of a failure.
    private func put(_ path: String) -> Int32? {
        if replacesFile {
            return rename(path, destination.path) == 0 ? nil : errno
        }
        // Unlike a rename, a link never replaces an existing file.
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

    /// Copies to another file system: into a file next to the destination, which is then renamed.
    private func copy() throws {
        let neighbour = destination.deletingLastPathComponent().appendingPathComponent(".afar-\(UUID().uuidString)")
        if let code = Self.copy(source.path, to: neighbour.path) ?? put(neighbour.path) {
            unlink(neighbour.path)
            throw failure(code)
        }
        unlink(source.path)
    }

    /// Returns the `errno` of a failure.
    private static func copy(_ source: String, to copy: String) -> Int32? {
        let input = open(source, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { return errno }
        defer { close(input) }
        // Prevents other users from reading the incomplete copy.
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

    // MARK: Errors

    private func failure(_ code: Int32) -> CocoaError {
        let reason = String(cString: strerror(code))
        let folder = destination.deletingLastPathComponent().path
        let cause = POSIXError(errno: code)
        return switch code {
        case EEXIST:
            failure(.fileWriteFileExists, "There is a file already. The option removePreviousFile replaces it.", cause)
        case EISDIR: failure(.fileWriteFileExists, "There is a directory, which is never replaced.", cause)
        case ENOENT:
            failure(
                .fileNoSuchFile,
                "There is no directory \(folder). The option createIntermediateDirectories makes it.", cause)
        case ENOTDIR: failure(.fileNoSuchFile, "\(folder) is not a directory.", cause)
        case EACCES, EPERM: failure(.fileWriteNoPermission, "Nothing may be written into \(folder): \(reason).", cause)
        case EROFS: failure(.fileWriteVolumeReadOnly, "Nothing can be written into \(folder): \(reason).", cause)
        case ENOSPC, EDQUOT: failure(.fileWriteOutOfSpace, "There is no room in \(folder): \(reason).", cause)
        case ENAMETOOLONG: failure(.fileWriteInvalidFileName, "Its name is too long.", cause)
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
