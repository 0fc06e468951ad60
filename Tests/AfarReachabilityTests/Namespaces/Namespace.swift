import Foundation

@testable import ReachabilityProbe

/// A private network (and mount) namespace with a shell and a probe that monitors the network.
///
/// `unshare` creates it. This requires no privileges if the kernel allows user namespaces. The namespace is removed
/// when the shell exits.
final class Namespace: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The reason why namespaces aren't available, or `nil` if they are.
    static let unavailabilityReason: String? = {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["unshare", "-rnm", "bash", "-c", "ip link add v0 type veth peer name p0"]
        process.standardOutput = output
        process.standardError = output
        guard (try? process.run()) != nil else { return "unshare could not be started" }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        if process.terminationStatus == 0 { return nil }
        let reason = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        print("Tests in network namespaces are skipped: \(reason) (they require util-linux, iproute2 and bash)")
        return reason
    }()

    private let shell: ChildProcess
    private let output = Mailbox<String>()
    private let reports = Mailbox<ProbeReport>()
    private let statuses = Mailbox<String>()

    init() throws {
        let (output, reports, statuses) = (output, reports, statuses)
        shell = try ChildProcess("unshare", ["-rnm", "bash"]) { line in
            if line.hasPrefix("{"), let report = try? JSONDecoder().decode(ProbeReport.self, from: Data(line.utf8)) {
                reports.put(report)
            } else if line.hasPrefix("status: ") {
                statuses.put(String(line.dropFirst(8)))
            } else {
                output.put(line)
            }
        }
    }

    /// Runs shell commands, each of which must succeed, and returns their output.
    @discardableResult
    func run(_ script: String) async throws -> [String] {
        var printed: [String] = []
        for line in script.split(separator: "\n") {
            shell.write("\(line)\necho \"#done $?\"")
            while case let text = try await output.take(String(line)), text != "#done 0" {
                guard !text.hasPrefix("#done") else {
                    throw Failure(description: "\(line): \(text) \(printed.joined(separator: "\n"))")
                }
                printed.append(text)
            }
        }
        return printed
    }

    /// Creates a pair of connected interfaces, `NAME` and `peer-NAME`. They are up and have a carrier but no addresses.
    func addLink(_ name: String) async throws {
        try await run(
            """
            ip link add \(name) type veth peer name peer-\(name)
            ip link set dev \(name) addrgenmode none
            ip link set dev peer-\(name) addrgenmode none
            ip link set dev \(name) up
            ip link set dev peer-\(name) up
            until ip link show dev \(name) | grep -q 'state UP'; do :; done
            """)
    }

    /// Starts the probe without a consumer.
    func startProbe(_ arguments: String = "", under wrapper: String = "") async throws {
        let folder = (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])).deletingLastPathComponent()
        let probe = folder.appending(path: "ReachabilityProbe").path
        // The probe's input is closed when the shell exits.
        try await run(
            """
            input=$(mktemp -u)
            mkfifo "$input"
            \(wrapper) "\(probe)" \(arguments) < "$input" & probe=$!
            exec 4> "$input"
            rm "$input"
            """)
    }

    /// Sends a command to the probe.
    func send(_ command: String) async throws {
        try await run("echo '\(command)' >&4")
    }

    /// Starts the probe with one consumer and returns the first report.
    func watch(_ arguments: String = "") async throws -> ProbeReport {
        try await startProbe(arguments)
        try await send("watch")
        return try await report()
    }

    /// Returns the next report.
    func report() async throws -> ProbeReport { try await reports.take("a report") }

    /// Returns all reports up to and including the first one that meets a condition.
    func reports(until isWanted: (ProbeReport) -> Bool) async throws -> [ProbeReport] {
        var taken: [ProbeReport] = []
        while true {
            let report = try await report()
            taken.append(report)
            if isWanted(report) { return taken }
        }
    }

    /// Returns the next status that the probe's listener has received.
    func status() async throws -> String { try await statuses.take("a status") }

    /// Returns the pending statuses.
    func pendingStatuses() -> [String] { statuses.takeAll() }

    /// Returns the pending reports.
    func pendingReports() -> [ProbeReport] { reports.takeAll() }
}
