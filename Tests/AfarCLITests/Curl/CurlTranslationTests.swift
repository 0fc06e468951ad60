import AfarCore
import Foundation
import Testing

@testable import AfarCLI

struct CurlTranslationTests {
    private static func translate(_ command: String) -> CurlTranslation {
        CurlTranslation(command: command) { Data("text of \($0)".utf8) }
    }

    private func expect(_ command: PastedCommand, location: SourceLocation = #_sourceLocation) {
        let translation = Self.translate(command.curl)
        #expect(translation.problems == [], sourceLocation: location)
        let lines = translation.commands.map { $0.map(ShellWord.quoted).joined(separator: " ") }
        #expect(lines == [command.afar], sourceLocation: location)
    }

    @Test(arguments: PastedCommand.fromTools) func commandsOfBrowsersAndTools(command: PastedCommand) {
        expect(command)
    }

    @Test(arguments: PastedCommand.fromDocumentation) func commandsOfDocumentation(command: PastedCommand) {
        expect(command)
    }

    @Test(arguments: PastedCommand.withData) func commandsWithData(command: PastedCommand) { expect(command) }

    @Test(arguments: PastedCommand.withNetwork) func commandsWithNetworkOptions(command: PastedCommand) {
        expect(command)
    }

    @Test func severalURLsBecomeSeveralCommands() {
        let commands = Self.translate("curl -o 1 a.example -o 2 b.example c.example --url d.example").commands
        #expect(
            commands == [
                ["http://a.example", "--no-follow", "-o", "1"], ["http://b.example", "--no-follow", "-o", "2"],
                ["http://c.example", "--no-follow"], ["http://d.example", "--no-follow"],
            ])
    }

    @Test func optionsWhoseEffectIsLostAreListedWithReasons() {
        let translation = Self.translate(
            "curl -# --no-sessionid --no-xattr --tr-encoding -H 'Expect: 100-continue' x.example")
        #expect(translation.commands == [["http://x.example", "--no-follow"]])
        #expect(
            translation.ignored.map { $0.prefix { $0 != ":" } } == [
                "-#", "--no-sessionid", "--tr-encoding", "-H 'Expect'",
            ])
    }

    @Test(arguments: [
        "-sSL", "--compressed", "-q", "--no-keepalive", "--tcp-nodelay", "--tlsv1.2", "--clobber",
        "--no-progress-meter",
        "--ssl-no-revoke", "--retry-connrefused", "-G", "--ftp-pasv", "-H Expect:", "-H Accept:", "-H no-colon",
        "-c jar", "-i", "-i -o -", "-I -o /dev/null", "-L -X GET -d a", "-X POST -d a",
        "--max-redirs 3", "--proto-redir =https", "--resolve -x.example:80", "--no-location-trusted", "-m 0",
    ])
    func optionsWithoutAnEffectAreQuiet(options: String) {
        let translation = Self.translate("curl \(options) x.example")
        #expect(translation.commands.count == 1 && translation.ignored == [], "\(translation)")
    }

    @Test(arguments: [
        ("-i -o file", "-i with a file"), ("-IO", "-I with a file"), ("--include --remote-name-all", "--include with"),
        ("-L -X POST -d a=1", "-X with -L"), ("--location --request DELETE", "--request with -L"),
    ])
    func differencesOfCombinedOptionsAreNamed(options: String, part: String) {
        let translation = Self.translate("curl \(options) x.example/a")
        #expect(translation.commands.count == 1 && translation.ignored.count == 1, "\(translation)")
        #expect(translation.ignored.first?.hasPrefix(part) == true, "\(translation)")
    }

    @Test func partlyEscapedQuotesAreRefused() {
        let translation = Self.translate(#"curl "http://x.example/" ^ --data-raw "{^\^"a^\^":1}""#)
        #expect(translation.problems.count == 1 && translation.problems[0].contains("cURL (bash)"), "\(translation)")
    }

    @Test func allProblemsAreListed() {
        let translation = Self.translate(
            "curl --location-trusted -K file --next --ftp-pasv --bogus=1 -C - --no-clobber -w '%{certs}' 'x.example/[1-3]' ftp://a"
        )
        #expect(translation.commands.isEmpty)
        for name in ["--location-trusted", "-K", "--next", "--bogus", "-C", "--no-clobber", "-w"] {
            #expect(translation.problems.contains { $0.hasPrefix(name) }, "\(name): \(translation.problems)")
        }
    }

    @Test(arguments: [
        ("x.example/[1-3]", "[1-3]"), ("x.example/{a,b}", "{a,b}"), ("ftp://x.example", "ftp"),
        ("ws://x.example", "afar ws"),
        ("file:///etc/passwd", "file"),
    ])
    func someURLsAreRefused(url: String, part: String) {
        let problems = Self.translate("curl '\(url)'").problems
        #expect(problems.count == 1 && problems[0].contains(part), "\(problems)")
    }

    /// Each option of curl is translated, ignored with a reason, or refused with a reason.
    @Test func everyOptionIsClassified() async throws {
        let names = CurlOption.all.map(\.name)
        #expect(names.count > 250)
        for name in names where name != "url" {
            let kinds = [
                CurlRequest.translated.contains(name), CurlOption.unneeded[name] != nil,
                CurlOption.ignored[name] != nil, CurlOption.refused[name] != nil,
            ]
            #expect(kinds.filter(\.self).count == 1, "\(name)")
        }
        let tables = [CurlOption.unneeded, CurlOption.ignored, CurlOption.refused]
        for name in CurlRequest.translated.union(tables.flatMap(\.keys)) { #expect(names.contains(name), "\(name)") }
    }

    /// Compares the names and arities with those of the installed curl.
    @Test func theOptionsAreThoseOfCurl() async throws {
        let help = try await Tool.sh("curl --help all").text
        let lines = help.split(separator: "\n").dropFirst()
        #expect(lines.count > 200)
        for line in lines {
            let match = try #require(line.firstMatch(of: /^ *(?:-(.), +)?--(\S+) +(<|\[)?/), "\(line)")
            let name = match.output.2.hasPrefix("no-") ? match.output.2.dropFirst(3) : match.output.2
            let option = try #require(CurlOption.all.first { $0.name == name }, "\(line)")
            #expect(option.takesValue == (match.output.3 != nil), "\(line)")
            #expect(option.short == match.output.1?.first, "\(line)")
        }
    }
}
