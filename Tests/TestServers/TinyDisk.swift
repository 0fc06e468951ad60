package import Foundation

#if os(Linux)
    /// A small in-memory file system that is unmounted when the object is deallocated. Creating one requires root
    /// privileges.
    package final class TinyDisk: Sendable {
        struct Unavailable: Error { var code: Int32 }

        package static let isAvailable = geteuid() == 0
        package let url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "afar-disk-\(UUID().uuidString)")

        package init(bytes: Int) throws {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
            guard mount("tmpfs", url.path, "tmpfs", 0, "size=\(bytes)") == 0 else { throw Unavailable(code: errno) }
        }

        deinit {
            umount2(url.path, 2)
            rmdir(url.path)
        }

        /// Enlarges the file system.
        package func grow(to bytes: Int) throws {
            guard mount("tmpfs", url.path, "tmpfs", UInt(MS_REMOUNT), "size=\(bytes)") == 0 else {
                throw Unavailable(code: errno)
            }
        }
    }
#else
    /// A stub for platforms without such file systems.
    package final class TinyDisk: Sendable {
        package static let isAvailable = false
        package let url = FileManager.default.temporaryDirectory

        package init(bytes: Int) throws {}
        package func grow(to bytes: Int) throws {}
    }
#endif
