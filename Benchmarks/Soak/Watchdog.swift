import Foundation
import Servers

/// Ends the program when no request has been completed for a minute: a request that never ends would be waited for
/// for ever.
struct Watchdog {
    private let task: Task<Void, Never>

    init(_ ledger: Ledger) {
        task = Task {
            var last = -1
            while (try? await Task.sleep(for: .seconds(60))) != nil {
                let total = ledger.total
                if total == last {
                    print("FAILED: no request has been completed for a minute, after \(total) completions")
                    Cleanup.shared.finish(exitStatus: 1)
                }
                last = total
            }
        }
    }

    func stop() { task.cancel() }
}
