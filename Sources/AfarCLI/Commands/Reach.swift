import Afar
import ArgumentParser

struct Reach: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Tell whether this machine has a network, or a way to a host.",
        usage: "afar reach [<host>] [--watch] [--json] [<options>]",
        discussion: """
            What the system knows is told: satisfied, unsatisfied or unknown, with the reason, the interfaces and the routes. \
            Nothing is sent, but for the look-up of the host's name. Whether a server answers, only a request can tell. \
            When there is no way, the exit code is 3.
            """,
        examples: [
            "afar reach",
            "afar reach example.com --json",
            "afar reach --watch",
            "until afar reach > /dev/null; do sleep 1; done",
        ])

    @Argument(help: "The name or address of a host; the internet if there is none.")
    var host: String?

    @Flag(help: "Go on, and tell every change, until interrupted.")
    var watch = false

    @Flag(help: "Print a JSON object a line, for programs.")
    var json = false

    @OptionGroup var colors: ColorOptions

    func run() async throws {
        let target = try host.map(ReachTarget.init)?.monitored ?? .internet
        let report = ReachReport(
            target: host ?? "the internet", isJSON: json, style: colors.style(for: .standardOutput))
        let monitor = NetworkMonitor(target: target)
        guard watch else { return try await printOnce(monitor, report) }
        for await path in monitor.paths { try StandardOutput.write(report.text(of: path, at: .now)) }
    }

    private func printOnce(_ monitor: NetworkMonitor, _ report: ReachReport) async throws {
        let path = await monitor.resolvedPath(timeout: .seconds(5))
        try StandardOutput.write(report.text(of: path, at: nil))
        if !path.isOnline { ExitReason.connection.exit() }
    }
}
