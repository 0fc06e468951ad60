import AfarTestServer
import Foundation
import Testing

@testable import AfarCLI

struct DemoTests {
    @Test func everyStepSucceeds() async throws {
        let outcome = try await Tool.run("demo")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.text.contains("All 6 steps succeeded"))
        #expect(outcome.text.contains("50 responses over"))
        #expect(!outcome.text.contains("\u{1B}"))
        for step in DemoStep.all { #expect(outcome.text.contains(step.code.indented(by: 7))) }
    }

    @Test func colorsDoNotChangeTheText() async throws {
        let outcome = try await Tool.run("demo", "--color", "always")
        let plain = outcome.text.replacing(/\u{1B}\[[0-9]+m/, with: "")
        #expect(outcome.text.contains("\u{1B}[35mlet\u{1B}[0m"))
        for step in DemoStep.all { #expect(plain.contains(step.code.indented(by: 7))) }
    }

    /// The source contains each snippet twice: as the text that is printed, and as the code that runs. The two must
    /// match.
    @Test func snippetsAreTheCodeThatRuns() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/AfarCLI/Commands/DemoSteps.swift").standardized
        let source = try String(contentsOf: file, encoding: .utf8)
        for step in DemoStep.all {
            let asCode = step.code.indented(by: 8)
            let asText = step.code.replacing("\\", with: "\\\\").indented(by: 12)
            #expect(source.contains(asText), "\(step.title)")
            #expect(source.replacing(asText, with: "").contains(asCode), "\(step.title)")
        }
    }

    @Test func aFailedStepIsCountedAndReported() async throws {
        struct StepError: Error, LocalizedError {
            var errorDescription: String? { "something broke" }
        }
        let server = try await TestServer.start()
        var output = ""
        let runner = DemoRunner(style: .plain) { output += $0 }
        let steps = [
            DemoStep("fine", code: "fine()") { _ in "well\ndone" },
            DemoStep("wrong", code: "wrong()") { _ in
                try DemoStep.expect(false, "7")
                return ""
            },
            DemoStep("broken", code: "broken()") { _ in throw StepError() },
        ]
        #expect(try await runner.run(steps, server: server) == 2)
        #expect(output.contains("✓ well\n     done ("))
        #expect(output.contains("✗ Unexpected result: 7\n"))
        #expect(output.contains("✗ something broke\n"))
        #expect(output.contains("2 of 3 steps failed"))
    }

    @Test func aClosedPipeEndsTheDemoQuietly() async throws {
        let outcome = try await Tool.bash("set -o pipefail; \"$afar\" demo | head -n 2")
        #expect(outcome.status == 0)
        #expect(outcome.errors == "")
    }

    @Test func durations() {
        #expect(DemoRunner.text(.microseconds(1200)) == "2 ms")
        #expect(DemoRunner.text(.milliseconds(2340)) == "2.3 s")
    }

    @Test func swiftCodeIsHighlighted() {
        let style = Style(isPretty: true, isColored: true)
        #expect(SwiftCode.painted("let letter", style: style) == "\u{1B}[35mlet\u{1B}[0m letter")
        #expect(
            SwiftCode.painted("\"a let\" 1 // let", style: style).hasPrefix("\u{1B}[32m\"a let\"\u{1B}[0m \u{1B}[33m1"))
        #expect(SwiftCode.painted("\"open", style: style) == "\u{1B}[32m\"open\u{1B}[0m")
        #expect(SwiftCode.painted("let x", style: .plain) == "let x")
    }
}
