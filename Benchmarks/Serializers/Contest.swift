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
        let work: () throws -> Void
    }

    /// Takes turns, so that what else the machine does meets all alike, and counts the best turn of each.
    func table(rounds: Int, of name: String?) -> Table {
        let entries = entries.filter { entry in name.map(entry.name.contains) ?? true }
        var best = entries.map { _ in Double.infinity }
        for _ in 0..<rounds {
            for (index, entry) in entries.enumerated() {
                let start = Usage.now.cpuSeconds
                do { try entry.work() } catch { fatalError("\(title), \(entry.name): \(error)") }
                best[index] = min(best[index], (Usage.now.cpuSeconds - start) / entry.share)
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
