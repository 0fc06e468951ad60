import Foundation

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
