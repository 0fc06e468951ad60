import Afar
import AfarCore
import ArgumentParser
import Foundation

/// A command with a report of its own, instead of the report on its last request.
protocol ResultReporting: RequestSending {}

/// The report of `--report`, which is written when the tool ends, normally or by a signal.
enum ReportFile {
    /// The version of the report's members. It increases when a member is removed or changes its meaning.
    static let schemaVersion: Int64 = 1

    private struct Report {
        var path: String
        var command: String
        var monitor: ReportMonitor?
        var observesCertificates: Bool
        var result: [(String, JSONOutput)] = []
    }

    private static let opened = Locked<Report?>(nil)

    /// Opens the report of a command. Without `--report`, does nothing.
    ///
    /// - Throws: A ``Failure`` if the report can't be written.
    static func open(for command: any ParsableCommand) throws {
        guard let sender = command as? any RequestSending, let path = sender.archive.report else { return }
        let inspection = (command as? any ResponseCommand)?.inspection ?? (command as? Download)?.inspection
        if path == "-" { StandardOutput.reserveForReport() } else { try check(path) }
        let redaction = Redaction(showsSecrets: inspection?.showSecrets == true)
        let report = Report(
            path: path, command: type(of: command)._commandName,
            monitor: command is any ResultReporting ? nil : ReportMonitor(redaction: redaction),
            observesCertificates: sender.sending.transport.sharesCertificates && sender.archive.replay == nil)
        opened.withLock { $0 = report }
    }

    /// The monitor for the requests of the command, or nil if they aren't reported.
    static var monitor: ReportMonitor? { opened.withLock { $0?.monitor } }

    /// Returns a manager that also records the server's certificate, or the same manager if it isn't reported.
    static func observing(_ manager: ServerTrustManager?) -> ServerTrustManager? {
        guard let report = opened.withLock({ $0 }), report.observesCertificates, let monitor = report.monitor else {
            return manager
        }
        return CertificateObserver(base: manager, monitor: monitor)
    }

    /// Sets the members of a command with a report of its own.
    static func setResult(_ members: [(String, JSONOutput)]) { opened.withLock { $0?.result = members } }

    /// Writes the report once, after a command has ended.
    ///
    /// - Returns: Whether the report was written, or isn't required.
    static func save(_ status: ExitReason, after error: (any Error)? = nil) -> Bool {
        let isDifference = (error as? Failure)?.message == ""
        return save(
            exitCode: Int64(status.rawValue), failure: isDifference ? nil : error.map { ReportedFailure(status, $0) })
    }

    /// Writes the report once, after a signal.
    static func save(signal: Int32) {
        _ = save(exitCode: Int64(128 + signal), failure: .interruption(by: signal))
    }

    private static func save(exitCode: Int64, failure: ReportedFailure?) -> Bool {
        let report = opened.withLock { report in
            defer { report = nil }
            return report
        }
        guard let report else { return true }
        let request = report.monitor?.report()
        let error = (request?.failure).map { $0.merged(with: failure) } ?? failure
        let members: [(String, JSONOutput)] =
            [
                ("schemaVersion", .integer(schemaVersion)), ("command", .string(report.command)),
                ("exitCode", .integer(exitCode)), ("error", exitCode == 0 ? .null : error?.json ?? .null),
            ] + (request?.members ?? report.result)
        let line = Data((JSONOutput.object(members).text + "\n").utf8)
        do {
            if report.path == "-" {
                try StandardOutput.write(line, to: STDOUT_FILENO)
            } else {
                try write(line, to: report.path)
            }
            return true
        } catch is StandardOutput.Closed {
            return true
        } catch {
            let reason = (error as? Failure)?.message ?? "\(TerminalText.line(error.localizedDescription))."
            Messages.error("the report was not written: \(reason)")
            return false
        }
    }

