import AfarCore
import Foundation

/// Catches the signals that end a program, so that it can tidy up before it goes.
final class Interruption: @unchecked Sendable {
    // Sendable because dispatch sources may be used from any thread.
    private let signals: [Int32]
    private let sources: [any DispatchSourceSignal]
    private let first: Locked<Int32?>

    /// - Parameter handler: Called for every signal that arrives.
    init(_ handler: @escaping @Sendable () -> Void) {
        let first = Locked<Int32?>(nil)
        self.first = first
        // What the caller ignores (nohup, a background job) stays ignored.
        signals = [SIGINT, SIGTERM, SIGHUP].filter { !Self.ignore($0) }
        sources = signals.map { signal in
            let source = DispatchSource.makeSignalSource(signal: signal, queue: .global())
            source.setEventHandler {
                first.withLock { $0 = $0 ?? signal }
                handler()
            }
            source.resume()
            return source
        }
    }

    /// Ends the process as the signal would have, if one has arrived: a shell must be able to tell.
    func passOn() {
        for source in sources { source.cancel() }
        for signal in signals { Foundation.signal(signal, SIG_DFL) }
        guard let signal = first.withLock({ $0 }) else { return }
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
