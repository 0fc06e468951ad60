import Foundation

/// A file that a download is written to, in a directory of its own that only this user can enter. Both are removed with
/// this value, unless the file was moved away or kept.
///
/// While it is written, only this user may read it, too. It gets the permissions of any new file when it is whole, and has
/// them where it is moved to.
package final class TemporaryFile: Sendable {
    private struct State {
        var url: URL
        var isOpen = true
        var isOwned = true
    }

    /// What the names of the directories begin with.
    package static let directoryPrefix = "afar-"
    /// The name of the file in its directory.
    package static let name = "download"
    /// Its name when it is whole.
    package static let wholeName = "downloaded"
    /// A file whose permissions show what a new file gets; it is there for a moment.
    package static let sampleName = "download-permissions"

    var url: URL { state.withLock { $0.url } }
    /// Open for reading and writing.
    let descriptor: Int32
    private let directory: String
    private let state: Locked<State>

    /// Makes a new file where temporary files belong (`TMPDIR`).
    init() throws(TransportError) {
        let template = FileManager.default.temporaryDirectory.appendingPathComponent(Self.directoryPrefix + "XXXXXX")
        var path = Array(template.path.utf8CString)
        guard mkdtemp(&path) != nil else {
            throw Self.failure("no directory could be made in \(template.deletingLastPathComponent().path)")
        }
        directory = path.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } ?? ""
        let url = URL(fileURLWithPath: directory, isDirectory: true).appendingPathComponent(Self.name)
        state = Locked(State(url: url))
        descriptor = open(url.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let failure = Self.failure("no file could be made in \(directory)")
            rmdir(directory)
            throw failure
        }
    }

    /// Takes over a file that a download before has kept; nil when there is none at this path. Nothing else is touched,
    /// whatever the path says: it has to be a regular file of this user's with one name, and that the name that this
    /// class gives, and nobody else may write to it or to its directory.
    ///
    /// - Throws: ``ResumeDataError/inUse(path:)`` when another download has taken it over.
    init?(keptAt path: String) throws(ResumeDataError) {
        let url = URL(fileURLWithPath: path)
        let directory = url.deletingLastPathComponent()
        guard path.hasPrefix("/"), !path.utf8.contains(0), url.lastPathComponent == Self.name,
            directory.lastPathComponent.hasPrefix(Self.directoryPrefix),
            let descriptor = try? PrivateDirectory(at: directory.path).openFile(Self.name, O_RDWR)
        else { return nil }
        // Only those that go on with a file lock it: nobody else knows of it while it is new.
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

    /// Removes the file, unless it was moved away or kept, and the directory if nothing is in it: whoever was left the file
    /// may have taken it away.
    func remove() {
        let isOwned = state.withLock { Swift.exchange(&$0.isOwned, with: false) }
        if isOwned { unlink(url.path) }
        rmdir(directory)
    }

    /// How many bytes are in it.
    var length: Int64 {
        var status = stat()
        return lstat(url.path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Cuts the file, and writes on from there.
    func truncate(to length: Int64) throws(TransportError) {
        guard ftruncate(descriptor, off_t(length)) == 0, lseek(descriptor, off_t(length), SEEK_SET) == off_t(length)
        else { throw Self.failure("the file \(url.path) could not be cut to \(length) bytes") }
    }

    /// Gives the file, which is whole, the permissions of any new file, and another name: resume data that names it as a
    /// part would have it cut to what it was.
    func publish() {
        let whole = url.deletingLastPathComponent().appending(path: Self.wholeName)
        if rename(url.path, whole.path) == 0 { state.withLock { $0.url = whole } }
        // The system does not tell what they are; it gives them to a file.
        let sample = url.deletingLastPathComponent().appending(path: Self.sampleName).path
        let descriptor = open(sample, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { return }
        var status = stat()
        if fstat(descriptor, &status) == 0 { fchmod(self.descriptor, status.st_mode & 0o777) }
        _ = Foundation.close(descriptor)
        unlink(sample)
    }

    /// Whether it has a name still. Somebody may have cleared the temporary folder.
    var exists: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink > 0
    }

    /// Ends the writing.
    func close() {
        let mustClose = state.withLock { Swift.exchange(&$0.isOpen, with: false) }
        guard mustClose else { return }
        // A process that was just forked may have a copy of the descriptor, which would hold the lock a little longer.
        flock(descriptor, LOCK_UN)
        _ = Foundation.close(descriptor)
    }

    /// Leaves the file where it is, for good.
    func keep() { state.withLock { $0.isOwned = false } }

    /// Takes a file that was kept back: it is removed with this value, if it is still there.
    func takeBack() { state.withLock { $0.isOwned = true } }

    /// Moves the file to where it belongs.
    ///
    /// - Parameters:
    ///   - createsDirectories: Whether the directories that lead there are made.
    ///   - replacesFile: Whether a file that is there already gives way.
    /// - Throws: A `CocoaError` that says what stands against it. The file is then still here.
    func move(to destination: URL, createsDirectories: Bool, replacesFile: Bool) throws {
        guard destination.standardizedFileURL != url.standardizedFileURL else { return keep() }
        try FileMove(
            source: url, destination: destination, createsDirectories: createsDirectories, replacesFile: replacesFile
        ).perform()
        keep()
        rmdir(directory)
    }

    private static func failure(_ message: String) -> TransportError {
        let code = errno
        return TransportError(.deliveryFailed, phase: .queued, url: nil, message: message, systemError: code)
    }
}

/// A directory of this user's that nobody else may write to, held open.
///
/// Owner and permissions are those of what was opened, and what is in it is reached from there: it makes no difference
/// what becomes of its name.
package final class PrivateDirectory: Sendable {
    /// Why a directory is none of this kind.
    package enum Refusal: Error {
        /// It cannot be opened, with this `errno`: `ENOTDIR` where something else has its name, a file or a link.
        case cannotBeOpened(Int32)
        case ownedByAnotherUser
        case writableByOthers
    }

    package let descriptor: Int32

    package convenience init(at path: String) throws(Refusal) {
        try self.init(adopting: open(path, Self.flags))
    }

    /// The directory of this name inside `parent`.
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

    /// Opens a regular file of this user's that has no other name and that nobody else may write to; nil when there is
    /// none of this name.
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
