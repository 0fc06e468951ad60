import AfarCore
public import Foundation

/// Says when to show that the network is in use: an indicator in a status bar, a spinner, a cursor.
///
/// It counts the requests of all sessions while they are sent and answered, by the notifications that Afar posts about
/// them. The indicator is to be shown when some have run for ``startDelay``, and to be hidden when none has run for
/// ``completionDelay``, so that it neither flashes up for a short request nor flickers between two.
///
/// ```swift
/// NetworkActivityIndicatorManager.shared.networkActivityIndicatorVisibilityChanged = { isVisible in
///     spinner.isHidden = !isVisible
/// }
/// NetworkActivityIndicatorManager.shared.isEnabled = true
/// ```
///
/// Notifications are posted on the main queue. A program whose main thread is blocked gives its sessions a
/// ``AfarCore/RequestNotifications`` with another queue. All members may be used from any thread.
public final class NetworkActivityIndicatorManager: Sendable {
    /// The manager that a program usually needs.
    public static let shared = NetworkActivityIndicatorManager()

    private struct State {
        var indicator = IndicatorState()
        var isEnabled = false
        var startDelay: TimeInterval = 1
        var completionDelay: TimeInterval = 0.2
        var visibilityChanged: (@Sendable (Bool) -> Void)?
        var watchers: [UUID: AsyncStream<Bool>.Continuation] = [:]
        var timer: Task<Void, Never>?
        /// The attempts that are under way.
        var attempts: Set<ObjectIdentifier> = []
        var observers: [any NSObjectProtocol] = []
    }

    private let lock = NSLock()
    // Safe because it is used under the lock only.
    private nonisolated(unsafe) var state = State()
    /// Where the closure is called.
    private let queue: DispatchQueue
    /// Waits for a delay's end.
    private let pause: @Sendable (Duration) async throws -> Void

    /// Makes a manager of its own.
    ///
    /// - Parameter queue: Where ``networkActivityIndicatorVisibilityChanged`` is called. The default is the main queue.
    public convenience init(queue: DispatchQueue = .main) {
        self.init(queue: queue) { try await Task.sleep(for: $0) }
    }

    init(queue: DispatchQueue, pause: @escaping @Sendable (Duration) async throws -> Void) {
        self.queue = queue
        self.pause = pause
    }

    deinit {
        isEnabled = false
        for watcher in withState({ $0.watchers.values }) { watcher.finish() }
    }

    private func withState<Value>(_ body: (inout State) -> Value) -> Value { lock.withLock { body(&state) } }

    // MARK: What it does

    /// Whether requests are counted. The default is false. Those that are under way when this becomes true are not counted.
    public var isEnabled: Bool {
        get { withState { $0.isEnabled } }
        set { newValue ? enable() : disable() }
    }

    /// How long requests must run before the indicator is shown, in seconds. The default is 1.
    public var startDelay: TimeInterval {
        get { withState { $0.startDelay } }
        set { withState { $0.startDelay = newValue } }
    }

    /// How long no request must run before the indicator is hidden, in seconds. The default is 0.2.
    public var completionDelay: TimeInterval {
        get { withState { $0.completionDelay } }
        set { withState { $0.completionDelay = newValue } }
    }

    // MARK: What it says

    /// Whether the indicator is to be seen.
    public var isNetworkActivityIndicatorVisible: Bool { withState { $0.indicator.isVisible } }

    /// Called when the indicator is to be shown (true) or hidden (false).
    @preconcurrency
    public var networkActivityIndicatorVisibilityChanged: (@Sendable (Bool) -> Void)? {
        get { withState { $0.visibilityChanged } }
        set {
            // The old one is let go of outside of the lock, as that may run anybody's code.
            var closure = newValue
            withState { swap(&$0.visibilityChanged, &closure) }
        }
    }

