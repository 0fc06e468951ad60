import Foundation
import Glibc

/// Ends the processes that run, and removes the site's folder, whatever ends the benchmark.
final class Cleanup: @unchecked Sendable {
    // Sendable because the lock guards what changes.

    static let shared = Cleanup()

    private let lock = NSLock()
    private var processes: [Process] = []
    private var site: Site?
    private var signals: [any DispatchSourceSignal] = []

    /// Makes SIGINT and SIGTERM end everything.
    func watchSignals() {
        signals = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { self.finish(exitStatus: 128 + number) }
            source.resume()
            return source
        }
    }

    func add(_ site: Site) {
        lock.withLock { self.site = site }
    }

    func add(_ process: Process) {
        lock.withLock { processes.append(process) }
    }

    func forget(_ process: Process) {
        lock.withLock { processes.removeAll { $0 === process } }
    }

    /// Ends everything that was added, the last first; with a status, the program too.
    func finish(exitStatus: Int32? = nil) {
        lock.withLock {
            for process in processes.reversed() where process.isRunning {
                process.terminate()
                process.waitUntilExit()
            }
            site?.remove()
            (processes, site) = ([], nil)
            if let exitStatus { exit(exitStatus) }
        }
    }
}
