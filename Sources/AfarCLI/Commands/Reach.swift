import Afar
import ArgumentParser
import Foundation

struct Reach: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reach",
        abstract: "Check whether this machine has a network connection or a route to a host.",
        usage: "afar reach [<host>] [--watch] [--json] [<options>]",
        discussion: """
            Prints the state that the system reports: satisfied, unsatisfied or unknown, with the reason, the interfaces and \
            the routes. Sends nothing except the lookup of the host's name; only a request can show whether a server \
            responds. Without a route, the exit code is 3.
            """,
        examples: [
            "afar reach",
            "afar reach example.com --json",
            "afar reach --watch",
            "until afar reach > /dev/null; do sleep 1; done",
        ])

    @Argument(help: "The name or address of a host. (default: the internet)")
    var host: String?

    @Flag(help: "Print every change until interrupted.")
    var watch = false

    @Flag(help: "Print one JSON object per line, for programs.")
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

/// The host argument of `afar reach`.
struct ReachTarget {
    let monitored: NetworkMonitor.Target

    /// - Throws: A ``Failure`` if the text is neither a host name nor an address.
    init(_ text: String) throws(Failure) {
        if let address = IPAddress(text) {
            monitored = .address(address)
        } else if text.wholeMatch(of: /\[[0-9A-Fa-f:.]+(%[^\]]+)?\]|[\p{L}\p{N}_]([\p{L}\p{N}_.\-]*)/) != nil,
            text.utf8.count <= 253
        {
            monitored = .host(text)
        } else {
            let host = text.contains("/") ? URL(string: text)?.host : nil
            let hint = host.map { "Perhaps you meant: afar reach \($0)" } ?? "Write it like example.com or 192.0.2.1."
            throw Failure(.usage, "\"\(text)\" is neither a host name nor an address. \(hint)")
        }
    }
}

extension NetworkMonitor {
    /// Returns the path once the target's name is resolved, or the current path after the timeout.
    func resolvedPath(timeout: Duration) async -> NetworkPath {
        await withTaskGroup(of: NetworkPath?.self) { group in
            group.addTask {
                for await path in self.paths {
                    guard case .unknown(.nameNotResolved) = path.status else { return path }
                }
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: timeout)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next()?.flatMap(\.self) ?? self.currentPath
        }
    }
}

/// Formats a network path as text or JSON.
struct ReachReport {
    /// The target as the user named it.
    let target: String
    let isJSON: Bool
    let style: Style

    /// Returns the lines that describe a path.
    ///
    /// - Parameter date: The time at which the path was observed. Nil means the current time, and text output then
    ///   omits the time.
    func text(of path: NetworkPath, at date: Date?) throws -> String {
        isJSON ? try json(path, date ?? .now) : words(path, date)
    }

    private func json(_ path: NetworkPath, _ date: Date) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(ReachFacts(path, target: target, date: date)), as: UTF8.self) + "\n"
    }

    private func words(_ path: NetworkPath, _ date: Date?) -> String {
        let time = date.map { style.paint($0.formatted(.iso8601), .dim) + "  " } ?? ""
        let interfaces = path.interfaces.map { [$0.name, kind(of: $0)] + $0.addresses.map(\.description) }
        let lines = rows(of: interfaces) + path.routes.map(\.description)
        // Interface names can contain control characters.
        return time + status(of: path) + "\n" + lines.map { "  \(TerminalText.line($0))\n" }.joined()
    }

    private func status(of path: NetworkPath) -> String {
        let paint: Style.Paint =
            switch path.status {
            case .satisfied: .green
            case .unsatisfied: .red
            case .unknown: .yellow
            }
        return style.paint(path.status.word, paint) + (path.status.reason.map { ": \($0)" } ?? "")
    }

    /// Returns the interface's kind, and the underlying kind if it differs.
    private func kind(of interface: NetworkInterface) -> String {
        let (kind, below) = (interface.kind, interface.underlyingKind)
        return kind == below ? "\(kind)" : "\(kind) over \(below)"
    }

    /// Joins the cells of each row and aligns the first two columns.
    private func rows(of cells: [[String]]) -> [String] {
        let widths = (0..<2).map { column in cells.map { $0[column].count }.max() ?? 0 }
        return cells.map { row in
            row.enumerated().map { index, cell in
                let isLast = index == row.count - 1
                let width = index < 2 && !isLast ? widths[index] : cell.count
                return cell + String(repeating: " ", count: width - cell.count)
            }
            .joined(separator: "  ")
        }
    }
}

/// A network path in JSON output.
struct ReachFacts: Encodable {
    let target: String
    let time: String
    let status: String
    let reason: String?
    let ipv4: Bool
    let ipv6: Bool
    let interfaces: [Interface]
    let gateways: [String]
    let routes: [Route]

    struct Interface: Encodable {
        let name: String
        let index: Int
        let kind: String
        let underlyingKind: String
        let addresses: [String]
    }

    struct Route: Encodable {
        let destination: String
        let gateway: String?
        let interface: String?
        let metric: Int
        let table: Int
    }

    init(_ path: NetworkPath, target: String, date: Date) {
        self.target = target
        time = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        status = path.status.word
        reason = path.status.reason
        ipv4 = path.supportsIPv4
        ipv6 = path.supportsIPv6
        interfaces = path.interfaces.map { interface in
            Interface(
                name: interface.name, index: interface.index, kind: interface.kind.rawValue,
                underlyingKind: interface.underlyingKind.rawValue, addresses: interface.addresses.map(\.description))
        }
        gateways = path.gateways.map(\.description)
        routes = path.routes.map { route in
            Route(
                destination: "\(route.destination)/\(route.prefixLength)", gateway: route.gateway?.description,
                interface: route.interface, metric: route.metric, table: route.table)
        }
    }
}
