import Foundation

extension LoggingMonitor {
    /// The monitor that the environment variable `AFAR_LOG` asks for; nil when it is not set.
    static let environment: LoggingMonitor? = {
        guard let monitor = make(asked: ProcessInfo.processInfo.environment["AFAR_LOG"]) else { return nil }
        // What is noted is written by a queue. A program that ends just now waits for it.
        atexit { LoggingMonitor.environment?.queue.sync {} }
        return monitor
    }()

    /// - Parameters:
    ///   - value: What the variable is set to.
    ///   - complain: Called with a message when the value is unknown.
    static func make(
        asked value: String?, complain: (String) -> Void = { StandardError.note($0) }
    ) -> LoggingMonitor? {
        guard let value, !value.isEmpty else { return nil }
        guard let level = Level(rawValue: value.lowercased()) else {
            let known = Level.allCases.map(\.rawValue).joined(separator: " or ")
            complain("AFAR_LOG is \"\(TerminalText.line(value))\", which means nothing. Set it to \(known).")
            return nil
        }
        return LoggingMonitor(level)
    }
}
