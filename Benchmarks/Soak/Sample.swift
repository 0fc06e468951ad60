import Counters
import Foundation
import Glibc

/// The resources that this process uses at one moment.
struct Sample {
    /// The number of the trial's completed requests.
    var requests: Int
    var seconds: Double
    var descriptors: Int
    var threads: Int
    /// The size of all allocated blocks. Unlike `resident`, which includes free memory, this value is exact.
    var heapBytes: Int
    var residentBytes: Int
    /// The number of libcurl handles that haven't been freed.
    var handles: Int
    var handlesMade: Int

    init(requests: Int, seconds: Double) {
        self.requests = requests
        self.seconds = seconds
        descriptors = Self.countDescriptors()
        heapBytes = counters_heap_bytes()
        handlesMade = counters_handles_made()
        handles = handlesMade - counters_handles_freed()
        let status = Self.status()
        threads = status["Threads"] ?? 0
        residentBytes = (status["VmRSS"] ?? 0) * 1024
    }

    /// Returns the number of open descriptors, excluding the one used for counting.
    static func countDescriptors() -> Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Excludes `.`, `..` and `folder`.
        return count - 3
    }

    private static func status() -> [String: Int] {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        var values: [String: Int] = [:]
        for line in text.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            values[String(line[..<colon])] = Int(line[colon...].filter(\.isNumber))
        }
        return values
    }
}
