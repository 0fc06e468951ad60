package import Foundation

/// Nanoseconds of a clock that never goes back.
package enum MonotonicClock {
    package static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The time so many seconds after another; `UInt64.max` from 1e9 seconds (about 30 years) on, and for NaN.
    package static func deadline(after seconds: TimeInterval, from now: UInt64) -> UInt64 {
        guard seconds < 1e9 else { return .max }
        return now + UInt64(max(0, seconds) * 1e9)
    }
}
