public import AfarCore
public import Foundation

/// A clock that advances only when a test advances it.
///
/// With this clock as a session's source of time, delays between retries, rate limits and scripted delays take no real time:
///
/// ```swift
/// let clock = ManualClock()
/// var configuration = SessionConfiguration()
/// configuration.timeSource = clock.timeSource
/// let session = Session(configuration: configuration, interceptor: .retryPolicy)
/// let response = session.request(url).validate().serializingData().response
/// await clock.waitForSleepers()  // The first attempt has failed.
/// clock.advance(by: .seconds(60))
/// ```
///
/// You can call all methods from any thread.
public final class ManualClock: Clock {
    /// A point in time, as the duration since the clock's creation.
    public struct Instant: InstantProtocol {
        fileprivate let elapsed: Duration

        /// Returns the instant after a duration, or the last possible instant if a `Duration` can't represent the result.
        public func advanced(by duration: Duration) -> Instant {
            let (sum, overflows) = elapsed.attoseconds.addingReportingOverflow(duration.attoseconds)
            guard overflows else { return Instant(elapsed: Duration(attoseconds: sum)) }
            return Instant(elapsed: Duration(attoseconds: duration < .zero ? .min : .max))
        }

        /// Returns the duration until another instant.
        public func duration(to other: Instant) -> Duration { other.elapsed - elapsed }

        /// Returns a Boolean value that indicates whether the first instant is earlier than the second.
        public static func < (first: Instant, second: Instant) -> Bool { first.elapsed < second.elapsed }
    }

    private struct Sleeper {
        let id: Int
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Waiter {
        let id: Int
        let count: Int
        let latest: Instant?
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var now = Instant(elapsed: .zero)
        var lastID = 0
        var sleepers: [Sleeper] = []
        var waiters: [Waiter] = []

        mutating func makeID() -> Int {
            lastID += 1
            return lastID
        }

        /// Whether at least `count` tasks sleep until `latest` or earlier. If `latest` is nil, all sleeping tasks count.
        func hasSleepers(_ count: Int, until latest: Instant?) -> Bool {
            sleepers.count { $0.deadline <= latest ?? $0.deadline } >= count
        }

        /// Removes and returns the elements that match, in their order.
        mutating func take<Element>(
            _ elements: WritableKeyPath<State, [Element]>, where matches: (Element) -> Bool
        ) -> [Element] {
            defer { self[keyPath: elements].removeAll(where: matches) }
            return self[keyPath: elements].filter(matches)
        }
    }

    private let start: Date
    private let state = Locked(State())

    /// Creates a clock.
    ///
    /// - Parameter date: The first date of the clock's ``timeSource``. The default is the current date.
    public init(date: Date = Date()) { start = date }

    /// The current instant.
    public var now: Instant { state.withLock { $0.now } }

    /// The smallest step of the clock: zero.
    public var minimumResolution: Duration { .zero }

    /// The date that corresponds to ``now``.
    public var date: Date { start + now.elapsed / .seconds(1) }

    /// A source of time for ``SessionConfiguration/timeSource``.
    public var timeSource: TimeSource { TimeSource(clock: self, now: { self.date }) }

    /// The number of tasks that sleep until the clock is advanced.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// Suspends the current task until the clock reaches an instant.
    ///
    /// - Throws: `CancellationError` if the task is canceled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { $0.makeID() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let sleeper = Sleeper(id: id, deadline: deadline, continuation: continuation)
                let (result, waiters) = state.withLock { state -> (Result<Void, any Error>?, [Waiter]) in
                    // A cancellation after this check waits for the lock, and then finds the sleeper.
                    if Task.isCancelled { return (.failure(CancellationError()), []) }
                    guard deadline > state.now else { return (.success(()), []) }
                    state.sleepers.append(sleeper)
                    let current = state
                    return (nil, state.take(\.waiters) { current.hasSleepers($0.count, until: $0.latest) })
                }
                if let result { continuation.resume(with: result) }
                for waiter in waiters { waiter.continuation.resume() }
            }
        } onCancel: {
            let canceled = state.withLock { $0.take(\.sleepers) { $0.id == id } }
            for sleeper in canceled { sleeper.continuation.resume(throwing: CancellationError()) }
        }
    }

    /// Advances the clock, and wakes the tasks whose deadlines have passed, in the order of the deadlines. A negative duration is treated
    /// as 0.
    ///
    /// The method doesn't wait until the tasks have run. If a task sleeps again, its new deadline depends on the advanced time. To
    /// wait until the task sleeps, call ``waitForSleepers(_:within:)``.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            let now = state.now.advanced(by: max(duration, .zero))
            state.now = now
            return state.take(\.sleepers) { $0.deadline <= now }
        }
        for sleeper in due.sorted(by: { $0.deadline < $1.deadline }) { sleeper.continuation.resume() }
    }

    /// Waits until at least this number of tasks sleep at the same time, or until the current task is canceled.
    ///
    /// - Parameters:
    ///   - count: The number of tasks. The default is 1.
    ///   - duration: Counts only tasks whose sleep ends within this time from now. Use this parameter to ignore tasks that sleep
    ///     until a later deadline, such as a timeout. The default is nil: all tasks count.
    public func waitForSleepers(_ count: Int = 1, within duration: Duration? = nil) async {
        let id = state.withLock { $0.makeID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    let latest = duration.map(state.now.advanced)
                    if Task.isCancelled || state.hasSleepers(count, until: latest) { return true }
                    state.waiters.append(Waiter(id: id, count: count, latest: latest, continuation: continuation))
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            for waiter in state.withLock({ $0.take(\.waiters) { $0.id == id } }) { waiter.continuation.resume() }
        }
    }
}
