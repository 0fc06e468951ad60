import Afar
import ArgumentParser
import Foundation

/// Runs the equivalent of a curl command.
struct CurlCommandLine: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "curl",
        abstract: "Run a curl command, such as one that was copied from a browser.",
        usage: "afar curl [--explain] <curl arguments or command>",
        discussion: """
            Write afar before a curl command, paste the command in quotes, or pipe it to "afar curl -". Nothing is run by a \
            shell: $NAME, pipes and redirections inside the quotes are errors. Options whose effect is lost are listed on the \
            standard error stream. If an option can't be translated, nothing is sent, and the exit code is 2.
            """,
        examples: [
            "afar curl -sSL -H 'Accept: text/plain' https://example.com",
            "afar curl \"curl -d a=1 https://example.com\"",
            "afar curl - < command.txt",
            "afar curl --explain -d name=Ada https://example.com",
        ])

    @Flag(help: "Print the equivalent afar command instead of sending the request. Must come first.")
    var explain = false

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("The arguments of curl, a whole command, or - to read one.", valueName: "command"))
    var words: [String] = []

    func run() async throws {
        if words == ["--help"] || words == ["-h"] { throw CleanExit.helpRequest(Self.self) }
        let translation = try translation()
        for text in translation.ignored { StandardError.write("afar: ignored: \(Redaction.standard.line(text))\n") }
        guard translation.problems.isEmpty else {
            var failure = Failure(.usage, "This curl command can't be run:")
            failure.excerpt = translation.problems.map { "  \(Redaction.standard.line($0))\n" }.joined()
            throw failure
        }
        if explain {
            for command in translation.commands {
                try StandardOutput.write((["afar"] + command).map(ShellWord.quoted).joined(separator: " ") + "\n")
            }
            return
        }
        for command in translation.commands {
            try await AfarTool.run(AfarTool.parse(["request"] + command))
        }
    }

    private func translation() throws -> CurlTranslation {
        guard !words.isEmpty else {
            throw Failure(.usage, "The curl command is missing. Example: afar curl -I https://example.com")
        }
        guard words.count == 1, words[0] == "-" || words[0].contains(where: \.isWhitespace) else {
            return CurlTranslation(arguments: words, read: Self.contents)
        }
        var text = words[0]
        if text == "-" { text = String(decoding: try Self.contents(of: "-"), as: UTF8.self) }
        return CurlTranslation(command: text, read: Self.contents)
    }

    /// Returns the contents of a file, or the standard input for "-".
    private static func contents(of path: String) throws -> Data {
        path == "-"
            ? try FileHandle.standardInput.readToEnd() ?? Data()
            : try Data(contentsOf: URL(filePath: path))
    }
}
