import Foundation
import Measurement

/// Compares serializers with what does the same work elsewhere, in turns within one run, and shows the figures.
///
/// Arguments choose what is compared by words of the titles (`SerializerBench XML decode`); `--rounds 20` counts the best of
/// so many turns, `--entry XMLDecoder` leaves the others out, for a profiler. `SerializerBench memory 1024` shows the peak
/// memory of a stream of so many mebibytes of XML.
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
