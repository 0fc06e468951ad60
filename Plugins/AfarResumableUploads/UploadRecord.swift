import AfarTransport
import Foundation

/// The content of a record: what another process requires to resume an upload.
struct UploadRecord: Codable, Sendable {
    /// A range of the file with an upload of its own.
    struct Part: Codable, Sendable {
        var start: Int64
        var count: Int64
        /// The URL of the upload, or nil if it hasn't been created.
        var url: String?
    }

    static let currentVersion = 1

    var version = Self.currentVersion
    var uploadProtocol: String
    /// The URL that creates uploads, without user name, password and query.
    var endpoint: String
    var file: UploadFile.Identity
    var parts: [Part]
}

/// The file of a record. It is locked until ``finish()`` or ``remove()`` is called.
final class RecordFile: Sendable {
    /// The maximum size of a record in bytes, enough for 100 parts with the longest URLs.
    private static let largestSize = 2 << 20

    private let url: URL
    /// The open file of the lock, or nil after it has been released.
    private let lock: Locked<Int32?>

    private var path: String { url.path }
    private var lockPath: String { path + ".lock" }

    init(_ url: URL) throws(ResumableUploadError) {
        guard url.isFileURL else { throw .invalidOptions("The record's URL isn't a file URL.") }
        self.url = url
        lock = Locked(try Self.lock(url.path))
    }

    deinit { unlock() }

    private func unlock() {
        if let descriptor = lock.withLock({ Swift.exchange(&$0, with: nil) }) { close(descriptor) }
    }

    /// Locks a file next to the record. The record itself can't be locked, because each change replaces it.
    private static func lock(_ path: String) throws(ResumableUploadError) -> Int32 {
        func failure() -> ResumableUploadError {
            .recordInaccessible(path: path, reason: String(cString: strerror(errno)))
        }
        for _ in 0..<100 {
            let descriptor = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            guard descriptor >= 0 else { throw failure() }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                let error = errno == EWOULDBLOCK ? ResumableUploadError.recordInUse(path: path) : failure()
                close(descriptor)
                throw error
            }
            // The last owner may have removed the file between `open` and `flock`.
            var (opened, current) = (stat(), stat())
            if fstat(descriptor, &opened) == 0, lstat(path + ".lock", &current) == 0, opened.st_ino == current.st_ino,
                opened.st_dev == current.st_dev
            {
                return descriptor
            }
            close(descriptor)
        }
        throw .recordInUse(path: path)
    }

    /// Reads the record. Returns nil if it doesn't exist.
    func read() throws(ResumableUploadError) -> UploadRecord? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw .recordInaccessible(path: path, reason: String(cString: strerror(errno)))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .recordInaccessible(path: path, reason: "it isn't a regular file")
        }
        guard status.st_size <= Self.largestSize else { throw .invalidRecord(path: path, reason: "is too large") }
        var data = Data(count: Int(status.st_size))
        let count = data.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
        // Foundation's decoder can crash on input that ends with an opening bracket.
        guard count == data.count, data.last == UInt8(ascii: "}"),
            let record = try? JSONDecoder().decode(UploadRecord.self, from: data)
        else { throw .invalidRecord(path: path, reason: "is damaged") }
        guard record.version == UploadRecord.currentVersion else {
            throw .invalidRecord(path: path, reason: "has a version that isn't supported")
        }
        return record
    }

    /// Replaces the record atomically. After a power failure, the file contains either the old record or the new one.
    func write(_ record: UploadRecord) throws(ResumableUploadError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let temporary = path + ".\(UUID().uuidString).tmp"
        do {
            let data = try encoder.encode(record)
            let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
            defer { close(descriptor) }
            var rest = data[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
                rest = rest.dropFirst(count)
            }
            guard fsync(descriptor) == 0, rename(temporary, path) == 0 else {
                throw POSIXError(.init(rawValue: errno) ?? .EIO)
            }
        } catch {
            unlink(temporary)
            let reason =
                (error as? POSIXError).map { String(cString: strerror($0.code.rawValue)) } ?? "it can't be encoded"
            throw .recordInaccessible(path: path, reason: reason)
        }
    }

    /// Replaces the record, and returns the failure as a value.
    func replace(with record: UploadRecord) -> Result<Void, ResumableUploadError> {
        do {
            return .success(try write(record))
        } catch {
            return .failure(error)
        }
    }

    /// Removes the record and the file of its lock, and releases the lock.
    func remove() {
        unlink(path)
        unlink(lockPath)
        unlock()
    }

    /// Releases the lock. Removes its file if no record exists, so that a failed upload leaves nothing behind.
    func finish() {
        var status = stat()
        if lstat(path, &status) != 0, errno == ENOENT { unlink(lockPath) }
        unlock()
    }
}

