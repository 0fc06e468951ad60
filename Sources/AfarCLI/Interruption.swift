import AfarCore
import Foundation

/// Catches termination signals, so that the tool can clean up before it exits.
final class Interruption: @unchecked Sendable {
    // Sendable because dispatch sources are thread-safe.

    private struct State {
        var receivedSignal: Int32?
        var handler: (@Sendable () -> Void)?
    }

    /// The number of instances that are catching signals.
    private static let count = Locked(0)
    /// The termination signals, except those that the tool was started to ignore, as with nohup or in a background job.
    private static let signals = [SIGINT, SIGTERM, SIGHUP].filter { !ignore($0) }

    private let state = Locked(State())
    private let sources: [(signal: Int32, source: any DispatchSourceSignal)]

    /// Whether no other instance is catching signals.
    var isLast: Bool { Self.count.withLock { $0 } == 1 }

    /// Saves archives and reports and ends the process at the first signal, unless another instance is catching signals.
    static func endOnSignals() async {
        let isFirst = endsOnSignals.withLock { endsOnSignals in
            defer { endsOnSignals = true }
            return !endsOnSignals
        }
        guard isFirst else { return }
        let interruption = await Interruption()
        interruption.handle { if interruption.isLast { interruption.reraise() } }
    }

    private static let endsOnSignals = Locked(false)

    /// Creates an instance and returns once it catches signals.
    init() async {
        Self.count.withLock { $0 += 1 }
        sources = Self.signals.map { signal in
            (signal, DispatchSource.makeSignalSource(signal: signal, queue: .global()))
        }
        for (signal, source) in sources {
            source.setEventHandler { [state] in
                let handler = state.withLock { state in
                    state.receivedSignal = state.receivedSignal ?? signal
                    return state.handler
                }
                handler?()
            }
            // A signal before the registration would be lost.
            await withCheckedContinuation { continuation in
                source.setRegistrationHandler { continuation.resume() }
                source.resume()
            }
        }
    }

    /// Sets the handler for a signal, and calls it immediately if a signal has already arrived.
    func handle(with handler: @escaping @Sendable () -> Void) {
        let hasArrived = state.withLock { state in
            state.handler = handler
            return state.receivedSignal != nil
        }
        if hasArrived { handler() }
    }

    /// If a signal has arrived, saves archives and reports, and ends the process with that signal, so that a shell can detect the
    /// signal.
    func reraise() {
        Self.count.withLock { $0 -= 1 }
        for (signal, source) in sources {
            source.cancel()
            Foundation.signal(signal, SIG_DFL)
        }
        guard let signal = state.withLock({ $0.receivedSignal }) else { return }
        SessionFile.save()
        ArchiveFile.save()
        ReportFile.save(signal: signal)
        // The threads of tasks can block signals.
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, signal)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(signal)
    }

    /// Ignores a signal and returns whether it was already ignored.
    private static func ignore(_ signal: Int32) -> Bool {
        let previous = Foundation.signal(signal, SIG_IGN)
        return unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
