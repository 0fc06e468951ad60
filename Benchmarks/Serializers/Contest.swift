import Foundation
import Measurement

/// One task and the alternative implementations to compare.
struct Contest {
    let title: String
    /// The number of bytes to process.
    let bytes: Int
    /// The implementations. All are compared with the first one.
    let entries: [Entry]

    struct Entry {
        let name: String
        /// The fraction of the bytes to process, for slow implementations.
        var share = 1.0
        /// Does the work and returns the processor time in seconds.
        let seconds: () throws -> Double

        private init(_ name: String, _ seconds: @escaping () throws -> Double) {
            self.name = name
            self.seconds = seconds
        }

        /// Creates an entry whose time is measured in another process.
        static func measured(_ name: String, by seconds: @escaping () throws -> Double) -> Entry {
            Entry(name, seconds)
        }

        init(name: String, share: Double = 1, work: @escaping () throws -> Void) {
            self.name = name
            self.share = share
            seconds = {
                let start = Usage.now.cpuSeconds
                try work()
                return Usage.now.cpuSeconds - start
            }
        }
    }

    /// Runs the entries in turn, several times, so that background load affects all entries alike. Reports each entry's
    /// best time.
    func table(rounds: Int, of name: String?) -> Table {
        let entries = entries.filter { entry in name.map(entry.name.contains) ?? true }
        var best = entries.map { _ in Double.infinity }
        for _ in 0..<rounds {
            for (index, entry) in entries.enumerated() {
                do {
                    best[index] = min(best[index], try entry.seconds() / entry.share)
                } catch {
                    fatalError("\(title), \(entry.name): \(error)")
                }
            }
        }
        let rows = zip(entries, best).map { entry, seconds in
            [
                entry.name, String(format: "%.1f", Double(bytes) / 1e6 / seconds),
                String(format: "%.2f", seconds / best[0]),
            ]
        }
        return Table(columns: ["", "MB/s", "time, \(entries[0].name) = 1"], rows: rows)
    }
}
