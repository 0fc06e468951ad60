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

// MARK: - Where output goes

/// What matters about the place where output goes.
struct OutputFacts: Equatable {
    var isTerminal: Bool
    /// False with NO_COLOR (no-color.org), and on a terminal that knows no colours.
    var allowsColours: Bool
    /// Whether the locale says that text is UTF-8.
    var isUTF8: Bool
    /// Whether the terminal says that its colours have 24 bits (COLORTERM).
    var hasTrueColor: Bool
    /// How many characters fit in a line.
    var columns: Int
    /// How many lines the terminal has.
    var rows: Int

    init(isTerminal: Bool, environment: [String: String], columns: Int? = nil, rows: Int? = nil) {
        self.isTerminal = isTerminal
        allowsColours = (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
        // The first of these that is set decides (POSIX, Base Definitions, section 8.2).
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        isUTF8 = ["utf-8", "utf8"].contains { locale.lowercased().contains($0) }
        hasTrueColor = ["truecolor", "24bit"].contains(environment["COLORTERM"])
        self.rows = rows ?? 24
        self.columns = columns ?? environment["COLUMNS"].flatMap(Self.columns) ?? 80
    }

    /// No terminal tells of more than fit in 16 bits.
    private static func columns(_ text: String) -> Int? {
        Int(text).flatMap { $0 > 0 ? min($0, Int(UInt16.max)) : nil }
    }

    static var standardOutput: OutputFacts { OutputFacts(of: STDOUT_FILENO) }
    static var standardError: OutputFacts { OutputFacts(of: STDERR_FILENO) }

    private init(of descriptor: Int32) {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        self.init(
            isTerminal: isatty(descriptor) == 1, environment: ProcessInfo.processInfo.environment,
            columns: isKnown ? Int(size.ws_col) : nil, rows: isKnown && size.ws_row > 0 ? Int(size.ws_row) : nil)
    }
}
