import AfarCore
import Foundation

/// A directory for a file that arrives in one run: beside its destination, on the same file system, so that the whole file
/// appears at once.
struct TemporaryDownloadDirectory: DownloadDirectory {
    private let directory: String

    /// Makes the directory, and the session's temporary files go there from now on.
    init(beside place: String) throws {
        var template = Array(URL(filePath: place).appending(path: "afar-part-XXXXXX").path.utf8CString)
        guard mkdtemp(&template) != nil else {
            let directory = place == "." ? "the current directory" : place
            let reason = Failure.systemReason
            throw Failure(.other, "Nothing can be written into \(directory): \(reason).")
        }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        setenv("TMPDIR", directory, 1)
    }

    func cleanUp(keeping part: ResumeData?) { try? FileManager.default.removeItem(atPath: directory) }
}
