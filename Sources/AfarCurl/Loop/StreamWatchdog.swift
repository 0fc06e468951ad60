/// Decides when libcurl must process the buffers of shared connections. It performs no I/O.
///
/// Before 8.17, libcurl's HTTP/2 can leave data for one stream in a buffer after it has read another stream's data. libcurl then
/// waits for a socket event that may never arrive. Therefore, the loop calls libcurl while no events arrive, at increasing
/// intervals.
struct StreamWatchdog {
    /// The limits of the interval, in nanoseconds.
    private static let shortestInterval: UInt64 = 20_000_000
    private static let longestInterval: UInt64 = 1_000_000_000

    private var interval = Self.shortestInterval
    private(set) var next: UInt64

    init(at now: UInt64) { next = now + Self.shortestInterval }

    func isDue(at now: UInt64) -> Bool { next <= now }

    /// Records a call.
    mutating func note(at now: UInt64) {
        interval = min(interval * 2, Self.longestInterval)
        next = now + interval
    }

    /// Records that data has arrived.
    mutating func reset(at now: UInt64) {
        interval = Self.shortestInterval
        next = now + interval
    }
}