/// The parts of an upload, and the record that stores them.
final class UploadParts: Sendable {
    private let file: RecordFile?
    private let state: Locked<UploadRecord>

    /// Creates the parts of an upload, or reads them from its record.
    ///
    /// - Throws: ``ResumableUploadError/fileChanged(path:)`` and other errors if the record can't be used.
    init(
        record url: URL?, of file: UploadFile?, endpoint: UploadEndpoint, uploadProtocol: ResumableUploadProtocol,
        count: Int
    ) throws(ResumableUploadError) {
        let recordFile: RecordFile? = if let url { try RecordFile(url) } else { nil }
        self.file = recordFile
        let identity = file?.identity ?? .init(size: 0, modificationSeconds: 0, modificationNanoseconds: 0, inode: 0)
        let new = UploadRecord(
            uploadProtocol: uploadProtocol.name, endpoint: endpoint.recordedURL, file: identity,
            parts: Self.divided(identity.size, into: count))
        do {
            guard let saved = try recordFile?.read(), let file, let url else {
                // If the record can't be written, nothing is created on the server.
                try recordFile?.write(new)
                state = Locked(new)
                return
            }
            try Self.check(saved, at: url.path, against: new, file, endpoint)
            state = Locked(saved)
        } catch {
            recordFile?.finish()
            throw error
        }
    }

    private static func divided(_ size: Int64, into count: Int) -> [UploadRecord.Part] {
        let count = max(1, min(Int64(count), size))
        return (0..<count).map { index in
            let start = size / count * index
            let end = index == count - 1 ? size : size / count * (index + 1)
            return UploadRecord.Part(start: start, count: end - start)
        }
    }

    private static func check(
        _ saved: UploadRecord, at path: String, against new: UploadRecord, _ file: UploadFile,
        _ endpoint: UploadEndpoint
    ) throws(ResumableUploadError) {
        guard saved.uploadProtocol == new.uploadProtocol, saved.endpoint == new.endpoint else {
            throw .invalidRecord(path: path, reason: "belongs to an upload to another URL or with another protocol")
        }
        guard saved.file == new.file else { throw .fileChanged(path: file.path) }
        var end: Int64 = 0
        for part in saved.parts {
            guard part.start == end, part.count >= 0, part.count <= file.size - part.start else {
                throw .invalidRecord(path: path, reason: "is damaged")
            }
            end = part.start + part.count
            if let text = part.url {
                guard let url = URL(string: text) else { throw .invalidRecord(path: path, reason: "is damaged") }
                _ = try endpoint.checked(url)
            }
        }
        guard end == file.size, (1...100).contains(saved.parts.count) else {
            throw .invalidRecord(path: path, reason: "is damaged")
        }
    }

    var all: [UploadRecord.Part] { state.withLock { $0.parts } }

    /// The URLs of the uploads that exist.
    var urls: [URL] { all.compactMap { $0.url.flatMap { URL(string: $0) } } }

    func url(of part: Int) -> URL? { all[part].url.flatMap { URL(string: $0) } }

    /// Stores the URL of a part, or removes it, and writes the record.
    func setURL(_ url: URL?, of part: Int) throws(ResumableUploadError) {
        let result = state.withLock { state -> Result<Void, ResumableUploadError> in
            state.parts[part].url = url?.absoluteString
            // Writes within the lock, so that the latest state is written last.
            return file?.replace(with: state) ?? .success(())
        }
        try result.get()
    }

    func removeRecord() { file?.remove() }

    /// Releases the record. Removes it if no upload exists.
    func finish() { urls.isEmpty ? file?.remove() : file?.finish() }
}
