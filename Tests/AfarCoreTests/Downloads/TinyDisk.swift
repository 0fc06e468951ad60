import Foundation

#if os(Linux)
    /// A small in-memory file system that is unmounted when the object is deallocated. Creating one requires root
    /// privileges.
    final class TinyDisk: Sendable {
        struct Unavailable: Error { var code: Int32 }

        static let isAvailable = geteuid() == 0
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("afar-disk-\(UUID().uuidString)")

        init(bytes: Int) throws {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            guard mount("tmpfs", url.path, "tmpfs", 0, "size=\(bytes)") == 0 else { throw Unavailable(code: errno) }
        }

        deinit {
            umount2(url.path, 2)
            rmdir(url.path)
        }

        /// Remounts the file system read-only.
        func becomeReadOnly() throws {
            guard mount("tmpfs", url.path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 else {
                throw Unavailable(code: errno)
            }
        }
    }
#else
    /// A stub for platforms without such file systems.
    final class TinyDisk: Sendable {
        static let isAvailable = false
        let url = FileManager.default.temporaryDirectory

        init(bytes: Int) throws {}
        func becomeReadOnly() throws {}
    }
#endif
