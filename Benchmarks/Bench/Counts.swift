import Foundation
import Measurement
import Servers

/// The work that one request needs in user mode, as counted by callgrind. Other load hardly affects these numbers.
struct Counts: Codable {
    var instructions: Double
    /// The number of calls of malloc and similar functions.
    var allocations: Double
    /// The number of allocations that are Swift objects.
    var objects: Double

    private static let allocators: Set = ["malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"]

    init(instructions: Double = 0, allocations: Double = 0, objects: Double = 0) {
        (self.instructions, self.allocations, self.objects) = (instructions, allocations, objects)
    }

    /// Reads the totals of a run from callgrind's output.
    init(callgrindOutput file: URL) throws {
        self.init()
        // Each function's name appears only once, together with a number in parentheses.
        var names: [Substring: Substring] = [:]
        var callee: Substring = ""
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("fn=") || line.hasPrefix("cfn=") {
                let entry = line[line.index(after: line.firstIndex(of: "=") ?? line.startIndex)...]
                let number = entry.prefix { $0 != " " }
                if number.count < entry.count { names[number] = entry.dropFirst(number.count + 1) }
                // A suffix distinguishes recursive calls.
                callee = (names[number] ?? number).prefix { $0 != "'" }
            } else if line.hasPrefix("calls=") {
                let count = Double(line.dropFirst("calls=".count).prefix { $0 != " " }) ?? 0
                if Self.allocators.contains(String(callee)) { allocations += count }
                if callee == "swift_allocObject" { objects += count }
            } else if line.hasPrefix("totals: ") {
                instructions = Double(line.dropFirst("totals: ".count)) ?? 0
            }
        }
        guard instructions > 0 else { throw Failure("valgrind reported no instruction count") }
    }

    /// Returns the counts per request from two runs of different length. The difference excludes the program's startup and shutdown.
    static func perRequest(_ short: Counts, _ long: Counts, difference: Int) -> Counts {
        let requests = Double(difference)
        return Counts(
            instructions: (long.instructions - short.instructions) / requests,
            allocations: (long.allocations - short.allocations) / requests,
            objects: (long.objects - short.objects) / requests)
    }

    fileprivate var all: [(name: String, value: Double)] {
        [("instructions", instructions), ("allocations", allocations), ("objects", objects)]
    }
}

/// The counts of Afar that must not increase, by workload.
enum CountLimits {
    static let workloads = ["tiny-1", "tiny-64", "tls-1", "json-64"]
    /// The permitted increase. Different processors and versions of system libraries account for about 1 %.
    private static let tolerance = 0.03
    private static let file = Repository.root.appending(path: "Benchmarks/counts.json")

    /// Prints the counts and the limits, and writes the counts as new limits if requested.
    ///
    /// - Throws: A failure that names the counts that exceed their limits.
    static func check(_ counts: [String: Counts], writesLimits: Bool) throws {
        if writesLimits {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try (encoder.encode(counts.mapValues(\.rounded)) + Data("\n".utf8)).write(to: file)
        }
        let limits = try JSONDecoder().decode([String: Counts].self, from: Data(contentsOf: file))
        var rows: [[String]] = []
        var excesses: [String] = []
        for workload in workloads {
            guard let counts = counts[workload], let limits = limits[workload] else {
                throw Failure("\(file.path) has no limits for \(workload); run make counts ARGS=--write")
            }
            for (count, limit) in zip(counts.all, limits.all) {
                rows.append([workload, count.name, count.value.text(decimals: 1), limit.value.text(decimals: 1)])
                if count.value > limit.value * (1 + tolerance) {
                    excesses.append("\(workload): \(count.name)")
                }
            }
        }
        print(Table(columns: ["workload", "count", "per request", "limit"], rows: rows).text)
        guard excesses.isEmpty else {
            throw Failure("more than 3 % above the limit: \(excesses.joined(separator: ", "))")
        }
    }
}

extension Counts {
    /// The counts with one decimal, for the file of limits.
    fileprivate var rounded: Counts {
        func round(_ value: Double) -> Double { (value * 10).rounded() / 10 }
        return Counts(
            instructions: instructions.rounded(), allocations: round(allocations), objects: round(objects))
    }
}
