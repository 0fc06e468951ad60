import Foundation

/// Moves a file to another place, whole or not at all: whoever looks there sees what was there before or the whole file.
struct FileMove {
    let source: URL
    let destination: URL
    /// Whether the directories that lead to the destination are made.
    let createsDirectories: Bool
    /// Whether a file that is there already gives way.
    let replacesFile: Bool

    /// - Throws: A `CocoaError`. The source is then as it was.
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

    /// Gives the file the destination's name. Returns the `errno` of a failure.
    private func put(_ path: String) -> Int32? {
        if replacesFile {
            return rename(path, destination.path) == 0 ? nil : errno
        }
        // A link, unlike a rename, never takes the place of another file.
        if link(path, destination.path) == 0 {
            unlink(path)
            return nil
        }
        guard errno == EPERM || errno == ENOTSUP || errno == ENOSYS || errno == EMLINK else { return errno }
        // A file system without hard links.
        var status = stat()
        guard lstat(destination.path, &status) != 0 else { return EEXIST }
        return rename(path, destination.path) == 0 ? nil : errno
    }

    /// To another file system: into a file beside the destination, which then gets its name.
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
        // Nobody else is to read a part of it.
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
                // Some file systems tell only now that there is no room.
                return close(output) == 0 ? code : code ?? errno
            }
            if let code = buffer[..<count].withUnsafeBytes({ $0.write(to: output) }) {
                close(output)
                return code
            }
        }
    }

    // MARK: What stood against it

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