    private static func check(_ path: String) throws {
        let exists = access(path, F_OK) == 0
        let folder = URL(filePath: path).deletingLastPathComponent().path
        guard access(exists ? path : folder, W_OK) == 0 else {
            throw Failure(.usage, "--report: \(TerminalText.line(path)) cannot be written: \(Failure.systemReason).")
        }
    }

    /// Replaces a regular file as a whole. Writes to other files, such as pipes, directly.
    private static func write(_ line: Data, to path: String) throws {
        let path = URL(filePath: path).resolvingSymlinksInPath().path
        let type = (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
        if type == nil || type == .typeRegular {
            return try line.write(to: URL(filePath: path), options: .atomic)
        }
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.write(contentsOf: line)
        try file.close()
    }
}

/// The error in a report.
struct ReportedFailure {
    /// The kind of error, such as "timedOut".
    var kind: String
    /// The phase of the exchange in which the error occurred, if known.
    var phase: String?
    var message: String

    init(kind: String, phase: String? = nil, message: String) {
        self.kind = kind
        self.phase = phase
        self.message = message
    }

    /// Creates the error of a command that ended with a status.
    init(_ status: ExitReason, _ error: any Error) {
        let kind = (error as? Failure)?.requestErrorKind ?? "\(status)"
        self.init(kind: kind, message: (error as? Failure)?.message ?? AfarTool.message(for: error))
    }

    /// Creates the error of a request.
    init(_ error: AFError) {
        self.init(
            kind: error.kind, phase: error.transportError.map { "\($0.phase)" },
            message: Redaction.standard.line(error.localizedDescription))
    }

    static func interruption(by signal: Int32) -> ReportedFailure {
        ReportedFailure(kind: "interrupted", message: "The command was ended by signal \(signal).")
    }

    /// Returns this error of a request with the message that the command printed. A signal, or the failure that made the command
    /// cancel the request, replaces the error.
    func merged(with other: ReportedFailure?) -> ReportedFailure {
        guard let other else { return self }
        return other.kind == "interrupted" || kind == Self.cancellation
            ? other : ReportedFailure(kind: kind, phase: phase, message: other.message)
    }

    private static let cancellation = TransportError.Code.cancelled.description

    var json: JSONOutput {
        .object([("kind", .string(kind)), ("phase", .text(phase)), ("message", .string(message))])
    }
}

// MARK: - Certificates

/// A trust manager that passes each server's certificate to a monitor, and otherwise decides like another manager.
private final class CertificateObserver: ServerTrustManager, @unchecked Sendable {
    private let base: ServerTrustManager?
    private let monitor: ReportMonitor
    private let observing = Locked<[String: ObservingEvaluator]>([:])

    init(base: ServerTrustManager?, monitor: ReportMonitor) {
        self.base = base
        self.monitor = monitor
        super.init(allHostsMustBeEvaluated: false, evaluators: [:])
    }

    override func serverTrustEvaluator(forHost host: String) throws -> (any ServerTrustEvaluating)? {
        let evaluator = try base?.serverTrustEvaluator(forHost: host) ?? DefaultTrustEvaluator()
        return observing.withLock { observing in
            let result = observing[host] ?? ObservingEvaluator(base: evaluator, monitor: monitor)
            observing[host] = result
            return result
        }
    }
}

private final class ObservingEvaluator: ServerTrustEvaluating {
    private let base: any ServerTrustEvaluating
    private let monitor: ReportMonitor

    init(base: any ServerTrustEvaluating, monitor: ReportMonitor) {
        self.base = base
        self.monitor = monitor
    }

    func evaluate(_ trust: ServerTrust, forHost host: String) throws {
        if let certificate = trust.certificates.first { monitor.record(certificate) }
        try base.evaluate(trust, forHost: host)
    }
}

extension TransportChoice {
    /// Whether the transport passes certificates to evaluators without opening another connection.
    fileprivate var sharesCertificates: Bool {
        #if canImport(AfarCurl)
            return self == .afar
        #else
            return false
        #endif
    }
}
