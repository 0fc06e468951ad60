import AfarCore
import Foundation

/// Standard output. A write either writes every byte or throws an error.
enum StandardOutput {
    /// Thrown when the reader has closed the pipe, as `head` does.
    struct Closed: Error {}

    /// Occupies the descriptors of standard streams that the caller has closed. Otherwise, a socket could get such a
    /// descriptor and receive the output. Writing to these descriptors still fails.
    static func reserveStandardStreams() {
        for descriptor in 0...2 as ClosedRange<Int32> where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    static func write(_ text: String) throws { try write(Data(text.utf8)) }

    private static let reservation = Locked(false)

    /// Whether only the report of `--report -` is written.
    static var isReserved: Bool { reservation.withLock { $0 } }

    /// Discards all other output in favor of the report of `--report -`.
    static func reserveForReport() { reservation.withLock { $0 = true } }

    /// Writes all bytes without buffering. Discards them if the output is reserved for a report.
    ///
    /// - Throws: ``Closed``, or a ``Failure``, for example if the disk is full.
    static func write(_ bytes: Data) throws {
        if !isReserved { try write(bytes, to: STDOUT_FILENO) }
    }

    /// Writes all bytes to a descriptor, even if the output is reserved for a report.
    static func write(_ bytes: Data, to descriptor: Int32) throws {
        try bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest))
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EPIPE {
                    throw Closed()
                } else if errno == EAGAIN {
                    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&waiting, 1, -1)
                } else if errno != EINTR {
                    throw Failure(.other, "The output cannot be written: \(String(cString: strerror(errno))).")
                }
            }
        }
    }

    /// Calls a closure when the reader closes the pipe, even if nothing is being written. A separate thread waits for this.
    static func onClose(_ act: @escaping @Sendable () -> Void) {
        Thread.detachNewThread {
            // poll() always reports a missing reader, even if no events are requested.
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

/// The properties of an output stream.
struct OutputFacts: Equatable {
    var isTerminal: Bool
    /// False if NO_COLOR is set (no-color.org) or the terminal has no colors.
    var allowsColors: Bool
    /// Whether the encoding of the locale is UTF-8.
    var isUTF8: Bool
    /// Whether the terminal reports 24-bit colors (COLORTERM).
    var hasTrueColor: Bool
    /// The number of characters in a line.
    var columns: Int
    /// The number of lines.
    var rows: Int

    init(isTerminal: Bool, environment: [String: String], columns: Int? = nil, rows: Int? = nil) {
        self.isTerminal = isTerminal
        allowsColors = (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
        // The first variable that is set applies (POSIX, Base Definitions, section 8.2).
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        isUTF8 = ["utf-8", "utf8"].contains { locale.lowercased().contains($0) }
        hasTrueColor = ["truecolor", "24bit"].contains(environment["COLORTERM"])
        self.rows = rows ?? 24
        self.columns = columns ?? environment["COLUMNS"].flatMap(Self.columns) ?? 80
    }

    /// Parses COLUMNS, limited to the 16 bits that terminals report.
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
