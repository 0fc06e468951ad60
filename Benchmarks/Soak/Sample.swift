import Counters
import Foundation
import Glibc

/// What this process has in use at one moment.
struct Sample {
    /// The requests of the trial that were over.
    var requests: Int
    var seconds: Double
    var descriptors: Int
    var threads: Int
    /// The bytes of all blocks of memory in use, which is exact; what the system has given (`resident`) is not.
    var heapBytes: Int
    var residentBytes: Int
    /// libcurl's handles that were made and not freed.
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

    /// The descriptors that are open, without the one that counting takes.
    static func countDescriptors() -> Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // The folder itself, its parent, and the descriptor that reads it.
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
