import Afar
import Foundation

/// The files that the tool saves when it ends, normally or by a signal: cookies, sessions, archives, the cache and the report.
enum UnsavedFiles {
    /// How a command ended.
    enum Ending {
        case completed(ExitReason, (any Error)?)
        case interrupted(signal: Int32)
    }

    /// The result of saving.
    struct Outcome {
        /// The ending that the report contains.
        var ending: Ending
        var isSaved: Bool
    }

    private static let saved = Locked<Outcome?>(nil)

    /// Each step saves one kind of file, prints an error if that fails, and returns whether everything was saved.
    private static let steps: [@Sendable () -> Bool] = [
        { CookieJarFile.save() }, { SessionFile.save() }, { ArchiveFile.save() }, { CacheDirectory.save() },
    ]

    /// Saves all files once. A second caller waits for the first one, and receives its outcome.
    ///
    /// Blocks the thread. Don't call it from a signal handler, because it allocates memory and acquires locks.
    static func save(after ending: Ending) -> Outcome {
        saved.withLock { saved in
            if let saved { return saved }
            var isSaved = true
            for step in steps where !step() { isSaved = false }
            switch ending {
            case .completed(let status, let error):
                isSaved = ReportFile.save(isSaved ? status : .other, after: error) && isSaved
            case .interrupted(let signal): ReportFile.save(signal: signal)
            }
            let outcome = Outcome(ending: ending, isSaved: isSaved)
            saved = outcome
            return outcome
        }
    }
}
