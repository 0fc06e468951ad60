import AfarCore
import AfarTransport
import Foundation

/// A file that is open for reading, and the values that identify its content.
final class UploadFile: Sendable {
    /// Values that change when the file is written or replaced.
    struct Identity: Codable, Equatable, Sendable {
        var size: Int64
        var modificationSeconds: Int64
        var modificationNanoseconds: Int64
        var inode: UInt64
    }

    let path: String
    let identity: Identity
    private let descriptor: Int32

    init(_ url: URL) throws(ResumableUploadError) {
        guard url.isFileURL else { throw .invalidOptions("The file's URL isn't a file URL.") }
        path = url.path
        // Without O_NONBLOCK, opening a named pipe waits for its writer.
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw .unreadableFile(path: path, reason: String(cString: strerror(errno))) }
        do {
            identity = try Self.identity(of: descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit { close(descriptor) }

    var size: Int64 { identity.size }

    private static func identity(of descriptor: Int32, _ path: String) throws(ResumableUploadError) -> Identity {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .unreadableFile(path: path, reason: String(cString: strerror(errno)))
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .unreadableFile(path: path, reason: "it isn't a regular file")
        }
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        return Identity(
            size: Int64(status.st_size), modificationSeconds: Int64(time.tv_sec),
            modificationNanoseconds: Int64(time.tv_nsec), inode: UInt64(status.st_ino))
    }

    /// - Throws: ``ResumableUploadError/fileChanged(path:)`` if the open file was written since the upload began.
    func checkUnchanged() throws(ResumableUploadError) {
        guard try Self.identity(of: descriptor, path) == identity else { throw .fileChanged(path: path) }
    }

    /// Reads bytes at an offset. The file must have that many bytes.
    func read(at offset: Int64, count: Int) throws(ResumableUploadError) -> Data {
        var data = Data(count: count)
        var filled = 0
        while filled < count {
            let result = data.withUnsafeMutableBytes { buffer in
                pread(
                    descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, off_t(offset) + off_t(filled))
            }
            if result < 0, errno == EINTR { continue }
            guard result >= 0 else { throw .unreadableFile(path: path, reason: String(cString: strerror(errno))) }
            guard result > 0 else { throw .fileChanged(path: path) }
            filled += result
        }
        return data
    }
}

/// The bytes of one request.
struct Segment: Sendable {
    /// The offset of the first byte in its upload.
    let offset: Int64
    let count: Int64
    /// Whether the upload ends with these bytes.
    let isLast: Bool
    /// Returns a reader that starts with the first byte.
    let makeReader: @Sendable () -> RequestBodyStream.Reader
    /// Throws an error if the file has changed. Called after the bytes have been sent.
    let checkSource: @Sendable () throws(ResumableUploadError) -> Void

    var end: Int64 { offset + count }

    /// The SHA-1 of the bytes.
    func checksum() async throws -> Data {
        var hash = SHA1()
        let reader = makeReader()
        while let chunk = try await reader() { hash.update(chunk) }
        return hash.finish()
    }
}

/// The origin of an upload's bytes.
protocol UploadSource: Sendable {
    /// The number of bytes, or nil while it is unknown.
    var length: Int64? { get }
    /// Whether the source can provide all bytes again from the first one.
    var canStartOver: Bool { get }

    /// Returns the bytes from an offset.
    ///
    /// - Parameter limit: The maximum number of bytes, or nil for no limit.
    func segment(at offset: Int64, limit: Int64?) async throws -> Segment
}

/// A range of a file.
struct FileSource: UploadSource {
    private static let chunkSize = 256 << 10

    let file: UploadFile
    let start: Int64
    let count: Int64

    var length: Int64? { count }
    var canStartOver: Bool { true }

    func segment(at offset: Int64, limit: Int64?) throws(ResumableUploadError) -> Segment {
        try file.checkUnchanged()
        let segmentCount = min(count - offset, limit ?? .max)
        let (file, begin) = (file, start + offset)
        return Segment(offset: offset, count: segmentCount, isLast: offset + segmentCount == count) {
            let sent = Locked<Int64>(0)
            return {
                let done = sent.withLock { $0 }
                guard done < segmentCount else {
                    try file.checkUnchanged()
                    return nil
                }
                let data = try file.read(at: begin + done, count: Int(min(Int64(Self.chunkSize), segmentCount - done)))
                sent.withLock { $0 = done + Int64(data.count) }
                return data
            }
        } checkSource: { () throws(ResumableUploadError) in
            try file.checkUnchanged()
        }
    }
}

/// A sequence of chunks whose length is unknown until it ends. The bytes that the server hasn't confirmed stay in memory.
final class ChunkSource: UploadSource {
    private struct State {
        var buffer = Data()
        /// The offset of the buffer's first byte.
        var start: Int64 = 0
        var hasEnded = false
    }

    private let reader: RequestBodyStream.Reader
    private let upload: ResumableUpload
    private let state = Locked(State())

    init(_ chunks: RequestBodyStream, for upload: ResumableUpload) {
        reader = chunks.reader()
        self.upload = upload
    }

    var length: Int64? { state.withLock { $0.hasEnded ? $0.start + Int64($0.buffer.count) : nil } }
    var canStartOver: Bool { state.withLock { $0.start == 0 } }

    func segment(at offset: Int64, limit: Int64?) async throws -> Segment {
        let limit = limit ?? 4 << 20
        let isAvailable = state.withLock { state in
            guard offset >= state.start, offset <= state.start + Int64(state.buffer.count) else { return false }
            state.buffer = Data(state.buffer.dropFirst(Int(offset - state.start)))
            state.start = offset
            return true
        }
        guard isAvailable else { throw ResumableUploadError.sourceCannotRewind(to: offset) }
        // Reads at least one byte beyond the limit, to determine whether the segment is the last one.
        while state.withLock({ !$0.hasEnded && Int64($0.buffer.count) <= limit }) {
            do {
                let chunk = try await upload.untilCancelled { [reader] in try await reader() }
                state.withLock { state in
                    if let chunk { state.buffer.append(chunk) } else { state.hasEnded = true }
                }
            } catch {
                try Task.checkCancellation()
                throw ResumableUploadError.sourceFailed(error)
            }
        }
        return state.withLock { state in
            let bytes = Data(state.buffer.prefix(Int(limit)))
            return Segment(
                offset: offset, count: Int64(bytes.count), isLast: state.hasEnded && bytes.count == state.buffer.count
            ) {
                let isSent = Locked(bytes.isEmpty)
                return { isSent.withLock { Swift.exchange(&$0, with: true) } ? nil : bytes }
            } checkSource: { () throws(ResumableUploadError) in
            }
        }
    }
}
