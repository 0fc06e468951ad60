import AfarTestServer
import ArgumentParser

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "See what Afar does: code beside its result, against a server of its own.",
        discussion: """
            Nothing leaves this machine: the server runs inside the tool, on a free port of 127.0.0.1. Each piece of code \
            shown is the code that runs. Ends with code 70 when a step does not come out as expected.
            """)

    @Option(help: "Colours: auto is for terminals; NO_COLOR is respected.")
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
            throw Failure(.other, "\(failed) of \(DemoStep.all.count) steps did not come out as expected, see above.")
        }
    }
}
