import Foundation

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
