import Foundation

/// Nanoseconds of a clock that never goes back.
enum MonotonicClock {
    static var now: UInt64 { DispatchTime.now().uptimeNanoseconds }
}
