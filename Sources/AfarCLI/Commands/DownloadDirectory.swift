import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The directory in which a file arrives before it is moved to its destination.
///
/// It is made before the request, so that nothing is sent when nothing can be written.
protocol DownloadDirectory: Sendable {
    /// Removes what is left there, once the download is over.
    ///
    /// - Parameter part: What a next run can resume; nil to leave nothing.
    func cleanUp(keeping part: ResumeData?)
}

// MARK: - One run

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

// MARK: - Several runs

/// A directory for a file that may take several runs to arrive: `NAME.part` beside its destination, where the next run
/// finds it.
///
/// It holds the file with the part, and from the response's head on a record of what is needed to resume. How much is
/// there the file itself says, so the tool may be killed at any moment. A directory that somebody else has made, or may
/// write to, is refused: a part in it could be anything.
final class ResumableDownloadDirectory: DownloadDirectory {
    private static let recordName = "resume"

    /// As a person writes it.
    let path: String
    /// What this run can resume; nil where there is nothing.
    let data: ResumeData?
    /// Locked as long as this tool works here; the system unlocks it whatever ends the tool.
    private let directory: PrivateDirectory
    private let url: URL

    /// Opens the directory, or makes it, and the session's temporary files go there from now on.
    init(at path: String, for request: URLRequest) throws {
        self.path = path
        let base = URL(filePath: FileManager.default.currentDirectoryPath, directoryHint: .isDirectory)
        url = URL(filePath: path, directoryHint: .isDirectory, relativeTo: base).absoluteURL
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            let reason = Failure.systemReason
            throw Failure(.other, "The directory \(path) cannot be made: \(reason).")
        }
        directory = try Self.open(path)
        guard flock(directory.descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw Failure(.usage, "Another afar downloads into \(path). Wait for it, or name another file with -o.")
        }
        let place = directory.pathToDescriptor(else: url.path)
        data = try Self.read(in: directory, reachedBy: place, path: path, for: request)
        Self.sweep(directory, keeping: data)
        setenv("TMPDIR", place, 1)
    }

    private static func open(_ path: String) throws -> PrivateDirectory {
        do throws(PrivateDirectory.Refusal) {
            return try PrivateDirectory(at: path)
        } catch .cannotBeOpened(ENOTDIR) {
            throw Failure(.usage, "\(path) is there already and is no directory. Move it away.")
        } catch .cannotBeOpened(let code) {
            let reason = Failure.systemReason(of: code)
            throw Failure(.usage, "The directory \(path) cannot be opened: \(reason). Name another file with -o.")
        } catch .ownedByAnotherUser {
            throw Failure(
                .usage, "\(path) belongs to another user, who may have put anything there. Name another file with -o.")
        } catch .writableByOthers {
            throw Failure(
                .usage,
                "Others may write to \(path), so anything may be there. Remove it, or name another file with -o.")
        }
    }

    /// Writes down what is needed to resume from here, or removes it.
    func record(_ data: ResumeData?) {
        guard var data, let url = Self.withoutSecrets(data.url) else { return directory.remove(Self.recordName) }
        // The next run brings its own, and secrets among them stay off the disk.
        data.headers = []
        data.url = url
        data.path = Self.lastNames(of: data.path).reduce(self.url) { $0.appending(path: $1) }.path
        directory.put(data.encoded(), into: Self.recordName)
    }

    func cleanUp(keeping part: ResumeData?) {
        Self.sweep(directory, keeping: part)
        guard part == nil else { return }
        directory.remove(Self.recordName)
        rmdir(path)
    }

    /// What the run before has left.
    ///
    /// - Throws: A ``Failure`` when it is of use to somebody, but not to this run.
    private static func read(
        in directory: PrivateDirectory, reachedBy place: String, path: String, for request: URLRequest
    ) throws -> ResumeData? {
        guard let record = directory.contents(of: recordName, upTo: 2 << 20) else { return nil }
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
        asked.url = request.url.flatMap(withoutSecrets)
        guard data.isPart(of: asked) else {
            let url = Redaction.standard.url(data.url.absoluteString)
            throw Failure(.usage, "\(path) has a part of \(url). Remove it, or name another file with -o.")
        }
        let exactURL = request.url.flatMap(ResumeData.withoutUserinfo)
        // Which of several files a secret names is not written down: only a tag and a length tell that it is the same one.
        if asked.url != exactURL {
            guard case .entityTag = data.validator, data.totalLength != nil else { return nil }
        }
        data.url = exactURL ?? data.url
        // The directory may have been moved since.
        let names = lastNames(of: data.path)
        guard names.count == 2, isTemporaryDirectory(names[0]),
            let length = try? PrivateDirectory(names[0], in: directory).length(of: names[1]), length > 0
        else { return nil }
        data.path = names.reduce(place) { "\($0)/\($1)" }
        data.byteCount = length
        return data
    }

    /// The URL with `***` in the place of the secrets that it has in it.
    private static func withoutSecrets(_ url: URL) -> URL? { URL(string: Redaction.standard.url(url.absoluteString)) }

    /// The file with a part, and the directory that it is in.
    private static func lastNames(of path: String) -> [String] { URL(filePath: path).pathComponents.suffix(2) }

    private static func isTemporaryDirectory(_ name: String) -> Bool { name.hasPrefix(TemporaryFile.directoryPrefix) }

    /// Removes files of answers about something else, and what runs have left that were killed before there was anything
    /// to resume. What is not this tool's stays.
    private static func sweep(_ directory: PrivateDirectory, keeping data: ResumeData?) {
        let kept = data.flatMap { lastNames(of: $0.path).first }
        for name in directory.names where isTemporaryDirectory(name) && name != kept {
            directory.removeDirectory(
                name, with: [TemporaryFile.name, TemporaryFile.wholeName, TemporaryFile.sampleName])
        }
    }
}

