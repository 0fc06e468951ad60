import Foundation

/// The state of a transfer: its phase, its pauses and its timers.
///
/// This is a value that performs no I/O. The transfer's loop updates it. Times are in nanoseconds of a monotonic clock.
package struct TransferState {
    package enum Phase: Comparable {
        /// The transfer waits for a connection.
        case queued
        /// A connection is being selected or opened.
        case connecting
        /// The request is being sent, and no final head has arrived.
        case connected
        /// The final head has arrived.
        case receiving
        case finished
    }

    package private(set) var phase = Phase.queued
    /// The first failure that Afar itself detected.
    package private(set) var fault: Fault?
    package private(set) var hasConnected = false
    /// Whether the server no longer needs the rest of the request's body, according to the final head.
    package private(set) var needsNoMoreBody = false
    /// Whether the caller has suspended the transfer.
    package private(set) var isSuspended = false
    /// Whether receiving waits for the reader of a streamed response body.
    package var isReceivingPaused = false
    /// Whether sending waits for the source of a streamed request body.
    package var isSendingPaused = false
    /// Whether the bodies carry another protocol.
    private var isTunnel = false

    private let connectTimeout: TimeInterval
    private let idleTimeout: TimeInterval
    private let totalTimeout: TimeInterval
    private var totalDeadline: UInt64
    private var connectDeadline = UInt64.max
    private var idleDeadline = UInt64.max
    private var headDeadline = UInt64.max
    /// The transfer counts as idle if it sends and receives at most this many bytes within the idle timeout.
    private let idleBytes: Int64
    /// The number of bytes sent and received since the idle timer started.
    private var activeBytes: Int64 = 0

    /// Creates the state of a queued transfer for a hop.
    package init(_ hop: Hop, now: UInt64) {
        let exchange = hop.exchange
        connectTimeout = exchange.options.connectTimeout
        idleTimeout = exchange.options.idleTimeout
        totalTimeout = hop.totalTimeout
        totalDeadline = MonotonicClock.deadline(after: totalTimeout, from: now)
        // The minimum transfer rate doesn't apply to a body that is streamed to a reader.
        let isStreamed = if case .stream = exchange.delivery { true } else { false }
        let bytes = exchange.options.minimumTransferRate * idleTimeout
        idleBytes = bytes > 0 && !isStreamed ? Int64(min(bytes, 1e15)) : 0
    }

    // MARK: Progress

    package mutating func admit(at now: UInt64) {
        guard phase == .queued else { return }
        phase = .connecting
        connectDeadline = MonotonicClock.deadline(after: connectTimeout, from: now)
    }

    /// Stops the connect timer, because the transfer waits in the queue again.
    package mutating func requeue() {
        if phase == .connecting { (phase, connectDeadline) = (.queued, .max) }
    }

    /// Returns false if the transfer isn't connecting.
    package mutating func connect(at now: UInt64) -> Bool {
        guard phase == .connecting else { return false }
        phase = .connected
        hasConnected = true
        connectDeadline = .max
        startIdleTimer(at: now)
        return true
    }

    /// Starts over after the connection was lost. The request is sent again over another connection.
    package mutating func reconnect() {
        guard phase != .finished else { return }
        phase = .queued
        (connectDeadline, idleDeadline, headDeadline) = (.max, .max, .max)
        (isReceivingPaused, isSendingPaused, needsNoMoreBody, activeBytes) = (false, false, false, 0)
    }

    /// Records the first byte of a head. The head must be complete within the idle timeout, regardless of activity.
    package mutating func beginHead(at now: UInt64) {
        if phase == .connected, headDeadline == .max {
            headDeadline = MonotonicClock.deadline(after: idleTimeout, from: now)
        }
    }

    /// Records an informational head, which restarts the idle timer.
    package mutating func receiveInformational(at now: UInt64) {
        headDeadline = .max
        startIdleTimer(at: now)
    }

    /// Records the final head.
    ///
    /// - Parameters:
    ///   - needsNoMoreBody: Whether the response is an error or a redirect, so that the transfer no longer waits for more of the
    ///     request's body.
    ///   - now: The current time.
    package mutating func receiveHead(needsNoMoreBody: Bool = false, at now: UInt64) {
        guard phase < .receiving else { return }
        phase = .receiving
        headDeadline = .max
        self.needsNoMoreBody = needsNoMoreBody
        startIdleTimer(at: now)
    }

    /// Limits the time to read the rest of a body that is discarded.
    package mutating func discard(at now: UInt64) {
        totalDeadline = min(totalDeadline, MonotonicClock.deadline(after: Self.longestDiscarding, from: now))
    }

    /// Stops the timers, because the bodies carry another protocol.
    package mutating func becomeTunnel() {
        isTunnel = true
        (totalDeadline, idleDeadline) = (.max, .max)
    }

    /// The maximum time to read a body that is discarded, in seconds.
    private static let longestDiscarding: TimeInterval = 1

    /// Records bytes that were sent or received. The idle timer restarts when more than `idleBytes` have been counted since its start.
    package mutating func noteActivity(of byteCount: Int, at now: UInt64) {
        activeBytes += Int64(byteCount)
        if activeBytes > idleBytes { startIdleTimer(at: now) }
    }

    private mutating func startIdleTimer(at now: UInt64) {
        guard phase == .connected || phase == .receiving, !isIdleTimerPaused else { return }
        activeBytes = 0
        idleDeadline = MonotonicClock.deadline(after: idleTimeout, from: now)
    }

    /// Records a failure. Only the first one is kept.
    package mutating func fail(_ fault: Fault) {
        if self.fault == nil, phase != .finished { self.fault = fault }
    }

    /// Ends the transfer. Returns true on the first call only. The caller that receives true must complete the transfer.
    package mutating func finish() -> Bool {
        guard phase != .finished else { return false }
        phase = .finished
        return true
    }

    // MARK: Pauses

    /// Whether the idle timer is paused: while the transfer is suspended, waits for the reader or the source of a body, or carries
    /// another protocol.
    private var isIdleTimerPaused: Bool {
        isSuspended || isReceivingPaused || isSendingPaused && !needsNoMoreBody || isTunnel
    }

    package mutating func setSuspended(_ isSuspended: Bool, at now: UInt64) {
        self.isSuspended = isSuspended
        pauseDidChange(at: now)
    }

    package mutating func pauseDidChange(at now: UInt64) {
        if isIdleTimerPaused { (idleDeadline, headDeadline) = (.max, .max) } else { startIdleTimer(at: now) }
    }

    // MARK: Timers

    /// The earliest time at which ``expiry(at:)`` can return a fault.
    package var nextDeadline: UInt64 { min(connectDeadline, idleDeadline, headDeadline, totalDeadline) }

    /// Returns the fault to report if a timeout has expired, otherwise nil.
    package func expiry(at now: UInt64) -> Fault? {
        guard phase != .finished else { return nil }
        if now >= totalDeadline { return .totalTimeout(totalTimeout) }
        if now >= connectDeadline { return .connectTimeout(connectTimeout) }
        if now >= headDeadline { return .headTimeout(idleTimeout) }
        if now >= idleDeadline { return .idleTimeout(idleTimeout, byteCount: activeBytes) }
        return nil
    }
}
