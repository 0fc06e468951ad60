package import Foundation

/// Where a transfer stands in its life: a pure value, driven by its loop, that does no I/O.
///
/// Times are nanoseconds of a monotonic clock.
package struct TransferState {
    package enum Phase: Comparable {
        /// Waits for its turn.
        case queued
        /// The connection is being found or made.
        case connecting
        /// The connection is there; the request goes out and the head is awaited.
        case connected
        /// The final head has arrived.
        case receiving
        /// Over; nothing more may happen.
        case finished
    }

    package private(set) var phase = Phase.queued
    /// The first cause for failure that Afar itself found.
    package private(set) var fault: Fault?
    /// Whether the connection was there at some time.
    package private(set) var hasConnected = false
    /// Whether the final head means that what is left of the request's body is not wanted.
    package private(set) var isRefused = false
    /// Whether the caller has suspended the transfer.
    package private(set) var isSuspended = false
    /// Whether the reader of a streamed body has enough to do.
    package var isReceivingPaused = false
    /// Whether the writer of a streamed request body has nothing ready.
    package var isSendingPaused = false

    private let connectTimeout: TimeInterval
    private let idleTimeout: TimeInterval
    private let totalTimeout: TimeInterval
    private var totalDeadline: UInt64
    private var connectDeadline = UInt64.max
    private var idleDeadline = UInt64.max
    private var headDeadline = UInt64.max
    /// As many bytes within the idle timeout are as good as none.
    private let idleBytes: Int64
    /// The bytes that came and went since the idle timer began.
    private var activeBytes: Int64 = 0

    /// - Parameter isWatched: Whether somebody watches the body while it comes, and can end what takes too long.
    package init(options: ExchangeOptions, totalTimeout: TimeInterval, isWatched: Bool, now: UInt64) {
        connectTimeout = options.connectTimeout
        idleTimeout = options.idleTimeout
        self.totalTimeout = totalTimeout
        totalDeadline = MonotonicClock.deadline(after: totalTimeout, from: now)
        let bytes = options.minimumTransferRate * options.idleTimeout
        idleBytes = bytes > 0 && !isWatched ? Int64(min(bytes, 1e15)) : 0
    }

    // MARK: Progress

    package mutating func admit(at now: UInt64) {
        guard phase == .queued else { return }
        phase = .connecting
        connectDeadline = MonotonicClock.deadline(after: connectTimeout, from: now)
    }

    /// Returns whether it was not connected before.
    package mutating func connect(at now: UInt64) -> Bool {
        guard phase == .connecting else { return false }
        phase = .connected
        hasConnected = true
        connectDeadline = .max
        startIdleTimer(at: now)
        return true
    }

    /// The connection was lost, and the request is sent again over another one.
    package mutating func reconnect() {
        guard phase != .finished else { return }
        phase = .queued
        (connectDeadline, idleDeadline, headDeadline) = (.max, .max, .max)
        (isReceivingPaused, isSendingPaused, isRefused, activeBytes) = (false, false, false, 0)
    }

    /// The first byte of a head has arrived. The rest of it must arrive within the idle timeout, however much activity there is.
    package mutating func beginHead(at now: UInt64) {
        if phase == .connected, headDeadline == .max {
            headDeadline = MonotonicClock.deadline(after: idleTimeout, from: now)
        }
    }

    /// An informational head is there: the server is alive. How many there may be is limited elsewhere.
    package mutating func receiveInformational(at now: UInt64) {
        headDeadline = .max
        startIdleTimer(at: now)
    }

    /// - Parameter refuses: Whether it refuses the request or leads elsewhere, so that no more of a body is awaited.
    package mutating func receiveHead(refuses: Bool = false, at now: UInt64) {
        guard phase < .receiving else { return }
        phase = .receiving
        headDeadline = .max
        isRefused = refuses
        startIdleTimer(at: now)
    }

    /// Nobody wants the body: what is left of it may take a moment.
    package mutating func discard(at now: UInt64) {
        totalDeadline = min(totalDeadline, MonotonicClock.deadline(after: Self.longestDiscarding, from: now))
    }

    /// In seconds.
    private static let longestDiscarding: TimeInterval = 1

    /// So many bytes came or went. The idle timer starts anew once they are more than nothing.
    package mutating func noteActivity(of byteCount: Int, at now: UInt64) {
        activeBytes += Int64(byteCount)
        if activeBytes > idleBytes { startIdleTimer(at: now) }
    }

    private mutating func startIdleTimer(at now: UInt64) {
        guard phase == .connected || phase == .receiving, !isIdleTimerPaused else { return }
        activeBytes = 0
        idleDeadline = MonotonicClock.deadline(after: idleTimeout, from: now)
    }

    /// Remembers why the transfer must fail; the first cause stays.
    package mutating func fail(_ fault: Fault) {
        if self.fault == nil, phase != .finished { self.fault = fault }
    }

    /// Ends the transfer. True the first time only, so that whoever gets true completes it.
    package mutating func finish() -> Bool {
        guard phase != .finished else { return false }
        phase = .finished
        return true
    }

    // MARK: Pauses

    /// The idle timer is paused while the caller has suspended the transfer, or one of the bodies waits for the
    /// program's own side.
    private var isIdleTimerPaused: Bool { isSuspended || isReceivingPaused || isSendingPaused && !isRefused }

    package mutating func setSuspended(_ isSuspended: Bool, at now: UInt64) {
        self.isSuspended = isSuspended
        pauseDidChange(at: now)
    }

    package mutating func pauseDidChange(at now: UInt64) {
        if isIdleTimerPaused { (idleDeadline, headDeadline) = (.max, .max) } else { startIdleTimer(at: now) }
    }

    // MARK: Timers

    /// The moment at which ``expiry(at:)`` is worth asking; never later than needed.
    package var nextDeadline: UInt64 { min(connectDeadline, idleDeadline, headDeadline, totalDeadline) }

    package func expiry(at now: UInt64) -> Fault? {
        guard phase != .finished else { return nil }
        if now >= totalDeadline { return .totalTimeout(totalTimeout) }
        if now >= connectDeadline { return .connectTimeout(connectTimeout) }
        if now >= headDeadline { return .headTimeout(idleTimeout) }
        if now >= idleDeadline { return .idleTimeout(idleTimeout, byteCount: activeBytes) }
        return nil
    }
}
