import ArgumentParser
import Foundation
import Testing

@testable import AfarCLI

struct HelpTests {
    private static let helps = [AfarTool.helpMessage()] + AfarTool.configuration.subcommands.map { $0.helpMessage() }

    /// The example command lines in the help texts and guides.
    private static let examples =
        helps.flatMap { help in
            let lines = help.split(separator: "\n").drop { $0 != "EXAMPLES:" }.dropFirst()
            return lines.prefix { $0.hasPrefix("  ") }.map { $0.trimmingCharacters(in: .whitespaces) }
        }
        + ((try? Pages.text(Pages.manual)) ?? "").split(separator: "\n")
        .filter { $0.hasPrefix(".Dl ") }.map { String($0.dropFirst(4)) }

    @Test func everyCommandShowsExamples() {
        for help in Self.helps where !help.contains("USAGE: demo") {
            #expect(help.contains("EXAMPLES:\n  afar "), "\(help)")
        }
        #expect(Self.examples.count > 20)
    }

    @Test(arguments: examples)
    func examplesCanBeParsed(line: String) async throws {
        let directory = try ScratchDirectory()
        try directory.write("a note", to: "note.txt")
        let outcome = try await Tool.sh(
            "afar() { printf '%s\\0' \"$@\" >&2; }; cd '\(directory.url.path)'; \(line)")
        let arguments = outcome.errors.split(separator: "\0").map(String.init)
        #expect(!arguments.isEmpty)
        #expect(throws: Never.self) { try AfarTool.parseAsRoot(arguments) }
    }

    @Test func linesFitIntoATerminal() {
        for help in Self.helps {
            for line in help.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        }
    }

    @Test func optionsAreGrouped() {
        let help = RequestCommand<Post>.helpMessage()
        let titles = help.split(separator: "\n").filter { $0.hasSuffix(":") && !$0.hasPrefix(" ") }
        #expect(
            titles == [
                "EXAMPLES:", "ARGUMENTS:", "METHOD:", "BODY (ONE KIND AT MOST):", "STREAMING:", "REQUEST:",
                "ARCHIVES AND REPORTS:", "NETWORK:", "TRUST AND IDENTITY:", "OUTPUT:", "FILE:", "LOOKING INSIDE:",
                "OPTIONS:",
            ])
    }
}
