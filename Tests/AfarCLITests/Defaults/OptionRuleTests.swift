import AfarTestServer
import ArgumentParser
import Foundation
import Testing

@testable import AfarCLI

@Suite(.serialized, .timeLimit(.minutes(10))) struct OptionRuleTests {
    /// The arguments of each name in the rules. The names of commands have none.
    private static let arguments: [String: [String]] = [
        "--netrc": [], "--netrc-file": ["n"], "--user": ["a:b"], "--bearer": ["t"], "--auth": ["basic"],
        "--auth negotiate": [], "--auth ntlm": [], "--transport urlsession": [], "--key": ["k"],
        "--cert with an archive": ["a.p12"], "--no-follow": [], "--max-redirects": ["3"], "--ipv4": [], "--ipv6": [],
        "--session": ["s"], "--session-read-only": ["s"], "--cookie-jar": ["c"], "--cache": ["c"], "--insecure": [],
        "--insecure-host": ["localhost"], "--replay": ["r"], "--record": ["w"], "--curl": [], "--timing": [],
        "--har": ["h"], "--offline": [], "--report": ["p"], "--print": ["hb"], "--headers": [], "--body": [],
        "--output": ["o"], "--remote-name": [], "--stream": [], "--sse": [], "--sse-json": [], "--retry": ["2"],
        "--print without b": ["h"], "--charset": ["utf-8"], "--requests": ["2"], "--duration": ["1s"],
        "--parallel": ["2"], "--resume": [], "--include": [], "--resumable": ["tus"], "--limit-rate": ["1K"],
        "--meta": [], "--write-out": ["%{http_code}"],
    ]

    private static let pairs = OptionRules.conflicts.flatMap { conflict in
        conflict.options.flatMap { option in conflict.others.map { [option, $0] } }
    }

    private static func words(_ name: String) throws -> [String] {
        guard name.hasPrefix("--") else { return [] }
        let parts = name.split(separator: " ").map(String.init)
        let values = try #require(arguments[name], "A rule contains \(name). Add its arguments to the test.")
        return [parts[0]] + (values.isEmpty ? Array(parts.dropFirst().prefix(1)) : values)
    }

    /// Returns a command that has all the options.
    private static func command(_ names: [String]) -> [String] {
        if let name = names.first(where: { !$0.hasPrefix("--") }) {
            return name == "connect"
                ? [name, "localhost", "1"] : [name] + Array(repeating: "x", count: name == "diff" ? 2 : 1)
        }
        if names.contains("--resumable") { return ["upload", "x", "--file", "f"] }
        if names.contains("--parallel") { return ["download", "x"] }
        if names.contains("--requests") { return ["bench", "x"] }
        return ["get", "x"]
    }

    /// Parses a command line. In debug builds, the parser checks the declarations of all subcommands of a root command, which is slow.
    private static func parse(_ words: [String]) throws -> any ParsableCommand {
        let name = try #require(words.first)
        let command = try #require(AfarTool.configuration.subcommands.first { $0._commandName == name })
        return try command.parseAsRoot(Array(words.dropFirst()))
    }

    private static func command(_ words: [String], in file: DefaultsFile) throws -> any ParsableCommand {
        try DefaultOptions.command(for: words, Result { try parse(words) }, in: file, parse)
    }

    @Test(arguments: pairs) func conflictsAreUsageFailures(pair: [String]) throws {
        var words = try Self.command(pair) + pair.flatMap(Self.words)
        if pair.contains("--auth ntlm") { words += ["--user", "a:b"] }
        let error = try #require(throws: (any Error).self) { try Self.parse(words) }
        let message = AfarTool.message(for: error)
        #expect(AfarTool.exitCode(for: error) == .validationFailure)
        for name in pair where name != "connect" {
            #expect(message.contains(name.split(separator: " ")[0]), "\(words): \(message)")
        }
    }

    /// The other tests use the rules' own lists, in which a missing rule isn't noticed.
    @Test(arguments: [
        ("--session", "--session-read-only"), ("--session", "--cookie-jar"), ("--record", "--replay"),
        ("--cache", "--insecure"), ("--retry", "--stream"), ("--retry", "--sse"), ("--netrc", "--bearer"),
        ("--user", "--bearer"), ("--print without b", "--stream"), ("--offline", "--curl"), ("--output", "--sse"),
        ("--no-follow", "--max-redirects"), ("--output", "--remote-name"), ("--write-out", "--curl"),
        ("--output", "--offline"), ("--remote-name", "--offline"),
    ])
    func optionsThatExcludeEachOtherHaveARule(first: String, second: String) {
        #expect(OptionRules.conflict(between: [first], and: [second]) != nil)
        #expect(OptionRules.conflict(between: [second], and: [first]) != nil)
        #expect(throws: (any Error).self) { try OptionRules.check([first, second]) }
    }

    /// One pair for each rule, because parsing is slow in debug builds.
    private static let examples = OptionRules.conflicts.map { [$0.options[0], $0.others[0]] }

    @Test(arguments: examples + examples.map { $0.reversed() })
    func theCommandLineReplacesADefault(pair: [String]) throws {
        let (entry, own) = (try Self.words(pair[0]), try Self.words(pair[1]))
        // Credentials and unsafe options can't be defaults, and the last example has no configuration.
        let ignored = ["--user", "--bearer", "--insecure", "--insecure-host"]
        guard let option = entry.first, !ignored.contains(option), pair[1] != "connect" else { return }
        let text = entry.joined(separator: " ")
        var words = Self.command([pair[1], pair[0]]) + own
        // These options require others.
        if pair[1] == "--key" { words += ["--cert", "a.pem"] }
        if ["--auth", "--auth ntlm"].contains(pair[1]) { words += ["--user", "a:b"] }
        let expected = try #require(Self.parse(words) as? any RequestSending)
        let file = try DefaultsFile(path: "config", text: text)
        let command = try Self.command(words, in: file)
        let result = try #require(command as? any RequestSending)
        #expect(result.given.isSuperset(of: expected.given), "\(text): \(words)")
        #expect(!result.given.contains(pair[0]) || pair[0].contains(" "), "\(text): \(words)")
    }

    /// The parser would use the next argument as the value.
    @Test func aDefaultCanBeEmpty() throws {
        let file = try DefaultsFile(path: "config", text: "--charset=utf-8\n--proxy ''")
        let command = try #require(try Self.command(["get", "x"], in: file) as? RequestCommand<Get>)
        #expect(command.network.proxy?.isEmpty == true && command.target.words == ["x"])
    }

    @Test(arguments: [
        ("--retry-delay 2", ["get", "x", "--retry", "1"], "--retry-delay", true),
        ("--retry-delay 2", ["get", "x"], "--retry-delay", false),
        ("--retry 2\n--retry-delay 2", ["bench", "x"], "--retry-delay", false),
        ("--retry 2", ["get", "x", "--retry-delay", "1"], "--retry", true),
        ("--retry 2", ["get", "x", "--stream", "-o", "f"], "--retry", true),
        ("--retry 2", ["get", "x", "--stream", "--offline"], "--retry", true),
        ("--retry 2", ["get", "x", "--sse", "--offline"], "--retry", false),
        ("--cert a.pem\n--key a.key", ["get", "x"], "--key", true),
        ("--cert a.pem\n--key a.key", ["get", "x", "--cert", "b.pem"], "--key", false),
        ("--cert a.pem", ["get", "x", "--key", "b.key"], "--cert", true),
        ("--auth digest", ["get", "x"], "--auth", false), ("--auth digest", ["get", "x", "-u", "a:b"], "--auth", true),
        ("--har same", ["get", "x", "--record", "same"], "--har", false),
        ("--timing", ["get", "x", "--offline"], "--timing", false), ("-i", ["get", "x"], "--include", true),
    ])
    func defaultsApplyUnlessTheyConflict(text: String, words: [String], option: String, applies: Bool) throws {
        let file = try DefaultsFile(path: "config", text: text)
        let command = try Self.command(words, in: file)
        #expect(try #require(command as? any RequestSending).given.contains(option) == applies)
    }
}
