import AfarTestServer
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

    /// The examples with the local server. The others name hosts on the internet.
    private static let localExamples = examples.filter { $0.contains(":8080") && !$0.contains("afar serve") }

    @Test(.timeLimit(.minutes(10)), arguments: localExamples)
    func localExamplesWorkWithTheTestServer(line: String) async throws {
        let server = try await TestServer.start()
        let directory = try ScratchDirectory()
        for name in ["note.txt", "archive.tar.gz", "ada.png", "a.png"] { try directory.write("a note", to: name) }
        try FileManager.default.createDirectory(
            at: directory.url.appending(path: "reports"), withIntermediateDirectories: true)
        let folder = try Tool.url().deletingLastPathComponent().path
        var command = line.contains("@recorded.har") ? "afar :8080/json --har recorded.har > har.txt; \(line)" : line
        // A few requests are enough.
        command = command.replacing(/\s-[zn] \d+s?/, with: "").replacing("afar bench", with: "afar bench -n 5")
        command = command.replacing(/:808[01]/, with: ":\(server.url.port ?? 0)")
        let outcome = try await Tool.bash(
            "set -o pipefail; PATH='\(folder)':$PATH; \(command)",
            environment: ["XDG_CONFIG_HOME": directory.url.path], directory: directory.url)
        #expect(outcome.status == 0, "\(outcome.errors)")
        for text in ["nothing at ", "not allowed here"] { #expect(!outcome.text.contains(text), "\(outcome.text)") }
    }

    @Test func theRoutesOfTheGuideExist() async throws {
        let server = try await TestServer.start()
        let page = try Pages.text(Pages.guide)
        let paths = Set(
            page.matches(of: /`(?:afar|http|curl)[^`|]* (?:localhost)?:8080(\/[a-z0-9\/?=&\-]+)/).map {
                String($0.output.1)
            })
        #expect(paths.count > 10)
        for path in paths {
            let outcome = try await Tool.run("get", server.url(path).absoluteString)
            #expect(!outcome.text.contains("nothing at "), "\(path)")
        }
    }

    @Test func theShortHelpHasTheMostUsedOptions() async throws {
        for arguments in [["-h"], ["get", "-h"], ["post", "-h"], ["download", "-h"], ["bench", "-h"]] {
            let text = try await Tool.run(arguments).text
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect((15...65).contains(lines.count), "\(text)")
            #expect(text.contains("USAGE: afar") && text.contains("--help"))
            for line in lines { #expect(line.count <= 80, "\(line)") }
        }
        let text = try await Tool.run("-h").text
        for name in ["-H, --header", "-d, --data", "--offline", "-w, --write-out", "image, download"] {
            #expect(text.contains(name), "\(text)")
        }
        #expect(!text.contains("--keylog"))
        #expect(try await Tool.run("get", "--help").text.contains("--keylog"))
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
                "EXAMPLES:", "ARGUMENTS:", "METHOD:", "REQUEST:", "BODY (ONE KIND AT MOST):", "OUTPUT:", "FILE:",
                "LOOKING INSIDE:", "TRUST AND IDENTITY:", "NETWORK:", "STREAMING:", "ARCHIVES AND REPORTS:",
                "OPTIONS:",
            ])
    }
}
