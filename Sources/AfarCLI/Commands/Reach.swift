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
            target: host ?? "the internet", isJSON: json, style: Style(colors.color, output: .standardOutput))
        let monitor = NetworkMonitor(target: target)
        guard watch else { return try await tellOnce(monitor, report) }
        for await path in monitor.paths { try StandardOutput.write(report.text(of: path, at: .now)) }
    }

    private func tellOnce(_ monitor: NetworkMonitor, _ report: ReachReport) async throws {
        let path = await monitor.pathOnceResolved(within: .seconds(5))
        try StandardOutput.write(report.text(of: path, at: nil))
        if !path.isOnline { ExitReason.connection.exit() }
    }
}

extension NetworkMonitor {
    /// The path once the target's name has an address, or as it is by then.
    fileprivate func pathOnceResolved(within limit: Duration) async -> NetworkPath {
        await withTaskGroup(of: NetworkPath?.self) { group in
            group.addTask {
                for await path in self.paths {
                    guard case .unknown(.nameNotResolved) = path.status else { return path }
                }
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next()?.flatMap(\.self) ?? self.currentPath
        }
    }
}
