import Foundation

@testable import ReachabilityProbe

/// A network of its own (and mounts), in which a shell runs and a probe watches. It is made by `unshare`, needs no rights where the kernel
/// lets anybody do so, and is gone with its shell.
final class Namespace: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Why there are no namespaces here; nil where there are.
    static let refusal: String? = {
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
        print("Tests in network namespaces are left out: \(reason) (they need util-linux, iproute2 and bash)")
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

    /// Runs lines of shell, each of which must succeed, and returns what they print.
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

    /// Makes a pair of connected interfaces, `NAME` and `peer-NAME`, switched on, with a carrier and without
    /// addresses.
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

    // MARK: The probe

    /// Starts the probe without a consumer.
    func startProbe(_ arguments: String = "", under wrapper: String = "") async throws {
        let folder = (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])).deletingLastPathComponent()
        let probe = folder.appending(path: "ReachabilityProbe").path
        // The probe ends with its input, which ends with the shell.
        try await run(
            """
            input=$(mktemp -u)
            mkfifo "$input"
            \(wrapper) "\(probe)" \(arguments) < "$input" & probe=$!
            exec 4> "$input"
            rm "$input"
            """)
    }

    /// Gives the probe a command.
    func tell(_ command: String) async throws {
        try await run("echo '\(command)' >&4")
    }

    /// Starts the probe with one consumer, and takes the first report.
    func watch(_ arguments: String = "") async throws -> ProbeReport {
        try await startProbe(arguments)
        try await tell("watch")
        return try await report()
    }

    /// The next report.
    func report() async throws -> ProbeReport { try await reports.take("a report") }

    /// The next report that is as wanted, and those before it.
    func reports(until isWanted: (ProbeReport) -> Bool) async throws -> [ProbeReport] {
        var taken: [ProbeReport] = []
        while true {
            let report = try await report()
            taken.append(report)
            if isWanted(report) { return taken }
        }
    }

    /// The next status that the probe's listener has heard.
    func status() async throws -> String { try await statuses.take("a status") }

    /// The statuses that have come and were not taken.
    func pendingStatuses() -> [String] { statuses.takeAll() }

    /// The reports that have come and were not taken.
    func pendingReports() -> [ProbeReport] { reports.takeAll() }
}
