import Foundation

/// A new file, open for writing, in a new directory that only this user can enter. Both are removed with this value,
/// unless the file was moved away or kept.
///
/// The file itself has the permissions that any new file gets, so that it has them too where it is moved to.
final class TemporaryFile: Sendable {
    private struct State {
        var isOpen = true
        var isOwned = true
    }

    let url: URL
    let descriptor: Int32
    private let directory: String
    private let state = Locked(State())

    /// Makes the file where temporary files belong (`TMPDIR`).
    init() throws {
        var template = Array(
            FileManager.default.temporaryDirectory.appendingPathComponent("afar-XXXXXX").path.utf8CString)
        guard mkdtemp(&template) != nil else { throw Self.failure(of: "a temporary directory could not be made") }
        directory = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } ?? ""
        url = URL(fileURLWithPath: directory, isDirectory: true).appendingPathComponent("download")
        descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else {
            let failure = Self.failure(of: "a temporary file could not be made")
            rmdir(directory)
            throw failure
        }
    }

    deinit {
        close()
        guard state.withLock({ $0.isOwned }) else { return }
        unlink(url.path)
        rmdir(directory)
    }

    /// Ends the writing.
    func close() {
        let mustClose = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        if mustClose { _ = Foundation.close(descriptor) }
    }

    /// Leaves the file where it is, for good.
    func keep() { state.withLock { $0.isOwned = false } }

    /// Moves the file to where it belongs.
    ///
    /// - Throws: What the file system has against it. The file is then still here.
    func move(to destination: URL, options: DownloadRequest.Options) throws {
        let manager = FileManager.default
        if options.contains(.createIntermediateDirectories) {
            try manager.createDirectory(
                at: destination.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
        if options.contains(.removePreviousFile) {
            try replace(destination)
        } else {
            try manager.moveItem(at: url, to: destination)
        }
        keep()
        rmdir(directory)
    }

    /// A reader of the destination sees the previous file or the whole new one, nothing between.
    private func replace(_ destination: URL) throws {
        guard rename(url.path, destination.path) != 0 else { return }
        guard errno == EXDEV else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        let neighbour = destination.appendingPathExtension(UUID().uuidString)
        try FileManager.default.copyItem(at: url, to: neighbour)
        guard rename(neighbour.path, destination.path) == 0 else {
            let code = errno
            unlink(neighbour.path)
            throw POSIXError(.init(rawValue: code) ?? .EIO)
        }
        unlink(url.path)
    }

    private static func failure(of message: String) -> TransportError {
        let code = errno
        return TransportError(
            .deliveryFailed, phase: .queued, url: nil, message: "\(message): \(String(cString: strerror(code)))",
            systemError: code)
    }
}
