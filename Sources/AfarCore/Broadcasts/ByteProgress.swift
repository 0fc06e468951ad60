import Foundation

/// How far one direction of a transfer has come, in bytes.
struct ByteProgress: Sendable {
    var completed: Int64
    /// −1 when it is not known.
    var total: Int64

    init(completed: Int64 = 0, total: Int64? = 0) {
        self.completed = completed
        self.total = total ?? -1
    }

    /// Foundation's form, in an object of its own.
    var progress: Progress {
        // Unlike `init(totalUnitCount:)`, this does not make it a part of whatever the thread's current progress is.
        let progress = Progress.discreteProgress(totalUnitCount: total)
        progress.completedUnitCount = completed
        return progress
    }
}
