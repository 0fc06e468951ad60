import Foundation

/// Limits the rate at which bodies are sent and received.
///
/// ```swift
/// // The requests of a session share the limit.
/// configuration.bandwidthLimiter = BandwidthLimiter(download: 5_000_000)
/// // A request with a limit of its own.
/// session.download(url).options { $0.bandwidthLimiter = BandwidthLimiter(download: 500_000) }
/// ```
///
/// After a part of a body has been sent or received, the exchange is suspended until the rate permits the next part. A suspended exchange
/// doesn't read, so the server has to slow down. Parts can be as large as 256 KiB, or 1 MiB over HTTP/2, so low rates alternate between
/// bursts and pauses. The idle timer stops during a pause. Bytes of responses are counted after they have been decoded.
///
/// All exchanges with the same limiter share its rates. You can use a limiter from any thread.
public final class BandwidthLimiter: Sendable {
    /// Delays of less than this time aren't worth a suspension. They are added to the next delay.
    private static let shortestPause = Duration.milliseconds(10)

    fileprivate enum Direction { case upload, download }

    private struct Lane {
        /// The bytes per second; nil for no limit.
        let rate: Double?
        /// The uptime at which all bytes so far would have been transferred at this rate.
        var end = Duration.zero

        init(_ rate: Int?) { self.rate = rate.map { Double(max(1, $0)) } }

        /// Counts bytes. Returns the time to pause.
        mutating func count(_ bytes: Int64, at now: Duration) -> Duration {
            guard let rate, bytes > 0 else { return .zero }
            end = max(end, now) + .seconds(min(Double(bytes) / rate, 1e9))
            let pause = end - now
            return pause < BandwidthLimiter.shortestPause ? .zero : pause
        }
    }

    private let lanes: Locked<(upload: Lane, download: Lane)>

    /// Creates a limiter.
    ///
    /// - Parameters:
    ///   - upload: The maximum number of bytes of request bodies per second, at least 1. The default is nil: no limit.
    ///   - download: The maximum number of bytes of response bodies per second, at least 1. The default is nil: no limit.
    public init(upload: Int? = nil, download: Int? = nil) { lanes = Locked((Lane(upload), Lane(download))) }

    fileprivate func pause(after bytes: Int64, _ direction: Direction, at now: Duration) -> Duration {
        lanes.withLock { lanes in
            switch direction {
            case .upload: lanes.upload.count(bytes, at: now)
            case .download: lanes.download.count(bytes, at: now)
            }
        }
    }
}

extension Exchange {
    /// Applies the limiter of the options, if any.
    package mutating func limitBandwidth() {
        guard let limiter = options.bandwidthLimiter else { return }
        let limited = LimitedExchange(self, by: limiter)
        (observer, control) = (limited, limited.control)
    }
}

/// The pause of an exchange. Its timer can fire while a longer pause replaces it, so each pause has a number.
struct TransferPause {
    /// The number of the current pause; nil between pauses.
    private var current: Int?
    private var count = 0
    /// The uptime at which the current or last pause ends.
    private var end = Duration.zero

    var isActive: Bool { current != nil }

    /// Begins a pause. Returns its number, or nil if another pause ends at the same time or later.
    mutating func begin(until end: Duration) -> Int? {
        guard end > self.end else { return nil }
        count += 1
        (self.end, current) = (end, count)
        return count
    }

    /// Ends a pause. Returns false if it isn't the current one.
    mutating func end(_ number: Int) -> Bool {
        guard current == number else { return false }
        current = nil
        return true
    }
}

/// Suspends an exchange while its limiter requires a pause, or while its owner has suspended it.
private final class LimitedExchange: ExchangeObserver {
    private struct State {
        var pause = TransferPause()
        /// The timer of the pause. Releasing it ends the timer.
        var timer: DelayedCall?
        var sent: Int64 = 0
        var received: Int64 = 0
    }

    /// The control that the transport observes.
    let control = ExchangeControl()
    private let owner: ExchangeControl
    private let base: (any ExchangeObserver)?
    private let limiter: BandwidthLimiter
    private let time: TimeSource
    private let state = Locked(State())
    /// Held while the control is changed. Without this lock, the last change could apply an outdated state.
    private let applying = Locked(())

    init(_ exchange: Exchange, by limiter: BandwidthLimiter) {
        (owner, base, self.limiter, time) = (exchange.control, exchange.observer, limiter, exchange.options.timeSource)
        if owner.attach({ [weak self] _ in self?.apply() }) { apply() }
    }

    private func apply() {
        applying.withLock { _ in
            // Read the owner's state here, because the state can change while the owner reports it.
            let isSuspended = owner.isSuspended || state.withLock { $0.pause.isActive }
            if isSuspended { control.suspend() } else { control.resume() }
        }
    }

    private func transferred(
        _ total: Int64, since last: WritableKeyPath<State, Int64>, _ direction: BandwidthLimiter.Direction
    ) {
        let bytes = state.withLock { state in
            // The total of each hop begins at 0.
            defer { state[keyPath: last] = total }
            return total < state[keyPath: last] ? total : total - state[keyPath: last]
        }
        let now = time.uptime
        let pause = limiter.pause(after: bytes, direction, at: now)
        guard pause > .zero else { return }
        // The last timer is released outside the lock, because releasing a timer cancels it.
        let last = state.withLock { state -> DelayedCall? in
            guard let number = state.pause.begin(until: now + pause) else { return nil }
            let timer = DelayedCall(after: pause, of: time) { [weak self] in self?.endPause(number) }
            return Swift.exchange(&state.timer, with: timer)
        }
        last?.cancel()
        apply()
    }

    private func endPause(_ number: Int) {
        if state.withLock({ $0.pause.end(number) }) { apply() }
    }

    // MARK: ExchangeObserver

    func exchangeDidSend(bytes: Int64, expected: Int64?) {
        base?.exchangeDidSend(bytes: bytes, expected: expected)
        transferred(bytes, since: \.sent, .upload)
    }

    func exchangeDidReceive(bytes: Int64, expected: Int64?) {
        base?.exchangeDidReceive(bytes: bytes, expected: expected)
        transferred(bytes, since: \.received, .download)
    }

    func exchangeDidReceiveInformational(_ head: ResponseHead) { base?.exchangeDidReceiveInformational(head) }
    func exchangeDidReceiveHead(_ head: ResponseHead) { base?.exchangeDidReceiveHead(head) }
    func exchangeWillFollow(_ redirect: Redirect) { base?.exchangeWillFollow(redirect) }
    func exchangeWillAnswerChallenge(in head: ResponseHead) { base?.exchangeWillAnswerChallenge(in: head) }
    func exchangeIsWaitingForConnectivity() { base?.exchangeIsWaitingForConnectivity() }
}
