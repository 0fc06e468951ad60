import Foundation

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
