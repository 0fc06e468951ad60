import Afar
import Foundation

/// Where a download goes: a file that the person names, or a directory in which the server names the file.
struct DownloadTarget {
    private let url: String
    private let isForced: Bool
    /// The file, once it has a name.
    private let path: String?
    /// The directory of the file, as a person writes it: empty for the current one.
    private let directory: String

    /// Checks what can be checked before anything is sent.
    init(_ options: FileOptions, url: String) throws {
        self.url = url
        isForced = options.force
        let output = options.output ?? "."
        guard !output.isEmpty else { throw Failure(.usage, "-o wants a path, and got an empty one.") }
        guard output != "-" else {
            throw Failure(.usage, "A download goes into a file. For the standard output, use afar get.")
        }
        var isDirectory: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: output, isDirectory: &isDirectory)
        if exists ? isDirectory.boolValue : output.hasSuffix("/") {
            path = nil
            directory = options.output.map { $0.hasSuffix("/") ? $0 : $0 + "/" } ?? ""
        } else {
            path = output
            directory = output.lastIndex(of: "/").map { String(output[...$0]) } ?? ""
        }
        guard FileManager.default.fileExists(atPath: directoryPath, isDirectory: &isDirectory), isDirectory.boolValue
        else {
            throw Failure(.usage, "There is no directory \(directoryPath). Make it, or name another with -o.")
        }
        if let path { try checkOverwrite(of: path) }
    }

    /// The directory of the file, as the system takes it.
    var directoryPath: String { directory.isEmpty ? "." : directory }

    /// The path for what a response brings.
    func path(contentDisposition: String?) -> String {
        path ?? directory + FileName.suggested(contentDisposition: contentDisposition, url: url)
    }

    /// The path for a part of the file, the same in each run: what the server calls the file is not known yet.
    var partPath: String { path(contentDisposition: nil) + ".part" }

    /// How the file is put there.
    var options: DownloadRequest.Options { isForced ? .removePreviousFile : [] }

    /// Throws when there is something already that must stay.
    func checkOverwrite(of path: String) throws {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.usage, "\(path) is there already and is no file. Name another with -o.")
        }
        guard isForced else {
            throw Failure(.usage, "\(path) is there already. Replace it with --force, or name another with -o.")
        }
    }
}
