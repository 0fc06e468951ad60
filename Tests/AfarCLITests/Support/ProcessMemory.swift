import Foundation

/// How much memory another process takes.
enum ProcessMemory {
    struct Unknown: Error {}

    /// Whether a program's memory is its own: a sanitizer, which Tests/Sanitizers gives options, takes much more.
    static let isNotifying = ProcessInfo.processInfo.environment["LSAN_OPTIONS"] == nil

    /// The most that it has had at once, in bytes.
    static func peak(of process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let number = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
        else { throw Unknown() }
        return number * 1024
    }
}
