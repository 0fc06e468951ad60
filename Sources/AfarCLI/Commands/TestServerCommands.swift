import Afar
import AfarCore
import AfarTestServer
import ArgumentParser

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Run Afar code samples against a local server and show the results.",
        discussion: """
            No traffic leaves this machine: the server runs inside the tool, on a free port of 127.0.0.1. The code shown is \
            the code that runs. If a step fails, the exit code is 70.
            """)

    @Option(help: "Colors. With auto, on terminals unless NO_COLOR is set.")
    var color = ColorChoice.auto

    func run() async throws {
        let server: TestServer
        do {
            server = try await TestServer.start()
        } catch {
            throw Failure(.other, "The demo's server could not start: \(error).")
        }
        let runner = DemoRunner(style: Style(color, output: .standardOutput)) { try StandardOutput.write($0) }
        let failed = try await runner.run(DemoStep.all, server: server)
        await server.stop()
        guard failed == 0 else {
            throw Failure(.other, "\(failed) of \(DemoStep.all.count) steps failed. See above.")
        }
    }
}

/// Runs steps and prints each one as soon as it's done.
struct DemoRunner {
    let style: Style
    let write: (String) throws -> Void

    /// Runs the steps and returns the number of steps that failed.
    func run(_ steps: [DemoStep], server: TestServer) async throws -> Int {
        try write(
            """

            \(style.paint("Afar \(AFInfo.version)", .bold)), a demo in \(steps.count) steps.
            A server inside this process listens at \(style.paint(server.url.absoluteString, .cyan)).


            """)
        var failed = 0
        let start = ContinuousClock.now
        for (index, step) in steps.enumerated() {
            try write("\(style.paint("\(index + 1). \(step.title)", .bold))\n\n")
            try write(SwiftCode.painted(step.code, style: style).indented(by: 7) + "\n\n")
            let (text, isExpected) = await outcome(of: step, server: server)
            if !isExpected { failed += 1 }
            let mark = isExpected ? style.paint("✓", .green) : style.paint("✗", .red)
            try write("   \(mark) \(text)\n\n\n")
        }
        let time = Self.text(ContinuousClock.now - start)
        try write(
            failed == 0
                ? "\(style.paint("All \(steps.count) steps succeeded", .green)), in \(time).\n"
                : "\(style.paint("\(failed) of \(steps.count) steps failed", .red)), in \(time).\n")
        return failed
    }

    private func outcome(of step: DemoStep, server: TestServer) async -> (text: String, isExpected: Bool) {
        let start = ContinuousClock.now
        do {
            let result = try await step.run(server)
            let time = style.paint("(\(Self.text(ContinuousClock.now - start)))", .dim)
            return ("\(result.indented(by: 5).drop { $0 == " " }) \(time)", true)
        } catch let unexpected as DemoStep.Unexpected {
            return ("Unexpected result: \(TerminalText.line(unexpected.result))", false)
        } catch {
            return (TerminalText.line(error.localizedDescription), false)
        }
    }

    static func text(_ duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        return milliseconds < 1000
            ? String(format: "%.0f ms", milliseconds.rounded(.up)) : String(format: "%.1f s", milliseconds / 1000)
    }
}

/// Colors Swift code: keywords, types, strings, numbers and comments.
enum SwiftCode {
    static func painted(_ code: String, style: Style) -> String {
        guard style.isColored else { return code }
        var rest = code[...]
        var output = ""
        while let first = rest.first {
            let token = token(at: rest, startingWith: first)
            output += paint(for: token).map { style.paint(token, $0) } ?? String(token)
            rest = rest[token.endIndex...]
        }
        return output
    }

    private static func token(at rest: Substring, startingWith first: Character) -> Substring {
        if rest.hasPrefix("//") { return rest.prefix { !$0.isNewline } }
        if first == "\"" {
            let end = rest.dropFirst().firstIndex { $0 == "\"" || $0.isNewline }
            return end.map { rest[...$0] } ?? rest
        }
        if isWordCharacter(first) { return rest.prefix(while: isWordCharacter) }
        return rest.prefix(1)
    }

    private static func isWordCharacter(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }

    private static func paint(for token: Substring) -> Style.Paint? {
        guard let first = token.first else { return nil }
        if token.hasPrefix("//") { return .dim }
        if first == "\"" { return .green }
        if first.isNumber { return .yellow }
        if keywords.contains(token) { return .magenta }
        return first.isUppercase ? .cyan : nil
    }

    private static let keywords: Set<Substring> = [
        "await", "case", "else", "false", "for", "func", "guard", "if", "in", "let", "nil", "of", "return", "self",
        "struct", "true", "try", "var",
    ]
}

extension String {
    /// Returns the text with every line indented, except empty ones.
    ///
    /// - Parameter count: The number of spaces to add.
    func indented(by count: Int) -> String {
        let space = String(repeating: " ", count: count)
        return split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "" : space + $0 }
            .joined(separator: "\n")
    }
}

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Start a test server that echoes, redirects, delays, streams and fails on request.",
        discussion: """
            The server listens on 127.0.0.1 only, prints its address and endpoints, and runs until interrupted. It has no \
            endpoint for WebSockets.
            """,
        examples: ["afar serve --port 8080", "afar get :8080/delay/2"])

    @Option(help: ArgumentHelp("The port; 0 for a free one.", valueName: "number"))
    var port: UInt16 = 0

    func run() async throws {
        let interruption = await Interruption()
        let server: TestServer
        do {
            server = try await TestServer.start(port: port)
        } catch {
            throw Failure(.other, "The server could not start on port \(port): \(error).")
        }
        let width = TestServer.endpoints.map(\.pattern.count).max() ?? 0
        let offers = TestServer.endpoints.map { endpoint in
            "  \(endpoint.pattern)\(String(repeating: " ", count: width - endpoint.pattern.count))  \(endpoint.summary)\n"
        }
        try StandardOutput.write("\(server.url)\n\(offers.joined())")
        let end = Deferred<Void>()
        interruption.handle { end.fulfill(()) }
        await end.value
        await server.stop()
        interruption.reraise()
    }
}
