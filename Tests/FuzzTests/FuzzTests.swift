import Foundation
import Testing

@testable import AfarFuzz

/// A short version of `make fuzz`.
@Suite(.serialized) struct FuzzTests {
    @Test(arguments: Subject.all) func parsersOfUntrustedInputKeepTheirInvariants(subject: Subject) throws {
        let isText = subject.name.hasPrefix("text-")
        let run = FuzzRun(
            subject: subject, seed: FuzzSettings.seed, count: FuzzSettings.count(else: isText ? 100 : 250),
            file: FuzzSettings.file(of: subject))
        let report = try run.run()
        #expect(report.accepted + report.refused == run.count)
        // The test is useful only if inputs are both accepted and rejected. Some encodings accept every input.
        #expect(isText || report.accepted > 0)
        #expect(isText || subject.name == "html" || report.refused > 0)
    }

    @Test func inputsAreTheSameInEveryRun() throws {
        let subject = try #require(Subject.json.first)
        let inputs = (0..<2).map { _ in
            (0..<50).map { index in
                var random = SeededGenerator(seed: UInt64(index), subject.name.utf8)
                return Mutator(subject).input(&random)
            }
        }
        #expect(inputs[0] == inputs[1])
        #expect(Set(inputs[0]).count > 40)
    }

    @Test func contradictionsAreReportedWithTheirInput() throws {
        let subject = Subject("odd", seeds: ["seed"], tokens: []) { (input, _) throws(Contradiction) in
            try Contradiction.check(input, Data("seed".utf8), "bytes")
            return true
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "afar-fuzz-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let run = FuzzRun(subject: subject, seed: 1, count: 1_000, file: file)
        let failure = #expect(throws: FuzzRun.Failure.self) { _ = try run.run() }
        #expect(failure?.description.contains(file.path) == true)
        let input = try Data(contentsOf: file)
        #expect(throws: Contradiction.self) { _ = try FuzzRun.read(input, with: subject) }
    }
}
