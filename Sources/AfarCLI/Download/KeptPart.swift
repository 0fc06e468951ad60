import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The place for a file that may take several runs to arrive: a directory beside its destination, `NAME.part`, which the
/// next run finds.
///
/// It holds the file with the part, and from the response's head on a record of what is needed to go on. How much is
/// there the file itself says, so the tool may be killed at any moment.
final class KeptPart: ArrivalPlace {
    private static let recordName = "resume"

    /// As a person writes it.
    let path: String
    /// What there is to go on with.
    let data: ResumeData?
    private let directory: URL
    /// Open and locked as long as this tool works here; the system unlocks it whatever ends the tool.
    private let lock: Int32

    /// Opens the directory, or makes it, and the session's temporary files go there from now on.
    init(at path: String, for request: URLRequest) throws {
        self.path = path
        let base = URL(filePath: FileManager.default.currentDirectoryPath, directoryHint: .isDirectory)
        directory = URL(filePath: path, directoryHint: .isDirectory, relativeTo: base).absoluteURL
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            let reason = Failure.systemReason
            throw Failure(.other, "The directory \(path) cannot be made: \(reason).")
        }
        lock = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard lock >= 0 else { throw Failure(.usage, "\(path) is there already and is no directory. Move it away.") }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw Failure(.usage, "Another afar downloads into \(path). Wait for it, or name another file with -o.")
        }
        do {
            data = try Self.read(in: directory, path: path, for: request)
        } catch {
            close(lock)
            throw error
        }
        Self.sweep(directory, keeping: data)
        setenv("TMPDIR", directory.path, 1)
    }

    deinit { close(lock) }

    /// Writes down what is needed to go on from here, or that nothing is.
    func note(_ data: ResumeData?) {
        let record = directory.appending(path: Self.recordName)
        guard var data else {
            try? FileManager.default.removeItem(at: record)
            return
        }
        // The next run brings its own, and secrets among them stay off the disk.
        data.headers = []
        data.url = Self.withoutSecrets(data.url)
        try? data.encoded().write(to: record, options: .atomic)
    }

    func leave(keeping part: ResumeData?) {
        if part == nil {
            try? FileManager.default.removeItem(at: directory)
        } else {
            Self.sweep(directory, keeping: part)
        }
    }

    /// What the run before has left.
    ///
    /// - Throws: A ``Failure`` when it is of use to somebody, but not to this run.
    private static func read(in directory: URL, path: String, for request: URLRequest) throws -> ResumeData? {
        guard let record = try? Data(contentsOf: directory.appending(path: recordName)) else { return nil }
        var data: ResumeData
        do {
            data = try ResumeData(decoding: record)
        } catch .newerVersion {
            throw Failure(.usage, "\(path) was left by a newer afar. Use that, or remove the directory.")
        } catch {
            return nil
        }
        // A URL signed anew leads to the same file; whether that has changed the validator tells.
        var asked = request
        asked.url = request.url.map(withoutSecrets)
        guard data.isPart(of: asked) else {
            let url = Redaction.standard.url(data.url.absoluteString)
            throw Failure(.usage, "\(path) has a part of \(url). Remove it, or name another file with -o.")
        }
        data.url = request.url.flatMap(ResumeData.withoutUserinfo) ?? data.url
        // The directory may have been moved since.
        let names = URL(filePath: data.path).pathComponents.suffix(2)
        data.path = names.reduce(directory) { $0.appending(path: $1) }.path
        var status = stat()
        guard lstat(data.path, &status) == 0, status.st_size > 0 else { return nil }
        data.byteCount = Int64(status.st_size)
        return data
    }

    /// The URL with `***` in the place of the secrets that it has in it.
    private static func withoutSecrets(_ url: URL) -> URL {
        URL(string: Redaction.standard.url(url.absoluteString)) ?? url
    }

    /// Removes everything but the part and its record: files of answers about something else, and what runs have left
    /// that were killed before there was anything to go on with.
    private static func sweep(_ directory: URL, keeping data: ResumeData?) {
        let part = data.map { URL(filePath: $0.path).deletingLastPathComponent().lastPathComponent }
        let kept = part.map { [recordName, $0] } ?? []
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        for name in names where !kept.contains(name) {
            try? FileManager.default.removeItem(at: directory.appending(path: name))
        }
    }
}
