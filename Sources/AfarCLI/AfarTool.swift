import Afar
import ArgumentParser

#if !Tool
    #error("The afar tool requires the package trait Tool. Build it with make, or pass --enable-all-traits.")
#endif

/// The root command, `afar`.
@main
struct AfarTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "afar",
        abstract: "HTTP from the command line, built on the Afar networking library.",
        discussion: """
            On a terminal, output is colored and JSON is indented. A pipe receives the body's exact bytes. A URL \
            without a scheme uses https, or http on this machine: "localhost:8080/x", or just ":8080/x".

            \(CommandConfiguration.section([
                "afar get example.com",
                "afar get :8080/get --query q=swift -i",
                "afar :8080/post name=Ada age:=36",
                "afar put :8080/put --raw @note.txt -H 'Content-Type: text/markdown'",
                "afar xml example.com/feed.xml --xpath 'count(//item)'",
                "afar image example.com/photo.jpg --resize 320x --output thumb.webp",
                "afar download example.com/archive.tar.gz",
                "afar upload :8080/upload --file archive.tar.gz",
                "afar get example.com --timing --verbose > page.html",
                "afar :8080/post name=Ada --curl",
                "afar reach --watch",
                "afar trust example.com",
                "afar serve --port 8080",
                "afar demo",
            ]))

            TOPICS (afar help TOPIC):
            \(GuideTopic.list)

            EXIT CODES:
            \(ExitReason.table)

            For the manual, run "man afar". For shell completions, run afar --generate-completion-script bash, zsh or fish.
            """,
        version: versionText,
        subcommands: [
            RequestCommand<AnyRequest>.self, RequestCommand<Get>.self, RequestCommand<Head>.self,
            RequestCommand<Post>.self, RequestCommand<Put>.self, RequestCommand<Patch>.self,
            RequestCommand<Delete>.self, CurlCommandLine.self, ShowXML.self, ShowImage.self,
            Download.self, Upload.self, OpenWebSocket.self, Connect.self, Reach.self, Trust.self, Cache.self,
            Serve.self, Bench.self, Diff.self, Demo.self,
        ],
        defaultSubcommand: RequestCommand<AnyRequest>.self)

    /// Runs the tool and exits. This method replaces ArgumentParser's `main()` to return the exit codes of ``ExitReason``
    /// and print one-line errors.
    static func main() async {
        // If the reader closes the pipe, as "| head" does, writes fail instead of terminating the process.
        signal(SIGPIPE, SIG_IGN)
        StandardOutput.reserveStandardStreams()
        var failure: (any Error)?
        do { try await run(Array(CommandLine.arguments.dropFirst())) } catch { failure = error }
        UnretriedRequest.report()
        let status = failure.map { self.status(after: $0) } ?? .success
        let outcome = UnsavedFiles.save(after: .completed(status, failure))
        if case .interrupted(let signal) = outcome.ending { Interruption.terminate(by: signal) }
        (outcome.isSaved ? status : .other).exit()
    }

    /// The names of all commands. Each configuration sets its command's name, because deriving the names from the types
    /// takes a millisecond.
    static let commandNames = configuration.subcommands.map { $0._commandName }

    private static let versionText = "afar \(AFInfo.version)"

    private static func run(_ arguments: [String]) async throws {
        // The parser needs several milliseconds to examine all options.
        if arguments == ["--version"] { return try StandardOutput.write(versionText + "\n") }
        let style = Style(.auto, output: .standardOutput)
        if let text = try GuideTopic.text(for: arguments, commands: commandNames, style: style) {
            return try Pager().write(Data(text.utf8))
        }
        try MisplacedWords.checkValues(in: arguments)
        try await run(command(for: arguments))
    }

    static func run(_ command: any ParsableCommand) async throws {
        if command is any RequestSending { await Interruption.endOnSignals() }
        Messages.apply(command)
        try ReportFile.open(for: command)
        if var command = command as? any AsyncParsableCommand {
            try await command.run()
        } else {
            var command = command
            try command.run()
        }
    }

    /// Returns the command of a command line.
    private static func command(for arguments: [String]) throws -> any ParsableCommand {
        guard !arguments.isEmpty else {
            StandardError.write(helpMessage() + "\n")
            throw Failure(.usage, "")
        }
        return try DefaultOptions.command(for: arguments, parse)
    }

    static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        do {
            return try parseAsRoot(arguments)
        } catch {
            // Finding out about all options takes a while, so it is done only after an error.
            guard arguments.contains(where: { $0.prefixMatch(of: /-[A-Za-z0-9].|---|--$/) != nil }) else { throw error }
            let joined = CommandOption.joiningValues(in: arguments)
            guard joined != arguments else { throw error }
            return try parseAsRoot(joined)
        }
    }

    /// Reports an error and returns the exit code.
    private static func status(after error: any Error) -> ExitReason {
        if error is StandardOutput.Closed { return .success }
        if let failure = error as? Failure { return failure.reported() }
        // The parser describes all options to create any text about an error, which takes a while. Therefore, ask for only one text.
        let text = fullMessage(for: error)
        if let failure = Failure(parserText: text, arguments: CommandLine.arguments, commands: commandNames) {
            return failure.reported()
        }
        // ArgumentParser also throws for --help and --version.
        do {
            let text = ShortHelp.text(for: text, arguments: CommandLine.arguments.dropFirst())
            try StandardOutput.write(CompletionScript.completing(text, commands: commandNames) + "\n")
        } catch let failure as Failure {
            return failure.reported()
        } catch {}
        return .success
    }
}

extension CommandConfiguration {
    /// Creates a configuration whose help ends with examples, one per line.
    init(
        commandName: String, abstract: String, usage: String? = nil, discussion: String = "", examples: [String],
        subcommands: [any ParsableCommand.Type] = []
    ) {
        self.init(
            commandName: commandName, abstract: abstract, usage: usage,
            discussion: (discussion.isEmpty ? "" : discussion + "\n\n") + Self.section(examples),
            subcommands: subcommands)
    }

    /// Returns the examples section of a help text.
    static func section(_ examples: [String]) -> String {
        "EXAMPLES:\n" + examples.map { "  \($0)" }.joined(separator: "\n")
    }
}
