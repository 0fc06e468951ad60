import Foundation
import Measurement

/// Compares serializers with other implementations of the same work and prints the results. The implementations take
/// turns.
///
/// Arguments select comparisons by words of their titles (`SerializerBench XML decode`). `--rounds 20` sets the number
/// of turns, of which the best one counts. `--entry XMLDecoder` runs only implementations whose name contains this
/// word, for a profiler. `SerializerBench memory 1024` prints the peak memory while a stream of 1,024 MiB of XML is
/// decoded.
@main struct SerializerBench {
    static func main() throws {
        var words = Array(CommandLine.arguments.dropFirst())
        func takeOption(_ name: String) -> String? {
            guard let index = words.firstIndex(of: name), index + 1 < words.count else { return nil }
            defer { words.removeSubrange(index...index + 1) }
            return words[index + 1]
        }
        if words.first == "memory" {
            try StreamedMemory(mebibytes: words.dropFirst().first.flatMap { Int($0) } ?? 1024).measure()
            return
        }
        let rounds = takeOption("--rounds").flatMap { Int($0) } ?? 7
        let entry = takeOption("--entry")
        for contest in try Contest.xml() + Contest.text() + Contest.json()
        where words.allSatisfy(contest.title.contains) {
            print("\n\(contest.title)\n\(contest.table(rounds: rounds, of: entry).text)")
        }
    }
}
