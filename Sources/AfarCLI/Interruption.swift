import AfarCore
import Foundation

/// Catches the signals that end a program, so that it can tidy up before it goes.
final class Interruption: @unchecked Sendable {
    // Sendable because dispatch sources may be used from any thread.

    private struct State {
        var arrived: Int32?
        var handler: (@Sendable () -> Void)?
    }

    /// How many catch signals now.
    private static let count = Locked(0)
    /// The signals that end a program, and that its caller does not ignore (nohup, a background job).
    private static let signals = [SIGINT, SIGTERM, SIGHUP].filter { !ignore($0) }

    private let state = Locked(State())
    private let sources: [(signal: Int32, source: any DispatchSourceSignal)]

    /// Whether nobody else has something to do before the process ends.
    var isLast: Bool { Self.count.withLock { $0 } == 1 }

    /// Returns when signals are caught.
    init() async {
        Self.count.withLock { $0 += 1 }
        sources = Self.signals.map { signal in
            (signal, DispatchSource.makeSignalSource(signal: signal, queue: .global()))
        }
        for (signal, source) in sources {
            source.setEventHandler { [state] in
                let handler = state.withLock { state in
                    state.arrived = state.arrived ?? signal
                    return state.handler
                }
                handler?()
            }
            // A signal before that would be lost.
            await withCheckedContinuation { continuation in
                source.setRegistrationHandler { continuation.resume() }
                source.resume()
            }
        }
    }

    /// Sets what is to be done when a signal arrives, at once if one has.
    func handle(with handler: @escaping @Sendable () -> Void) {
        let hasArrived = state.withLock { state in
            state.handler = handler
            return state.arrived != nil
        }
        if hasArrived { handler() }
    }

    /// Ends the process as the signal would have, if one has arrived: a shell must be able to tell. Archives are saved before.
    func reraise() {
        Self.count.withLock { $0 -= 1 }
        for (signal, source) in sources {
            source.cancel()
            Foundation.signal(signal, SIG_DFL)
        }
        guard let signal = state.withLock({ $0.arrived }) else { return }
        ArchiveFile.save()
        // The threads that tasks run on may be closed to signals.
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, signal)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(signal)
    }

    /// Returns whether the signal was ignored before.
    private static func ignore(_ signal: Int32) -> Bool {
        let previous = Foundation.signal(signal, SIG_IGN)
        return unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
