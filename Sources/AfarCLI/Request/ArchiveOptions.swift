import Afar
import AfarHAR
import ArgumentParser
import Foundation

/// The options for HTTP archives and reports.
struct ArchiveOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write all traffic and its timing to an HTTP archive, for a browser's network panel.",
            valueName: "file"))
    var har: String?

    @Option(help: ArgumentHelp("Add all traffic to the recording in this file.", valueName: "file"))
    var record: String?

    @Option(help: ArgumentHelp("Respond from the recording in this file, without network access.", valueName: "file"))
    var replay: String?

    @Option(
        help: ArgumentHelp(
            """
            Write the outcome as a JSON object to this file. With -, write it to the standard output instead of the \
            response.
            """,
            valueName: "file|-"))
    var report: String?

    func validate() throws {
        guard har == nil || har != record else { throw ValidationError("--har and --record cannot share a file.") }
    }

    /// Returns the transport of `--replay`, or nil without that option.
    func replayed() throws -> (any Transport)? {
        guard let replay else { return nil }
        do {
            return try ReplayTransport(contentsOf: URL(filePath: replay))
        } catch {
            throw Failure(.usage, "--replay: \(TerminalText.line("\(error)")).")
        }
    }

    /// With `--record`, wraps a transport in a recorder.
    func recording(_ transport: any Transport) throws -> any Transport {
        guard let record else { return transport }
        let file = URL(filePath: record)
        // Keeps a file that isn't an archive from being overwritten.
        do { _ = try ArchiveFile.entries(of: file) } catch {
            throw Failure(.usage, "--record: \(TerminalText.line("\(error)")).")
        }
        let recording = RecordingTransport(around: transport)
        try ArchiveFile.scheduleWrite(to: file, for: "--record") {
            HAR(entries: try ArchiveFile.entries(of: file) + recording.archive.entries)
        }
        return recording
    }

    /// Returns the monitors of `--har` and `--report`, if any.
    func monitors() throws -> [any EventMonitor] {
        let reporting: [any EventMonitor] = ReportFile.monitor.map { [$0] } ?? []
        guard let har else { return reporting }
        let monitor = HARMonitor()
        try ArchiveFile.scheduleWrite(to: URL(filePath: har), for: "--har") { monitor.archive }
        return reporting + [monitor]
    }
}

/// The archives that are written when the tool ends, normally or by a signal.
enum ArchiveFile {
    private typealias ScheduledArchive = (file: URL, archive: @Sendable () throws -> HAR)

    private static let scheduled = Locked<[ScheduledArchive]>([])

    /// Schedules an archive for writing when the tool ends.
    ///
    /// - Throws: A ``Failure`` if the file can't be written.
    static func scheduleWrite(
        to file: URL, for option: String, _ archive: @escaping @Sendable () throws -> HAR
    ) throws {
        let exists = access(file.path, F_OK) == 0
        guard access(exists ? file.path : file.deletingLastPathComponent().path, W_OK) == 0 else {
            let reason = String(cString: strerror(errno))
            throw Failure(.usage, "\(option): \(TerminalText.line(file.path)) cannot be written: \(reason).")
        }
        scheduled.withLock { $0.append((file, archive)) }
    }

    /// Returns the entries of an archive, or an empty array if the file doesn't exist.
    static func entries(of file: URL) throws -> [HAR.Entry] {
        FileManager.default.fileExists(atPath: file.path) ? try HAR(contentsOf: file).entries : []
    }

    /// Writes the scheduled archives once.
    ///
    /// - Returns: Whether all archives were written.
    static func save() -> Bool {
        let files = scheduled.withLock { scheduled in
            defer { scheduled = [] }
            return scheduled
        }
        var isSaved = true
        for (file, archive) in files {
            do { try archive().write(to: file) } catch {
                Messages.error("the archive was not saved: \(TerminalText.line("\(error)")).")
                isSaved = false
            }
        }
        return isSaved
    }
}
