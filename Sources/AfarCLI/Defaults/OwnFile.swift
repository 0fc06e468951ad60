import Foundation

/// Reads small files that only the user can change.
enum OwnFile {
    /// The reason that a file isn't read.
    enum Problem: Error, Equatable {
        case notRegular
        case writableByOthers
        case tooLarge
        case system(Int32)

        var text: String {
            switch self {
            case .notRegular: "it isn't a regular file"
            case .writableByOthers: "others can change it; to prevent this, run chmod go-w"
            case .tooLarge: "it is too large"
            case .system(let code): Failure.systemReason(of: code)
            }
        }
    }

    /// Returns the contents of a file, or nil if there is no file.
    ///
    /// - Parameter limit: The maximum size, in bytes.
    static func contents(of path: String, limit: Int) throws(Problem) -> Data? {
        // With O_NONBLOCK, opening a pipe doesn't wait for a writer.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw .system(errno)
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
        guard status.st_uid == geteuid() || status.st_uid == 0, status.st_mode & 0o022 == 0 else {
            throw .writableByOthers
        }
        guard status.st_size <= limit, let data = try? handle.read(upToCount: limit + 1) ?? Data() else {
            throw .tooLarge
        }
        guard data.count <= limit else { throw .tooLarge }
        return data
    }

    /// Returns a folder of the XDG base directory specification. The specification ignores relative paths in the variable.
    static func baseFolder(_ variable: String, default path: String) -> String {
        let environment = ProcessInfo.processInfo.environment
        if let folder = environment[variable], folder.hasPrefix("/") { return folder }
        return homeFolder(environment) + "/" + path
    }

    /// The home folder. If `HOME` isn't an absolute path, this is the folder in the user database.
    private static func homeFolder(_ environment: [String: String]) -> String {
        if let home = environment["HOME"], home.hasPrefix("/") { return home }
        return getpwuid(geteuid()).flatMap { $0.pointee.pw_dir.map { String(cString: $0) } } ?? "/"
    }
}
