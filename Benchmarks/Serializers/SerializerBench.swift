import Foundation
import Measurement

/// Compares serializers with what does the same work elsewhere, in turns within one run, and shows the figures.
///
/// `SerializerBench` shows all of them, `SerializerBench xml json` some, `SerializerBench memory 1024` the peak memory of a
/// stream of so many mebibytes of XML.
@main struct SerializerBench {
    static func main() throws {
        var arguments = CommandLine.arguments.dropFirst()
        if arguments.first == "memory" {
            try StreamedMemory(mebibytes: arguments.dropFirst().first.flatMap { Int($0) } ?? 1024).measure()
            return
        }
        let rounds = arguments.firstIndex(of: "--rounds").flatMap { index in
            defer { arguments = arguments[..<index] }
            return arguments.dropFirst(index).first.flatMap { Int($0) }
        }
        let all = try Contest.xml() + Contest.text() + Contest.json()
        for contest in all where arguments.isEmpty || arguments.contains(contest.group) {
            print("\n\(contest.title)\n\(contest.table(rounds: rounds ?? 7).text)")
        }
    }
}
