import Foundation

/// A file that contains the current input.
final class InputKeeper {
    private let file: FileHandle
    private let url: URL

    init(_ url: URL) throws {
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data().write(to: url)
        file = try FileHandle(forWritingTo: url)
        self.url = url
    }

    func keep(_ input: Data) throws {
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: input)
    }

    /// Removes the file after a run without failures.
    func remove() {
        try? file.close()
        try? FileManager.default.removeItem(at: url)
    }
}
