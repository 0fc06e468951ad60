import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A directory that holds a file until the file is moved to its destination.
///
/// The directory is created before the request, so that nothing is sent if the file can't be written.
protocol DownloadDirectory: Sendable {
    /// Removes leftover files after the download.
    ///
    /// - Parameter part: The partial download to keep for a later run of the tool; nil to keep nothing.
    func cleanUp(keeping part: ResumeData?)
}

// MARK: - One run

/// The directory of a download that can't be resumed. It's next to the destination, on the same file system, so that the
/// completed file appears atomically.
struct TemporaryDownloadDirectory: DownloadDirectory {
    private let directory: String
    var url: URL { URL(filePath: directory, directoryHint: .isDirectory) }

    /// Creates the directory and makes it the location of the session's temporary files.
    init(beside location: String) throws {
        var template = Array(URL(filePath: location).appending(path: "afar-part-XXXXXX").path.utf8CString)
        guard mkdtemp(&template) != nil else {
            let directory = location == "." ? "the current directory" : location
            let reason = Failure.systemReason
            throw Failure(.other, "Cannot write to \(directory): \(reason).")
        }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        setenv("TMPDIR", directory, 1)
    }

    func cleanUp(keeping part: ResumeData?) { try? FileManager.default.removeItem(atPath: directory) }
}

// MARK: - Several runs

/// The directory of a resumable download: `NAME.part` next to the destination, where the next run of the tool finds it.
///
/// It contains the partial file and, once the response head has arrived, a record of the data needed to resume. The length
/// of the partial file is the number of received bytes, so the tool can be killed at any moment. A directory that another
/// user owns or can write to is refused, because its contents can't be trusted.
final class ResumableDownloadDirectory: DownloadDirectory {
    private static let recordName = "resume"

    /// The path as the user wrote it.
    let path: String
    /// The partial download that this run can resume, if any.
    let data: ResumeData?
    /// Locked while the tool uses it. The system releases the lock however the process ends.
    private let directory: PrivateDirectory
    private let url: URL

    /// Returns whether a path is the directory of an interrupted download.
    static func exists(at path: String) -> Bool { access("\(path)/\(recordName)", F_OK) == 0 }

    /// Opens or creates the directory and makes it the location of the session's temporary files.
    init(at path: String, for request: URLRequest) throws {
        self.path = path
        let base = URL(filePath: FileManager.default.currentDirectoryPath, directoryHint: .isDirectory)
        url = URL(filePath: path, directoryHint: .isDirectory, relativeTo: base).absoluteURL
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            let reason = Failure.systemReason
            throw Failure(.other, "The directory \(path) cannot be created: \(reason).")
        }
        directory = try Self.open(path)
        guard flock(directory.descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw Failure(.usage, "Another afar process is using \(path). Wait for it, or choose another file with -o.")
        }
        let location = directory.pathToDescriptor(else: url.path)
        data = try Self.read(in: directory, reachedBy: location, path: path, for: request)
        Self.removeStaleFiles(in: directory, keeping: data)
        setenv("TMPDIR", location, 1)
    }

    private static func open(_ path: String) throws -> PrivateDirectory {
        do throws(PrivateDirectory.Refusal) {
            return try PrivateDirectory(at: path)
        } catch .cannotBeOpened(ENOTDIR) {
            throw Failure(.usage, "\(path) already exists and isn't a directory. Move it away.")
        } catch .cannotBeOpened(let code) {
            let reason = Failure.systemReason(of: code)
            throw Failure(.usage, "The directory \(path) cannot be opened: \(reason). Choose another file with -o.")
        } catch .ownedByAnotherUser {
            throw Failure(
                .usage, "\(path) belongs to another user, so it can't be trusted. Choose another file with -o.")
        } catch .writableByOthers {
            throw Failure(
                .usage,
                "Other users can write to \(path), so it can't be trusted. Remove it, or choose another file with -o.")
        }
    }

    /// Saves the data needed to resume, or removes the saved data if `data` is nil.
    func record(_ data: ResumeData?) {
        guard var data, let url = Self.redacted(data.url) else { return directory.remove(Self.recordName) }
        // The saved headers could contain secrets, and the next run sends its own headers.
        data.headers = []
        data.url = url
        data.path = Self.lastNames(of: data.path).reduce(self.url) { $0.appending(path: $1) }.path
        directory.put(data.encoded(), into: Self.recordName)
    }

    func cleanUp(keeping part: ResumeData?) {
        Self.removeStaleFiles(in: directory, keeping: part)
        guard part == nil else { return }
        directory.remove(Self.recordName)
        rmdir(path)
    }

    /// Returns the partial download of an earlier run, if this run can resume it.
    ///
    /// - Throws: A ``Failure`` if the partial download belongs to another request or to a newer version of the tool.
    private static func read(
        in directory: PrivateDirectory, reachedBy location: String, path: String, for request: URLRequest
    ) throws -> ResumeData? {
        guard let record = directory.contents(of: recordName, upTo: 2 << 20) else { return nil }
        var data: ResumeData
        do {
            data = try ResumeData(decoding: record)
        } catch .newerVersion {
            throw Failure(.usage, "\(path) is from a newer version of afar. Use that version, or remove the directory.")
        } catch {
            return nil
        }
        // A URL with a new signature identifies the same file. The validator, such as an entity tag, detects changes.
        var redactedRequest = request
        redactedRequest.url = request.url.flatMap(redacted)
        guard data.isPart(of: redactedRequest) else {
            let url = Redaction.standard.url(data.url.absoluteString)
            throw Failure(
                .usage, "\(path) contains a partial download of \(url). Remove it, or choose another file with -o.")
        }
        let exactURL = request.url.flatMap(ResumeData.withoutUserinfo)
        // Secrets in the URL can select the file, but the record omits them. If the URL has secrets, only an entity tag and a length
        // identify the file.
        if redactedRequest.url != exactURL {
            guard case .entityTag = data.validator, data.totalLength != nil else { return nil }
        }
        data.url = exactURL ?? data.url
        // The directory may have been moved.
        let names = lastNames(of: data.path)
        guard names.count == 2, isTemporaryDirectory(names[0]),
            let length = try? PrivateDirectory(names[0], in: directory).length(of: names[1]), length > 0
        else { return nil }
        data.path = names.reduce(location) { "\($0)/\($1)" }
        data.byteCount = length
        return data
    }

    /// Returns the URL with its secrets replaced by `***`.
    private static func redacted(_ url: URL) -> URL? { URL(string: Redaction.standard.url(url.absoluteString)) }

    /// Returns the names of the partial file and its directory.
    private static func lastNames(of path: String) -> [String] { URL(filePath: path).pathComponents.suffix(2) }

    private static func isTemporaryDirectory(_ name: String) -> Bool { name.hasPrefix(TemporaryFile.directoryPrefix) }

    /// Removes the files of other responses, such as redirects, and of earlier runs that were killed before their downloads
    /// became resumable. Keeps files that the tool didn't create.
    private static func removeStaleFiles(in directory: PrivateDirectory, keeping data: ResumeData?) {
        let partDirectory = data.flatMap { lastNames(of: $0.path).first }
        for name in directory.names where isTemporaryDirectory(name) && name != partDirectory {
            directory.removeDirectory(
                name, with: [TemporaryFile.name, TemporaryFile.wholeName, TemporaryFile.sampleName])
        }
    }
}

