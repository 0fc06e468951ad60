import Foundation

/// How much memory this process takes, in bytes; 0 where the system does not tell it this way.
enum ProcessMemory {
    /// Now.
    static var resident: Int { field("VmRSS:") }

    /// At most until now.
    static var peak: Int { field("VmHWM:") }

    private static func field(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }
}
