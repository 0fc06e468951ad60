import AfarCore
import Foundation

/// Bytes that are read from a descriptor while they are sent.
struct ByteStream {
    let descriptor: Int32

    /// How many there are; nil where nobody knows, as of a pipe.
    var length: Int64? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return max(0, Int64(status.st_size) - Int64(lseek(descriptor, 0, SEEK_CUR)))
    }

    /// The bytes as they come. A read blocks a queue of its own and no task, and nobody who is cancelled waits for it.
    var chunks: AsyncThrowingStream<Data, any Error> {
        let queue = DispatchQueue(label: "afar.input")
        return AsyncThrowingStream { [descriptor] in
            let chunk = Deferred<Result<Data?, any Error>>()
            return try await withTaskCancellationHandler {
                queue.async { chunk.fulfill(Result { try Self.read(descriptor) }) }
                return try await chunk.value.get()
            } onCancel: {
                chunk.fulfill(.failure(CancellationError()))
            }
        }
    }

    /// What there is now, at most 128 KiB of it; nil at the end.
    private static func read(_ descriptor: Int32) throws -> Data? {
        var buffer = [UInt8](repeating: 0, count: 128 * 1024)
        while true {
            let count = systemRead(descriptor, &buffer, buffer.count)
            if count >= 0 { return count == 0 ? nil : Data(buffer[..<count]) }
            if errno == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&waiting, 1, -1)
            } else if errno != EINTR {
                throw Failure(.other, "The input cannot be read: \(Failure.systemReason).")
            }
        }
    }
}

/// The system's function, which a method of the same name would hide.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
