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
            shell: $NAME, pipes and redirections inside the quotes are errors. Options that have no effect are listed on the \
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
            var request = try AfarTool.parseAsRoot(["request"] + command)
            if var request = request as? any AsyncParsableCommand {
                try await request.run()
            } else {
                try request.run()
            }
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

// MARK: - Options of curl in other commands

extension CurlOption {
    /// The options of `afar` with the meaning of curl's options that have another name.
    private static let equivalents = [
        "anyauth": "--user NAME", "basic": "--auth basic", "data-ascii": "--data", "data-binary": "--raw @FILE",
        "data-urlencode": "--form NAME=VALUE",
        "digest": "--auth digest", "dump-header": "-i", "fail-with-body": "--check-status", "form": "-F",
        "form-string": "-F",
        "http1.1": "--http 1.1", "http2": "--http 2", "http3": "--http 3", "http3-only": "--http 3",
        "max-redirs": "--max-redirects", "max-time": "--timeout", "alpn": "--http 1.1", "negotiate": "--auth negotiate",
        "noproxy": "--proxy none", "ntlm": "--auth ntlm", "ntlm-wb": "--auth ntlm", "oauth2-bearer": "--bearer",
        "location": "--follow",
        "pinnedpubkey": "--pin", "range": "-H 'Range: bytes=0-99'", "referer": "-H 'Referer: URL'",
        "remote-header-name": "afar download",
        "request": "--method", "resolve": "--connect-to HOST:PORT:ADDRESS:PORT", "socks5": "--proxy socks5://HOST:PORT",
        "socks5-hostname": "--proxy socks5h://HOST:PORT", "time-cond": "-H 'If-Modified-Since: DATE'",
        "tlsv1.3": "--tls-min 1.3",
        "upload-file": "--method PUT --raw @FILE", "url": "the URL without an option", "url-query": "NAME==VALUE",
        "buffer": "--stream",
        "write-out": "--timing, -i or --har FILE", "create-dirs": "mkdir -p", "output-dir": "--output FOLDER/NAME",
        "proxy-user": "--proxy http://NAME:PASSWORD@HOST:PORT", "netrc-optional": "--netrc",
    ]

    /// Explains what to write instead of an option of curl that `afar` doesn't have; nil if curl doesn't have it either.
    static func advice(for name: String) -> String? {
        let option: CurlOption?
        if name.hasPrefix("--") {
            guard case .option(let found, _) = CurlOption.named(long: String(name.dropFirst(2))) else { return nil }
            option = found
        } else {
            option = name.dropFirst().first.flatMap { CurlOption.named($0) }
        }
        guard let option else { return nil }
        if let equivalent = equivalents[option.name] {
            return "\(name) is an option of curl. In afar, it is: \(equivalent)"
        }
        if let reason = ignored[option.name] { return "\(name) is an option of curl. Leave it out: \(reason)." }
        if let reason = refused[option.name] {
            return "\(name) is an option of curl, which afar doesn't have: \(reason)."
        }
        return "\(name) is an option of curl. To use it, write \"afar curl\"."
    }
}
