import Foundation
import Measurement

/// The same work, done in several ways.
struct Contest {
    let title: String
    /// How many bytes are worked on.
    let bytes: Int
    /// The first one is what the others are compared with.
    let entries: [Entry]

    struct Entry {
        let name: String
        /// How many of the bytes this one works on, if it is too slow for all of them.
        var share = 1.0
        /// Does the work, and tells how many seconds of processor time it took.
        let seconds: () throws -> Double

        private init(_ name: String, _ seconds: @escaping () throws -> Double) {
            self.name = name
            self.seconds = seconds
        }

        /// What is measured elsewhere.
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

    /// Takes turns, so that what else the machine does meets all alike, and counts the best turn of each.
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
