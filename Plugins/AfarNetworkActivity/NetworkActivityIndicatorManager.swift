import AfarCore
public import Foundation

/// A manager that determines when to show a network activity indicator, such as one in a status bar, a spinner or a cursor.
///
/// It observes Afar's notifications to count the active requests of all sessions. The indicator is shown once requests have been active
/// for ``startDelay``, and hidden once no request has been active for ``completionDelay``. Therefore, it doesn't appear for short
/// requests or flicker between requests.
///
/// ```swift
/// NetworkActivityIndicatorManager.shared.networkActivityIndicatorVisibilityChanged = { isVisible in
///     spinner.isHidden = !isVisible
/// }
/// NetworkActivityIndicatorManager.shared.isEnabled = true
/// ```
///
/// Notifications are posted on the main queue or, on Linux, on a separate queue. If your program blocks its main thread, create a
/// ``AfarCore/RequestNotifications`` with another queue, and add it to each session. You can use all members from any thread.
public final class NetworkActivityIndicatorManager: Sendable {
    /// The shared manager.
    public static let shared = NetworkActivityIndicatorManager()

    private struct State {
        var indicator = IndicatorState()
        var isEnabled = false
        var startDelay: TimeInterval = 1
        var completionDelay: TimeInterval = 0.2
        var visibilityChanged: (@Sendable (Bool) -> Void)?
        var watchers: [UUID: AsyncStream<Bool>.Continuation] = [:]
        var timer: Task<Void, Never>?
        var attempts: Set<ObjectIdentifier> = []
        var observers: [any NSObjectProtocol] = []
    }

    private let lock = NSLock()
    // Safe because it's only used under the lock.
    private nonisolated(unsafe) var state = State()
    /// The queue on which the closure is called.
    private let queue: DispatchQueue
    /// Waits for the end of a delay.
    private let pause: @Sendable (Duration) async throws -> Void

    /// Creates a manager.
    ///
    /// - Parameter queue: The queue on which ``networkActivityIndicatorVisibilityChanged`` is called. The default is the main queue.
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

    // MARK: Configuration

    /// A Boolean value that indicates whether requests are counted. The default is false. Requests that are already active when it's
    /// set to true aren't counted.
    public var isEnabled: Bool {
        get { withState { $0.isEnabled } }
        set { newValue ? enable() : disable() }
    }

    /// The number of seconds for which requests must be active before the indicator is shown. The default is 1.
    public var startDelay: TimeInterval {
        get { withState { $0.startDelay } }
        set { withState { $0.startDelay = newValue } }
    }

    /// The number of seconds without active requests before the indicator is hidden. The default is 0.2.
    public var completionDelay: TimeInterval {
        get { withState { $0.completionDelay } }
        set { withState { $0.completionDelay = newValue } }
    }

    // MARK: Visibility

    /// A Boolean value that indicates whether the indicator should be visible.
    public var isNetworkActivityIndicatorVisible: Bool { withState { $0.indicator.isVisible } }

    /// A closure that is called when the indicator should be shown (true) or hidden (false).
    @preconcurrency
    public var networkActivityIndicatorVisibilityChanged: (@Sendable (Bool) -> Void)? {
        get { withState { $0.visibilityChanged } }
        set {
            // Releases the old closure outside the lock, because releasing it can run user code.
            var closure = newValue
            withState { swap(&$0.visibilityChanged, &closure) }
        }
    }

    /// Returns the visibility of the indicator as a sequence of its current value and all changes. A slow consumer receives only the
    /// newest value.
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

    // MARK: Other network activity

    /// Adds network activity that isn't an Afar request. Call ``requestDidStop()`` when it ends. Has no effect while ``isEnabled`` is
    /// false.
    public func requestDidStart() {
        change { if $0.isEnabled { $0.indicator.begin() } }
    }

    /// Ends the network activity of a call to ``requestDidStart()``.
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

    /// Changes the state, starts or cancels the delay, and notifies observers of a new visibility.
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
        // Limited to a day, so that the value can't overflow a duration.
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

/// A state machine for the indicator's visibility. It has no timer. Its owner starts the delay of a phase and reports the end of the
/// delay.
struct IndicatorState: Equatable, Sendable {
    enum Phase: Equatable, Sendable {
        case notActive
        /// Requests are active, but the start delay hasn't passed.
        case delayingStart
        case active
        /// No requests are active, but the completion delay hasn't passed.
        case delayingCompletion
    }

    private(set) var phase = Phase.notActive
    private(set) var count = 0

    var isVisible: Bool { phase == .active || phase == .delayingCompletion }

    /// Counts the start of a request.
    mutating func begin() {
        count += 1
        switch phase {
        case .notActive: phase = .delayingStart
        case .delayingCompletion: phase = .active
        case .delayingStart, .active: break
        }
    }

    /// Counts the end of a request. Has no effect if no request is active.
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

    /// Ends the delay of the current phase.
    mutating func delayDidEnd() {
        switch phase {
        case .delayingStart: phase = .active
        case .delayingCompletion: phase = .notActive
        case .notActive, .active: break
        }
    }
}
