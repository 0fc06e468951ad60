package import Foundation

#if os(Linux)
    /// A file system of its own, in memory, that is unmounted with this value. Only root can make one.
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

        /// Makes room.
        package func grow(to bytes: Int) throws {
            guard mount("tmpfs", url.path, "tmpfs", UInt(MS_REMOUNT), "size=\(bytes)") == 0 else {
                throw Unavailable(code: errno)
            }
        }
    }
#else
    /// There are none here.
    package final class TinyDisk: Sendable {
        package static let isAvailable = false
        package let url = FileManager.default.temporaryDirectory

        package init(bytes: Int) throws {}
        package func grow(to bytes: Int) throws {}
    }
#endif
