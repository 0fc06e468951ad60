import AfarTestServer
import Foundation
import Testing

@testable import AfarCLI

/// Runs the examples in Docs/Command-Line.md.
struct GuideTests {
    /// A command and its expected output.
    private struct Step {
        var command: String
        var output: [String] = []
    }

    private static func steps(_ block: [String]) -> [Step] {
        block.reduce(into: []) { steps, line in
            if line.hasPrefix("$ ") {
                steps.append(Step(command: String(line.dropFirst(2))))
            } else if !steps.isEmpty {
                steps[steps.count - 1].output.append(line)
            }
        }
    }

    @Test(arguments: try Pages.blocks(of: "console", in: Pages.guide))
    func examplesMatchTheGuide(block: [String]) async throws {
        let server = try await TestServer.start()
        let port = try #require(server.url.port)
        let directory = try ScratchDirectory()
        let steps = Self.steps(block)
        #expect(!steps.isEmpty)
        for step in steps {
            func here(_ text: String) -> String { text.replacing(":8080", with: ":\(port)") }
            let folder = try Tool.url().deletingLastPathComponent().path
            let outcome = try await Tool.bash(
                "PATH='\(folder)':$PATH; cd '\(directory.url.path)'; \(here(step.command))",
                environment: ["XDG_CONFIG_HOME": directory.url.path, "XDG_DATA_HOME": directory.url.path])
            let lines = (outcome.errors + outcome.text).trimmingCharacters(in: .newlines)
            #expect(lines == step.output.map(here).joined(separator: "\n"), "\(step.command)")
        }
    }

    @Test func theGuideHasEveryExitCode() throws {
        let text = try Pages.text(Pages.guide)
        for reason in ExitReason.allCases { #expect(text.contains("| \(reason.rawValue) | \(reason.meaning) |")) }
    }
}
