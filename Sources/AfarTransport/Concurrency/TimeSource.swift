public import Foundation

/// A source of time for a session's delays and expiration dates.
///
/// Retries, rate limits, the freshness of cached responses, cookies and HSTS policies use the session's source. With a `ManualClock` of the
/// module AfarTesting, a test can therefore skip hours of delays. The timeouts of transports always use real time.
public struct TimeSource: Sendable {
    private struct Values {
        let now: @Sendable () -> Date
        let uptime: @Sendable () -> Duration
        let sleep: @Sendable (Duration) async throws -> Void
    }

    private final class Storage: Sendable {
        let values: Values

        init(_ values: Values) { self.values = values }
    }

    /// The system's continuous clock and date.
    public static let system = TimeSource(storage: nil)

    /// Nil for the system's time. Options are copied often, and copying nil is faster than retaining an object.
    private let storage: Storage?

    private init(storage: Storage?) { self.storage = storage }

    /// Creates a source of time.
    ///
    /// - Parameters:
    ///   - clock: The clock for delays.
    ///   - now: Returns the current date, for expiration dates. The closure can be called from any thread.
    public init(clock: any Clock<Duration>, now: @escaping @Sendable () -> Date) {
        self.init(opening: clock, now)
    }

    private init<C: Clock<Duration>>(opening clock: C, _ now: @escaping @Sendable () -> Date) {
        let start = clock.now
        storage = Storage(
            Values(now: now, uptime: { start.duration(to: clock.now) }, sleep: { try await clock.sleep(for: $0) }))
    }

    package var isSystem: Bool { storage == nil }

    /// The current date.
    public var now: Date { storage?.values.now() ?? Date() }

    /// The time since an arbitrary but fixed instant. Unlike ``now``, it never jumps when the system's date is changed.
    public var uptime: Duration {
        guard let storage else { return Self.start.duration(to: .now) }
        return storage.values.uptime()
    }

    private static let start = ContinuousClock.now

    /// Suspends the current task for a duration, or until it is canceled, without using the task pool's threads.
    package func pause(for duration: Duration) async {
        let end = Deferred<Void>()
        let timer = end.fulfill((), after: duration, of: self)
        await end.value(ifCancelled: ())
        timer.cancel()
    }

    /// Suspends the current task for a duration. The duration is limited to the range from 0 to 1e9 seconds.
    ///
    /// - Throws: `CancellationError` if the task is canceled.
    public func sleep(for duration: Duration) async throws {
        let duration = min(max(duration, .zero), .seconds(1e9))
        if let storage { return try await storage.values.sleep(duration) }
        await pause(for: duration)
        try Task.checkCancellation()
    }
}
