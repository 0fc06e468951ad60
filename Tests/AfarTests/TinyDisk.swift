import Foundation

#if os(Linux)
    /// A file system of its own, in memory, that is unmounted with this value. Only root can make one.
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

        /// Makes room.
        func grow(to bytes: Int) throws {
            guard mount("tmpfs", url.path, "tmpfs", UInt(MS_REMOUNT), "size=\(bytes)") == 0 else {
                throw Unavailable(code: errno)
            }
        }
    }
#else
    /// There are none here.
    final class TinyDisk: Sendable {
        static let isAvailable = false
        let url = FileManager.default.temporaryDirectory

        init(bytes: Int) throws {}
        func grow(to bytes: Int) throws {}
    }
#endif
