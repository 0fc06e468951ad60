import Foundation

/// A new file that an encoded form goes into, whole or not at all.
struct FormFile {
    let url: URL
    private let descriptor: Int32

    /// Makes a file where there is none.
    ///
    /// - Parameters:
    ///   - url: Where it is to be.
    ///   - permissions: Who may use it.
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

    /// Makes a file where temporary files belong (`TMPDIR`), which only this user can read.
    static func temporary() throws -> FormFile {
        let name = "afar-form-\(UUID().uuidString)"
        return try FormFile(at: FileManager.default.temporaryDirectory.appendingPathComponent(name), permissions: 0o600)
    }

    /// Fills the file and closes it. When that fails the file is removed.
    func fill(_ write: (_ descriptor: Int32) throws -> Void) throws {
        var failure: (any Error)?
        do { try write(descriptor) } catch { failure = error }
        // Some file systems tell only now that there was no room.
        if close(descriptor) != 0, failure == nil {
            failure = AFError.multipartEncodingFailed(reason: .outputStreamWriteFailed(error: POSIXError.last))
        }
        guard let failure else { return }
        unlink(url.path)
        throw failure
    }
}

/// What a form has to know of a file when it is appended.
struct PartFile {
    /// The last component of its path.
    let name: String
    /// Its length in bytes.
    let length: UInt64

    /// Looks at the file.
    ///
    /// - Parameters:
    ///   - url: Where it is.
    ///   - needsName: Whether the part is to bear the file's own name.
    ///   - fileManager: Tells its length.
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
            // The file manager would tell of a link itself, not of where it leads.
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
    /// Why a file cannot be read, as Foundation says it.
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
