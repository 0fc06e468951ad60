import ArgumentParser
import Foundation
import Testing

@testable import AfarCLI

struct TopicTests {
    private static let commands = AfarTool.configuration.subcommands.map { $0._commandName }

    @Test func theGuideIsPartOfTheExecutable() throws {
        #expect(try Data(PackageResources.Command_Line_md) == Data(contentsOf: Pages.guide))
    }

    @Test func everySectionIsATopic() throws {
        let text = try Pages.text(Pages.guide)
        let sections = text.matches(of: /(?m)^## (.+)$/).map { String($0.output.1) }
        let headings = GuideTopic.headings.map(\.value)
        #expect(Set(sections).subtracting(headings) == ["Installation"])
        #expect(Set(GuideTopic.names).isDisjoint(with: Self.commands.filter { $0 != "curl" }))
    }

    @Test(arguments: GuideTopic.names.filter { !commands.contains($0) })
    func topicsAreText(name: String) throws {
        let text = try #require(try GuideTopic.text(for: ["help", name], commands: Self.commands))
        #expect(text.count > 200)
        for line in text.split(separator: "\n") where !line.hasPrefix("    ") { #expect(line.count <= 80, "\(line)") }
        #expect(!text.contains("](") && !text.contains("```"))
    }

    @Test func tasksAreHeadingsWithCommands() throws {
        let text = try #require(try GuideTopic.text(for: ["help", "tasks"], commands: Self.commands))
        #expect(
            text.contains("\n\nFetch a URL\n    afar :8080/get\n    http :8080/get\n    curl localhost:8080/get\n\n"))
        #expect(text.contains("\n    HTTPie: –\n") && text.contains("name=Ada & Co'") && text.contains(" \\\n      "))
        for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
        let style = Style(isPretty: true, isColored: true)
        let colored = try #require(try GuideTopic.text(for: ["help", "tasks"], commands: Self.commands, style: style))
        #expect(colored.contains("\n\u{1B}[1mFetch a URL\u{1B}[0m\n    afar :8080/get\n"))
    }

    @Test(arguments: [
        ("exit", "SCRIPTS AND EXIT CODES"), ("Cookie", "COOKIES AND CACHING"), ("retries", "REDIRECTS AND"),
        ("retry", "REDIRECTS AND"), ("Proxy", "PROXIES,"), ("json", "REQUEST BODIES"), ("timeouts", "REDIRECTS AND"),
        ("secrets", "VERBOSE"), ("errors", "SCRIPTS AND EXIT CODES"), ("httpie", "EVERYDAY TASKS"),
    ])
    func topicsAreFoundByTheirBeginning(word: String, heading: String) throws {
        #expect(try GuideTopic.text(for: ["help", word], commands: Self.commands)?.hasPrefix(heading) == true)
        #expect(throws: Failure.self) { try GuideTopic.text(for: ["help", "re"], commands: Self.commands) }
    }

    @Test func quotedTextIsNotWrapped() {
        let text = "'" + Array(repeating: "it is", count: 15).joined(separator: " \"") + "'"
        let command = TextLayout.wrappedCommand("afar :1 \(text) b=1", indent: "  ")
        #expect(command == "  afar :1 \\\n    \(text) \\\n    b=1")
    }

    @Test func aSectionEndsBeforeTheNext() async throws {
        let outcome = try await Tool.run("help", "downloads")
        #expect(outcome.text.hasPrefix("DOWNLOADS\n\nafar download saves a response"))
        #expect(outcome.text.contains("PARALLEL REQUESTS") && !outcome.text.contains("UPLOADS"))
    }

    @Test func commandsHavePrecedenceAndOtherWordsAreErrors() async throws {
        #expect(try await Tool.run("help", "download").text.contains("USAGE: afar download"))
        #expect(try await Tool.run("help").text.replacing(/\s+/, with: " ").contains("sessions, config"))
        let near = try await Tool.run("help", "itens")
        #expect(near.status == 2 && near.errors.contains(#"Did you mean "afar help items"?"#))
        let other = try await Tool.run("help", "weather")
        #expect(other.status == 2 && other.errors.contains(#""afar help" lists them."#))
    }

    @Test(arguments: [["get", ":1", "--tiemout", "3"], [":1", "--tiemout", "3"]])
    func misspelledOptionsAreSuggested(arguments: [String]) async throws {
        let outcome = try await Tool.run(arguments)
        #expect(outcome.status == 2 && outcome.errors.contains("Did you mean '--timeout'?"), "\(outcome.errors)")
    }
}
