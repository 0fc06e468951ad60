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
        var former: [HAR.Entry] = []
        if FileManager.default.fileExists(atPath: file.path) {
            do { former = try HAR(contentsOf: file).entries } catch {
                throw Failure(.usage, "--record: \(TerminalText.line("\(error)")).")
            }
        }
        let recording = RecordingTransport(around: transport)
        ArchiveFile.willWrite(to: file) { [former] in HAR(entries: former + recording.archive.entries) }
        return recording
    }

    /// What keeps the traffic, with `--har`.
    func monitors() -> [any EventMonitor] {
        guard let har else { return [] }
        let monitor = HARMonitor()
        ArchiveFile.willWrite(to: URL(filePath: har)) { monitor.archive }
        return [monitor]
    }
}

/// The files that are written when the tool ends.
enum ArchiveFile {
    private static let waiting = Locked<[(file: URL, archive: @Sendable () -> HAR)]>([])

    static func willWrite(to file: URL, _ archive: @escaping @Sendable () -> HAR) {
        waiting.withLock { $0.append((file, archive)) }
    }

    static func save() {
        for (file, archive) in waiting.withLock({ $0 }) {
            do {
                try archive().write(to: file)
            } catch {
                StandardError.write("afar: the archive is not saved: \(TerminalText.line("\(error)")).\n")
            }
        }
    }
}
