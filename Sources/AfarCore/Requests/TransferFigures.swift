import Foundation

/// How far one direction of a transfer has come, in bytes.
struct TransferFigures: Sendable {
    var completed: Int64
    /// −1 when it is not known.
    var total: Int64

    init(completed: Int64 = 0, total: Int64? = 0) {
        self.completed = completed
        self.total = total ?? -1
    }

    /// Foundation's form: an object of its own each time, which nobody else changes.
    var progress: Progress {
        // Unlike `init(totalUnitCount:)`, this does not make it a part of whatever the thread's current progress is.
        let progress = Progress.discreteProgress(totalUnitCount: total)
        progress.completedUnitCount = completed
        return progress
    }
}

extension Announcements where Value == TransferFigures {
    var progress: Progress { (last ?? TransferFigures()).progress }

    func update(completed: Int64, total: Int64?) {
        guard completed > 0 else { return }
        announce(TransferFigures(completed: completed, total: total))
    }

    /// Sets the handler, in place of the one before.
    ///
    /// Calls that a slow queue has not made yet are not piled up: the next call tells the newest figures.
    func setProgressHandler(on queue: DispatchQueue, _ handler: @escaping Request.ProgressHandler) {
        let newest = Locked<TransferFigures?>(nil)
        setHandler(
            Listener { figures in
                let isCallPending = newest.withLock { newest in
                    defer { newest = figures }
                    return newest != nil
                }
                guard !isCallPending else { return }
                queue.async {
                    let figures = newest.withLock { newest in
                        defer { newest = nil }
                        return newest
                    }
                    if let figures { handler(figures.progress) }
                }
            })
    }
}
