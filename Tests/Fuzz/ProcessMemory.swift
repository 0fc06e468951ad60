import Foundation

/// The memory use of this process in bytes, or 0 if the system doesn't report it in this way.
enum ProcessMemory {
    /// The current memory use.
    static var resident: Int { field("VmRSS:") }

    /// The peak memory use.
    static var peak: Int { field("VmHWM:") }

    private static func field(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }
}
