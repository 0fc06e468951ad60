import AfarCore
import AfarTestServer
import ArgumentParser

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Start a server to try requests on, which echoes, redirects, delays, streams and fails on purpose.",
        discussion: """
            It listens on 127.0.0.1 only, tells its address and what it offers, and runs until interrupted.
            """,
        examples: ["afar serve --port 8080", "afar get :8080/delay/2"])

    @Option(help: ArgumentHelp("The port; 0 for any that is free.", valueName: "number"))
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
