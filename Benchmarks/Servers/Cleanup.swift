package import Foundation
import Glibc

/// Ends the processes that run, and removes its folders, whatever ends the program.
package final class Cleanup: @unchecked Sendable {
    // Sendable because the lock guards what changes.

    package static let shared = Cleanup()

    private let lock = NSLock()
    private var processes: [Process] = []
    private var folders: [URL] = []
    private var signals: [any DispatchSourceSignal] = []

    /// Makes SIGINT and SIGTERM end everything.
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

    /// Ends everything that was added, the last first; with a status, the program too.
    package func finish(exitStatus: Int32? = nil) {
        lock.withLock {
            for process in processes.reversed() where process.isRunning {
                // One that was started by a thread which blocks signals would not hear a mere wish to end.
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
            }
            for folder in folders { try? FileManager.default.removeItem(at: folder) }
            (processes, folders) = ([], [])
            if let exitStatus { exit(exitStatus) }
        }
    }
}