/// How `--resume` continued, in one line for the person who asked for it.
enum ResumptionReport {
    /// - Parameters:
    ///   - part: What was there to resume.
    ///   - offset: How much of it counts.
    ///   - next: What a next run could resume.
    /// - Returns: Nil when there is nothing to say.
    static func line(part: ResumeData?, offset: Int64, next: ResumeData?, status: Int) -> String? {
        guard (200..<300).contains(status) else { return nil }
        if offset > 0 {
            let total = next?.totalLength.map { " of \(Quantity.bytes($0))" } ?? ""
            return "Resumed at \(Quantity.bytes(offset))\(total)."
        }
        guard let part else {
            return next == nil ? "This cannot be resumed: no strong ETag, no old Last-Modified, or encoded." : nil
        }
        if let next, next.origin != part.origin { return "Started over: it comes from another server now." }
        return next?.validator == part.validator
            ? "Started over: the server sends no parts of it." : "Started over: it has changed on the server."
    }
}

// MARK: - Files in a directory

/// Files in a directory, all reached from its descriptor.
extension PrivateDirectory {
    /// A path that leads to what is open, whatever has its name by now. Where the system has no such paths it is `path`.
    func pathToDescriptor(else path: String) -> String {
        #if os(Linux)
            "/proc/self/fd/\(descriptor)"
        #else
            path
        #endif
    }

    /// The names of all that is in it, in no order.
    var names: [String] {
        // A second descriptor: listing moves its place, and ends with closing it.
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { return [] }
        guard let list = fdopendir(copy) else {
            close(copy)
            return []
        }
        defer { closedir(list) }
        var names: [String] = []
        while let entry = readdir(list), let place = MemoryLayout<dirent>.offset(of: \.d_name) {
            let name = String(cString: (UnsafeRawPointer(entry) + place).assumingMemoryBound(to: CChar.self))
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The length of a file, nil when there is none that may be trusted.
    func length(of name: String) -> Int64? {
        guard let file = openFile(name, O_RDONLY) else { return nil }
        defer { close(file) }
        var status = stat()
        return fstat(file, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// The first bytes of a file, nil when there is none that may be trusted.
    func contents(of name: String, upTo count: Int) -> Data? {
        guard let file = openFile(name, O_RDONLY) else { return nil }
        return try? FileHandle(fileDescriptor: file, closeOnDealloc: true).read(upToCount: count)
    }

    /// Puts a file there, whole or not at all, in the place of one that has the name already.
    func put(_ data: Data, into name: String) {
        let draft = name + ".new"
        remove(draft)
        let file = openat(descriptor, draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        let isWritten = (try? FileHandle(fileDescriptor: file, closeOnDealloc: true).write(contentsOf: data)) != nil
        guard isWritten, renameat(descriptor, draft, descriptor, name) == 0 else { return remove(draft) }
    }

    /// Removes a file.
    func remove(_ name: String) { unlinkat(descriptor, name, 0) }

    /// Removes a directory of this user's, and the files in it that are named. It stays if anything else is in it.
    func removeDirectory(_ name: String, with files: [String]) {
        guard let directory = try? PrivateDirectory(name, in: self) else { return }
        for file in files { directory.remove(file) }
        unlinkat(descriptor, name, AT_REMOVEDIR)
    }
}
