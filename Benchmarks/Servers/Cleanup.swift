package import Foundation
import Glibc

/// Terminates child processes and removes temporary folders when the program ends, including after a signal.
package final class Cleanup: @unchecked Sendable {
    // Sendable because the lock guards all mutable state.

    package static let shared = Cleanup()

    private let lock = NSLock()
    private var processes: [Process] = []
    private var folders: [URL] = []
    private var signals: [any DispatchSourceSignal] = []

    /// Cleans up and exits on SIGINT and SIGTERM.
    package func watchSignals() {
        signals = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { self.finish(exitStatus: 128 + number) }
            source.resume()
            return source
        }
    }

    package func add(_ folder: URL) {
        lock.withLock { folders.append(folder) }
    }

    package func add(_ process: Process) {
        lock.withLock { processes.append(process) }
    }

    package func forget(_ process: Process) {
        lock.withLock { processes.removeAll { $0 === process } }
    }

    /// Terminates all processes in reverse order and removes all folders.
    ///
    /// - Parameter exitStatus: If not `nil`, the program exits with this status.
    package func finish(exitStatus: Int32? = nil) {
        lock.withLock {
            for process in processes.reversed() where process.isRunning {
                // SIGTERM can be blocked: processes inherit the signal mask of the starting thread.
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
            }
            for folder in folders { try? FileManager.default.removeItem(at: folder) }
            (processes, folders) = ([], [])
            if let exitStatus { exit(exitStatus) }
        }
    }
}
