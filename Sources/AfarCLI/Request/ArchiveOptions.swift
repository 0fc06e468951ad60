import Afar
import AfarHAR
import ArgumentParser
import Foundation

/// What is kept in HTTP archives, or taken from them.
struct ArchiveOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write what is sent and received, with timings, as an HTTP archive for a browser's network panel.",
            valueName: "file"))
    var har: String?

    @Option(help: ArgumentHelp("Add what is sent and received to the recording in this file.", valueName: "file"))
    var record: String?

    @Option(help: ArgumentHelp("Answer from the recording in this file, and reach no network.", valueName: "file"))
    var replay: String?

    func validate() throws {
        guard replay == nil || record == nil else { throw ValidationError("Choose --record or --replay, not both.") }
        guard har == nil || har != record else { throw ValidationError("--har and --record cannot share a file.") }
    }

    /// What answers from a recording; nil without one.
    func replayed() throws -> (any Transport)? {
        guard let replay else { return nil }
        do {
            return try ReplayTransport(contentsOf: URL(filePath: replay))
        } catch {
            throw Failure(.usage, "--replay: \(TerminalText.line("\(error)")).")
        }
    }

    /// Puts a recorder around a transport, with `--record`.
    func recording(_ transport: any Transport) throws -> any Transport {
        guard let record else { return transport }
        let file = URL(filePath: record)
        // What is no archive is not to be replaced by one.
        do { _ = try ArchiveFile.entries(of: file) } catch {
            throw Failure(.usage, "--record: \(TerminalText.line("\(error)")).")
        }
        let recording = RecordingTransport(around: transport)
        try ArchiveFile.willWrite(to: file, for: "--record") {
            HAR(entries: try ArchiveFile.entries(of: file) + recording.archive.entries)
        }
        return recording
    }

    /// What keeps the traffic, with `--har`.
    func monitors() throws -> [any EventMonitor] {
        guard let har else { return [] }
        let monitor = HARMonitor()
        try ArchiveFile.willWrite(to: URL(filePath: har), for: "--har") { monitor.archive }
        return [monitor]
    }
}

/// The files that are written when the tool ends, by itself or by a signal.
enum ArchiveFile {
    private typealias Waiting = (file: URL, archive: @Sendable () throws -> HAR)

    private static let waiting = Locked<[Waiting]>([])
    private static let saving = Locked(())

    /// - Throws: A ``Failure`` when no file can be written there.
    static func willWrite(
        to file: URL, for option: String, _ archive: @escaping @Sendable () throws -> HAR
    ) throws {
        let isThere = access(file.path, F_OK) == 0
        guard access(isThere ? file.path : file.deletingLastPathComponent().path, W_OK) == 0 else {
            let reason = String(cString: strerror(errno))
            throw Failure(.usage, "\(option): \(TerminalText.line(file.path)) cannot be written: \(reason).")
        }
        let isFirst = waiting.withLock { waiting in
            waiting.append((file, archive))
            return waiting.count == 1
        }
        guard isFirst else { return }
        Task {
            let interruption = await Interruption()
            interruption.handle { if interruption.isLast { interruption.reraise() } }
        }
    }

    /// The entries of an archive; none where there is no file.
    static func entries(of file: URL) throws -> [HAR.Entry] {
        FileManager.default.fileExists(atPath: file.path) ? try HAR(contentsOf: file).entries : []
    }

    /// Writes them, once.
    ///
    /// - Returns: Whether all are written.
    @discardableResult
    static func save() -> Bool {
        // A second caller, who may end the process, waits for the first.
        saving.withLock { _ in
            let files = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            var isSaved = true
            for (file, archive) in files {
                do { try archive().write(to: file) } catch {
                    StandardError.write("afar: the archive is not saved: \(TerminalText.line("\(error)")).\n")
                    isSaved = false
                }
            }
            return isSaved
        }
    }
}