/// A one-line report on how `--resume` continued.
enum ResumptionReport {
    /// Returns the line, or nil if there is nothing to report.
    ///
    /// - Parameters:
    ///   - part: The partial download of an earlier run.
    ///   - offset: The number of reused bytes.
    ///   - next: The partial download that a later run could resume.
    ///   - status: The response's status.
    static func line(part: ResumeData?, offset: Int64, next: ResumeData?, status: Int) -> String? {
        guard (200..<300).contains(status) else { return nil }
        if offset > 0 {
            let total = next?.totalLength.map { " of \(Quantity.bytes($0))" } ?? ""
            return "Resumed at \(Quantity.bytes(offset))\(total)."
        }
        guard let part else {
            return next == nil ? "Cannot be resumed: no strong ETag, no old Last-Modified, or encoded content." : nil
        }
        if let next, next.origin != part.origin { return "Started over: the file now comes from another server." }
        return next?.validator == part.validator
            ? "Started over: the server doesn't support ranges." : "Started over: the file has changed on the server."
    }
}

// MARK: - Files in a directory

/// File operations relative to the directory's descriptor.
extension PrivateDirectory {
    /// Returns a path that remains valid if the directory is renamed, or `path` on systems without such paths.
    func pathToDescriptor(else path: String) -> String {
        #if os(Linux)
            "/proc/self/fd/\(descriptor)"
        #else
            path
        #endif
    }

    /// The names of the directory's entries, in no particular order.
    var names: [String] {
        // Listing moves the descriptor's offset, and closedir() closes the descriptor.
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { return [] }
        guard let list = fdopendir(copy) else {
            close(copy)
            return []
        }
        defer { closedir(list) }
        var names: [String] = []
        while let entry = readdir(list), let offset = MemoryLayout<dirent>.offset(of: \.d_name) {
            let name = String(cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self))
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Returns the length of a file, or nil if no trustworthy file has this name.
    func length(of name: String) -> Int64? {
        guard let file = openFile(name, O_RDONLY) else { return nil }
        defer { close(file) }
        var status = stat()
        return fstat(file, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Returns the first bytes of a file, or nil if no trustworthy file has this name.
    func contents(of name: String, upTo count: Int) -> Data? {
        guard let file = openFile(name, O_RDONLY) else { return nil }
        return try? FileHandle(fileDescriptor: file, closeOnDealloc: true).read(upToCount: count)
    }

    /// Writes a file atomically, replacing any existing one. On failure, the existing file remains.
    func put(_ data: Data, into name: String) {
        let temporaryName = name + ".new"
        remove(temporaryName)
        let file = openat(descriptor, temporaryName, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        let isWritten = (try? FileHandle(fileDescriptor: file, closeOnDealloc: true).write(contentsOf: data)) != nil
        guard isWritten, renameat(descriptor, temporaryName, descriptor, name) == 0 else {
            return remove(temporaryName)
        }
    }

    func remove(_ name: String) { unlinkat(descriptor, name, 0) }

    /// Removes the named files of a directory that belongs to this user, and then the directory if it's empty.
    func removeDirectory(_ name: String, with files: [String]) {
        guard let directory = try? PrivateDirectory(name, in: self) else { return }
        for file in files { directory.remove(file) }
        unlinkat(descriptor, name, AT_REMOVEDIR)
    }
}
