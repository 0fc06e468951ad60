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
