package import Foundation

/// The source of a request's body while a transport sends it.
package final class BodyFeed {
    package enum Answer {
        case bytes(Int)
        /// Nothing is ready. The pump calls back when something is.
        case wait
    }

    private enum Source {
        case memory(Data)
        case file(descriptor: Int32)
        case pump(BodyPump)
    }

    private let source: Source
    /// The length to send, nil for a chunked body.
    package let length: Int64?
    /// The number of bytes read since the body's start.
    package private(set) var byteCount: Int64 = 0

    package init(data: Data) {
        source = .memory(data)
        length = Int64(data.count)
    }

    /// Only regular files: opening or reading anything else can wait, and the loop with all its transfers would too.
    package init(file url: URL) throws(Fault) {
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw Fault(.requestBodyFailed, "the file \(url.path) could not be opened", systemError: errno)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            Foundation.close(descriptor)
            throw Fault(.requestBodyFailed, "\(url.path) is not a regular file")
        }
        length = Int64(status.st_size)
        source = .file(descriptor: descriptor)
    }

    package init(pump: BodyPump, length: Int64?) {
        source = .pump(pump)
        self.length = length
    }

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Answer {
        var room = buffer
        if let length {
            guard byteCount < length else { return .bytes(0) }
            room = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: length - byteCount)))
        }
        let count: Int
        switch source {
        case .memory(let data):
            let offset = data.startIndex + Int(byteCount)
            count = data.copyBytes(to: room, from: offset..<min(offset + room.count, data.endIndex))
        case .file(let descriptor):
            count = Foundation.read(descriptor, room.baseAddress, room.count)
            if count < 0 { throw Fault(.requestBodyFailed, "the file could not be read", systemError: errno) }
        case .pump(let pump):
            guard let pumped = try pump.read(into: room) else { return .wait }
            count = pumped
        }
        byteCount += Int64(count)
        if count == 0, let length, byteCount < length {
            throw Fault(.requestBodyFailed, "the body ended after \(byteCount) of \(length) bytes")
        }
        return .bytes(count)
    }

    /// Starts over for another try on a fresh connection. Returns whether it could.
    package func seek(to offset: Int64) -> Bool {
        switch source {
        case .memory(let data):
            guard (0...Int64(data.count)).contains(offset) else { return false }
        case .file(let descriptor):
            guard offset >= 0, lseek(descriptor, off_t(offset), SEEK_SET) == off_t(offset) else { return false }
        case .pump:
            guard offset == byteCount else { return false }
        }
        byteCount = offset
        return true
    }

    /// Call it once, after the last read.
    package func close() {
        switch source {
        case .memory: break
        case .file(let descriptor): _ = Foundation.close(descriptor)
        case .pump(let pump): pump.cancel()
        }
    }
}
