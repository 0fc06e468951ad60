import ArgumentParser
import Foundation
import Testing

@testable import AfarCLI

struct ManualTests {
    private func formatted() async throws -> Tool.Outcome {
        try await Tool.sh("groff -mdoc -Tutf8 -ww -P-cbou '\(Pages.manual.path)'")
    }

    @Test func theFormatterReportsNoWarnings() async throws {
        let outcome = try await formatted()
        #expect(outcome.status == 0)
        #expect(outcome.errors == "")
        #expect(outcome.text.contains("afar — HTTP from the command line"))
    }

    @Test func optionsAndCommandsAreThoseOfTheHelp() async throws {
        let manual = try await formatted().text
        let commands = AfarTool.configuration.subcommands
        let help = commands.map { $0.helpMessage() }.joined() + AfarTool.helpMessage()
        func options(_ text: String) -> Set<String> {
            // The formatter also breaks lines at hyphens.
            let text = text.replacing(/-\n +/, with: "-")
            return Set(text.matches(of: /--[a-z][a-z\-]+/).map { String($0.output) })
        }
        #expect(options(manual) == options(help))
        for command in commands { #expect(manual.contains("\n     \(command._commandName)")) }
    }

    @Test func theManualHasEveryExitCode() async throws {
        // The formatter breaks lines between words, at hyphens, and inside words, where it inserts U+2010.
        let text = try await formatted().text.filter { !$0.isWhitespace && $0 != "\u{2010}" }
        for reason in ExitReason.allCases {
            #expect(text.contains("\(reason.rawValue)\(reason.meaning.filter { !$0.isWhitespace })"))
        }
    }
}
