import AfarCore
import Foundation

/// Catches termination signals, so that a command can clean up before the process ends.
///
/// Signals are received on a queue, not in a signal handler. Without an instance, the first signal saves ``UnsavedFiles`` and ends
/// the process. With an instance, the first signal calls its handler. A second signal ends the process immediately, even if
/// cleaning up or saving takes too long.
final class Interruption: Sendable {
    private struct State {
        var isCatching = false
        var isPaused = false
        /// The first signal and the time of its arrival.
        var received: (signal: Int32, time: ContinuousClock.Instant)?
        /// The instances that catch signals, with their handlers.
        var handlers: [ObjectIdentifier: @Sendable () -> Void] = [:]
        var instances: Set<ObjectIdentifier> = []
        var sources: [any DispatchSourceSignal] = []
    }

    /// The time after the first signal during which others are ignored. `timeout` sends its signal to the process and to the process
    /// group, and service managers send several signals.
    private static let repetitionTime = Duration.milliseconds(200)

    /// The termination signals, except those that the tool was started to ignore, as with nohup or in a background job.
    static let signals = [SIGINT, SIGTERM, SIGHUP].filter { !ignore($0) }

    private static let state = Locked(State())
    /// A queue of its own receives a thread even if all threads of the global queues are blocked.
    private static let queue = DispatchQueue(label: "afar.signals")

    /// Catches signals from now on. Returns once they are caught.
    static func endOnSignals() async {
        let isFirst = state.withLock { state in
            defer { state.isCatching = true }
            return !state.isCatching
        }
        guard isFirst else { return }
        for signal in signals {
            let source = DispatchSource.makeSignalSource(signal: signal, queue: queue)
            source.setEventHandler { receive(signal) }
            // A signal before the registration would be lost.
            await withCheckedContinuation { continuation in
                source.setRegistrationHandler { continuation.resume() }
                source.resume()
            }
            state.withLock { $0.sources.append(source) }
        }
    }

    private static func receive(_ signal: Int32) {
        let (isFirst, isSecond, handlers) = state.withLock { state -> (Bool, Bool, [@Sendable () -> Void]?) in
            if state.isPaused, signal == SIGINT { return (false, false, nil) }
            if let received = state.received {
                return (false, ContinuousClock.now >= received.time + repetitionTime, nil)
            }
            state.received = (signal, .now)
            return (true, false, state.instances.isEmpty ? nil : Array(state.handlers.values))
        }
        if isSecond { terminate(by: signal) }
        guard isFirst else { return }
        // The queue must be able to receive a second signal.
        Thread.detachNewThread {
            guard let handlers else { return end(by: signal) }
            for handler in handlers { handler() }
        }
    }

    /// Saves all files and ends the process with a signal, so that a shell can detect the signal. If the command completed first, only
    /// waits until its files are saved.
    private static func end(by signal: Int32) {
        if case .interrupted = UnsavedFiles.save(after: .interrupted(signal: signal)).ending { terminate(by: signal) }
    }

    /// Ends the process with a signal, without saving anything.
    static func terminate(by signal: Int32) -> Never {
        Foundation.signal(signal, SIG_DFL)
        // Threads of queues and tasks block signals.
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, signal)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(signal)
        _exit(128 + signal)
    }

    /// Ignores SIGINT while a closure runs, for a program that runs in the same terminal.
    static func ignoringInterrupts<Result>(_ body: () throws -> Result) rethrows -> Result {
        state.withLock { $0.isPaused = true }
        defer { state.withLock { $0.isPaused = false } }
        return try body()
    }

    /// Ignores a signal and returns whether it was already ignored.
    private static func ignore(_ signal: Int32) -> Bool {
        let previous = Foundation.signal(signal, SIG_IGN)
        return unsafeBitCast(previous, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    // MARK: Instances

    /// Creates an instance and returns once it catches signals.
    init() async {
        Self.state.withLock { _ = $0.instances.insert(ObjectIdentifier(self)) }
        await Self.endOnSignals()
    }

    deinit { remove() }

    /// Sets the handler for a signal, and calls it immediately if a signal has already arrived.
    func handle(with handler: @escaping @Sendable () -> Void) {
        let hasArrived = Self.state.withLock { state in
            state.handlers[ObjectIdentifier(self)] = handler
            return state.received != nil
        }
        if hasArrived { handler() }
    }

    /// Stops catching signals. If a signal has arrived, saves all files, and ends the process with that signal.
    func reraise() {
        remove()
        if let received = Self.state.withLock({ $0.received }) { Self.end(by: received.signal) }
    }

    private func remove() {
        Self.state.withLock { state in
            state.instances.remove(ObjectIdentifier(self))
            state.handlers[ObjectIdentifier(self)] = nil
        }
    }
}
