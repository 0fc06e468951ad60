import Foundation

/// A path in a temporary directory that is removed when the object is deallocated.
final class ScratchFile {
    let directory: URL
    let url: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "afar-store-\(UUID().uuidString)")
        url = directory.appending(path: "file")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    var text: String { get throws { try String(contentsOf: url, encoding: .utf8) } }

    func write(_ text: String) throws { try Data(text.utf8).write(to: url) }

    /// The file permissions in octal.
    var mode: String {
        var status = stat()
        return stat(url.path, &status) == 0 ? String(status.st_mode & 0o7777, radix: 8) : "none"
    }

    /// The names of the files in the directory.
    var names: Set<String> {
        get throws { Set(try FileManager.default.contentsOfDirectory(atPath: directory.path)) }
    }
}
