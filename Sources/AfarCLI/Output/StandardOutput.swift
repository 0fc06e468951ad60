import Foundation

/// The standard output, written to so that every byte arrives or an error is thrown.
enum StandardOutput {
    /// The reader has gone, as `head` does when it has seen enough.
    struct Closed: Error {}

    /// Takes the places of standard streams that the caller has closed, so that no socket can take them and get the
    /// output. Writing there fails, as it should.
    static func guardStreams() {
        for descriptor in 0...2 as ClosedRange<Int32> where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    static func write(_ text: String) throws { try write(Data(text.utf8)) }

    /// Writes all bytes, past any buffer.
    ///
    /// - Throws: ``Closed``, or a ``Failure`` when the disk is full, say.
    static func write(_ bytes: Data) throws {
        try bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = systemWrite(STDOUT_FILENO, UnsafeRawBufferPointer(rebasing: rest))
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EPIPE {
                    throw Closed()
                } else if errno == EAGAIN {
                    var descriptor = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                    poll(&descriptor, 1, -1)
                } else if errno != EINTR {
                    throw Failure(.other, "The output cannot be written: \(String(cString: strerror(errno))).")
                }
            }
        }
    }

    /// Calls a closure when the reader goes, also while nothing is written, on a thread that lives until then.
    static func onClose(_ act: @escaping @Sendable () -> Void) {
        Thread.detachNewThread {
            // No events are asked for; that nobody reads is reported all the same.
            var descriptor = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
            while poll(&descriptor, 1, -1) < 0, errno == EINTR {}
            if descriptor.revents & Int16(POLLERR | POLLHUP) != 0 { act() }
        }
    }

    private static func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
            Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
            Musl.write(descriptor, bytes.baseAddress, bytes.count)
        #else
            Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }
}
