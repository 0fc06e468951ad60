import Foundation
import Servers

/// Exits the program if no request has completed for a minute. Otherwise, a request that never completes would block
/// the program forever.
struct Watchdog {
    private let task: Task<Void, Never>

    init(_ ledger: Ledger) {
        task = Task {
            var last = -1
            while (try? await Task.sleep(for: .seconds(60))) != nil {
                let total = ledger.total
                if total == last {
                    print("FAILED: no request has completed for a minute, after \(total) completions")
                    Cleanup.shared.finish(exitStatus: 1)
                }
                last = total
            }
        }
    }

    func stop() { task.cancel() }
}
