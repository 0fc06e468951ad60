import Foundation

/// The memory use of another process.
enum ProcessMemory {
    struct Unknown: Error {}

    /// Whether memory measurements are meaningful. They aren't with a sanitizer, which uses much more memory. Only
    /// Tests/Sanitizers sets `LSAN_OPTIONS`.
    static let isMeasurable = ProcessInfo.processInfo.environment["LSAN_OPTIONS"] == nil

    /// Returns the peak memory use of a process, in bytes.
    static func peak(of process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let number = line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
        else { throw Unknown() }
        return number * 1024
    }
}
