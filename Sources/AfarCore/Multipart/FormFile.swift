import Foundation

/// A new file for an encoded form. It exists only if writing succeeds.
struct FormFile {
    let url: URL
    private let descriptor: Int32

    /// Creates a file. Fails if one already exists.
    ///
    /// - Parameters:
    ///   - url: The location of the file.
    ///   - permissions: The permissions of the file.
    init(at url: URL, permissions: mode_t = 0o666) throws {
        guard url.isFileURL else { throw AFError.multipartEncodingFailed(reason: .outputStreamURLInvalid(url: url)) }
        self.url = url
        descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions)
        guard descriptor >= 0 else {
            throw AFError.multipartEncodingFailed(
                reason: errno == EEXIST
                    ? .outputStreamFileAlreadyExists(at: url) : .outputStreamCreationFailed(for: url))
        }
    }

    /// Creates a file in the directory for temporary files (`TMPDIR`) that only this user can read.
    static func temporary() throws -> FormFile {
        let name = "afar-form-\(UUID().uuidString)"
        return try FormFile(at: FileManager.default.temporaryDirectory.appendingPathComponent(name), permissions: 0o600)
    }

    /// Writes the content and closes the file. If that fails, removes the file.
    func fill(_ write: (_ descriptor: Int32) throws -> Void) throws {
        var failure: (any Error)?
        do { try write(descriptor) } catch { failure = error }
        // Some file systems report a full disk only here.
        if close(descriptor) != 0, failure == nil {
            failure = AFError.multipartEncodingFailed(reason: .outputStreamWriteFailed(error: POSIXError.last))
        }
        guard let failure else { return }
        unlink(url.path)
        throw failure
    }
}

/// The properties of a file that a form needs when the file is appended.
struct PartFile {
    /// The last component of its path.
    let name: String
    /// Its length in bytes.
    let length: UInt64

    /// Reads the properties of a file.
    ///
    /// - Parameters:
    ///   - url: The location of the file.
    ///   - needsName: Whether the part uses the file's own name.
    ///   - fileManager: The file manager that reports the length.
    init(_ url: URL, needsName: Bool, fileManager: FileManager) throws {
        name = url.lastPathComponent
        guard url.isFileURL else { throw Self.refusal(.bodyPartURLInvalid(url: url)) }
        guard !needsName || !(name.isEmpty || name == "/") else {
            throw Self.refusal(.bodyPartFilenameInvalid(in: url))
        }
        try Self.checkKind(of: url)
        length = try Self.length(of: url, fileManager)
    }

    private static func refusal(_ reason: AFError.MultipartEncodingFailureReason) -> AFError {
        .multipartEncodingFailed(reason: reason)
    }

    private static func checkKind(of url: URL) throws {
        var status = stat()
        guard stat(url.path, &status) == 0 else {
            throw refusal(.bodyPartFileNotReachableWithError(atURL: url, error: CocoaError(.last, reading: url)))
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: throw refusal(.bodyPartFileIsDirectory(at: url))
        default: throw refusal(.bodyPartFileSizeNotAvailable(at: url))
        }
    }

    private static func length(of url: URL, _ fileManager: FileManager) throws -> UInt64 {
        let size: Any?
        do {
            // For a link, the file manager would report the length of the link itself.
            let path = try realPath(of: url)
            size = try fileManager.attributesOfItem(atPath: path)[.size]
        } catch {
            throw refusal(.bodyPartFileSizeQueryFailedWithError(forURL: url, error: error))
        }
        guard let size = size as? NSNumber else { throw refusal(.bodyPartFileSizeNotAvailable(at: url)) }
        return size.uint64Value
    }

    private static func realPath(of url: URL) throws -> String {
        guard let path = realpath(url.path, nil) else { throw POSIXError.last }
        defer { free(path) }
        return String(cString: path)
    }
}

extension CocoaError {
    /// Creates Foundation's error for a file that can't be read.
    fileprivate init(_ cause: POSIXError, reading url: URL) {
        let code: Code =
            switch cause.code {
            case .ENOENT, .ENOTDIR: .fileReadNoSuchFile
            case .EACCES, .EPERM: .fileReadNoPermission
            case .ENAMETOOLONG: .fileReadInvalidFileName
            default: .fileReadUnknown
            }
        self.init(
            code,
            userInfo: [
                NSLocalizedDescriptionKey: String(cString: strerror(cause.code.rawValue)), NSURLErrorKey: url,
                NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: cause,
            ])
    }
}
