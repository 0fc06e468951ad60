import Foundation

/// Lets what is written to somebody's descriptor go elsewhere for a while. The file behind it is left as it is.
final class Diversion: Sendable {
    private let descriptor: Int32
    private let original: Int32
    private let elsewhere: Int32
    private let flags: Int32
    private let isOver = Locked(false)

    /// - Parameter keeping: Whether what is written meanwhile may be wanted afterwards.
    init(of descriptor: Int32, keeping: Bool) throws(TransportError) {
        self.descriptor = descriptor
        flags = fcntl(descriptor, F_GETFD)
        original = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard original >= 0 else { throw Self.failure("the descriptor could not be copied") }
        elsewhere = keeping ? Self.openNamelessFile() : open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard elsewhere >= 0, Self.copy(elsewhere, to: descriptor, flags: flags) >= 0 else {
            throw Self.failure("there is no place for the body of a response that is not the last one")
        }
    }

    deinit {
        close(original)
        if elsewhere >= 0 { close(elsewhere) }
    }

    /// Lets it go where it went before. Not to be called when the descriptor's owner may have closed it; a second call
    /// does nothing.
    func end() {
        let isFirst = isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
        guard isFirst else { return }
        _ = Self.copy(original, to: descriptor, flags: flags)
    }

    /// Lets one descriptor be as another, but with the flags it had.
    private static func copy(_ source: Int32, to target: Int32, flags: Int32) -> Int32 {
        let result = dup2(source, target)
        _ = fcntl(target, F_SETFD, flags)
        return result
    }

    /// Writes what was kept to where it would have gone.
    func copyBack() throws(TransportError) {
        lseek(elsewhere, 0, SEEK_SET)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 1)
        defer { buffer.deallocate() }
        while true {
            let count = read(elsewhere, buffer.baseAddress, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure("the response's body could not be read again") }
            guard count > 0 else { return }
            if let code = UnsafeRawBufferPointer(rebasing: buffer[..<count]).write(to: descriptor) {
                throw Self.failure("the response's body could not be written", code)
            }
        }
    }

    private static func openNamelessFile() -> Int32 {
        let template = FileManager.default.temporaryDirectory.appendingPathComponent("afar-XXXXXX")
        var path = Array(template.path.utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { return descriptor }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(path)
        return descriptor
    }

    private static func failure(_ message: String, _ code: Int32 = errno) -> TransportError {
        TransportError(.deliveryFailed, phase: .receiving, url: nil, message: message, systemError: code)
    }
}