    /// Whether the indicator is to be seen: as it is now, then at each change. A loop that falls behind gets the newest.
    public func visibility() -> AsyncStream<Bool> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let id = UUID()
            continuation.onTermination = { [weak self] _ in
                _ = self?.withState { $0.watchers.removeValue(forKey: id) }
            }
            withState { state in
                state.watchers[id] = continuation
                continuation.yield(state.indicator.isVisible)
            }
        }
    }

    // MARK: What others do

    /// Counts something that uses the network and is none of Afar's requests. ``requestDidStop()`` must follow. Nothing is
    /// counted while ``isEnabled`` is false.
    public func requestDidStart() {
        change { if $0.isEnabled { $0.indicator.begin() } }
    }

    /// What ``requestDidStart()`` has counted is over.
    public func requestDidStop() {
        change { if $0.isEnabled { $0.indicator.end() } }
    }

    // MARK: Requests

    private func enable() {
        let began = [Request.didResumeTaskNotification]
        let ended = [
            Request.didSuspendTaskNotification, Request.didCancelTaskNotification, Request.didCompleteTaskNotification,
        ]
        withState { state in
            guard !state.isEnabled else { return }
            state.isEnabled = true
            state.observers = began.map { observe($0) { manager, attempt in manager.attemptDidBegin(attempt) } }
            state.observers += ended.map { observe($0) { manager, attempt in manager.attemptDidEnd(attempt) } }
        }
    }

    private func disable() {
        var observers: [any NSObjectProtocol] = []
        change { state in
            observers = state.observers
            state.observers = []
            state.isEnabled = false
            state.attempts = []
            state.indicator = IndicatorState()
        }
        observers.forEach { NotificationCenter.default.removeObserver($0) }
    }

    private func observe(
        _ name: Notification.Name,
        _ take: @escaping @Sendable (NetworkActivityIndicatorManager, ObjectIdentifier) -> Void
    ) -> any NSObjectProtocol {
        NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { [weak self] notification in
            guard let self, let task = notification.userInfo?[Notification.Key.Task] as? AnyObject else { return }
            take(self, ObjectIdentifier(task))
        }
    }

    private func attemptDidBegin(_ attempt: ObjectIdentifier) {
        change { if $0.isEnabled, $0.attempts.insert(attempt).inserted { $0.indicator.begin() } }
    }

    private func attemptDidEnd(_ attempt: ObjectIdentifier) {
        change { if $0.attempts.remove(attempt) != nil { $0.indicator.end() } }
    }

    // MARK: Changes

    /// Makes a change, and does what follows from it: a wait begins or ends, and who wants to know is told.
    private func change(_ body: (inout State) -> Void) {
        withState { state in
            let before = state.indicator
            body(&state)
            guard state.indicator.phase != before.phase else { return }
            state.timer?.cancel()
            state.timer = timer(in: state)
            guard state.indicator.isVisible != before.isVisible else { return }
            let isVisible = state.indicator.isVisible
            for watcher in state.watchers.values { watcher.yield(isVisible) }
            if let visibilityChanged = state.visibilityChanged { queue.async { visibilityChanged(isVisible) } }
        }
    }

    private func timer(in state: State) -> Task<Void, Never>? {
        let delay: TimeInterval
        switch state.indicator.phase {
        case .delayingStart: delay = state.startDelay
        case .delayingCompletion: delay = state.completionDelay
        case .notActive, .active: return nil
        }
        // Within a day, so that no value can be too much for a duration.
        let duration = Duration.seconds(max(0, min(delay, 86_400)))
        return Task { [weak self, pause] in
            guard (try? await pause(duration)) != nil else { return }
            self?.change { if !Task.isCancelled { $0.indicator.delayDidEnd() } }
        }
    }
}

// MARK: - Earlier names

extension NetworkActivityIndicatorManager {
    /// The same as ``requestDidStart()``.
    public func incrementActivityCount() { requestDidStart() }

    /// The same as ``requestDidStop()``.
    public func decrementActivityCount() { requestDidStop() }
}

// MARK: - State of the indicator

/// When the indicator is to be seen. A value without any time: it says when to wait, and is told when the wait is over.
struct IndicatorState: Equatable, Sendable {
    /// Where the indicator is.
    enum Phase: Equatable, Sendable {
        case notActive
        /// There are requests, perhaps not for long enough to show anything.
        case delayingStart
        case active
        /// There are no requests, perhaps not for long enough to hide what is shown.
        case delayingCompletion
    }

    private(set) var phase = Phase.notActive
    private(set) var count = 0

    /// Whether the indicator is to be seen.
    var isVisible: Bool { phase == .active || phase == .delayingCompletion }

    /// A request has begun.
    mutating func begin() {
        count += 1
        switch phase {
        case .notActive: phase = .delayingStart
        case .delayingCompletion: phase = .active
        case .delayingStart, .active: break
        }
    }

    /// A request is over. One that was never begun changes nothing.
    mutating func end() {
        guard count > 0 else { return }
        count -= 1
        guard count == 0 else { return }
        switch phase {
        case .delayingStart: phase = .notActive
        case .active: phase = .delayingCompletion
        case .notActive, .delayingCompletion: break
        }
    }

    /// What was waited for in this phase is over.
    mutating func delayDidEnd() {
        switch phase {
        case .delayingStart: phase = .active
        case .delayingCompletion: phase = .notActive
        case .notActive, .active: break
        }
    }
}
