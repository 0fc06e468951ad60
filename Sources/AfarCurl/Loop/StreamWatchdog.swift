/// When libcurl is to look into the buffers of connections that several transfers share: a pure value.
///
/// The HTTP/2 of libcurl before 8.17 may leave what has come for one stream in a buffer, behind what another has read, and waits
/// for an event of the socket that may never come. So it is called when there was none for a while, more and more rarely as long
/// as nothing happens.
struct StreamWatchdog {
    /// In nanoseconds.
    private static let shortestInterval: UInt64 = 20_000_000
    private static let longestInterval: UInt64 = 1_000_000_000

    private var interval = Self.shortestInterval
    private(set) var next: UInt64

    init(at now: UInt64) { next = now + Self.shortestInterval }

    func isDue(at now: UInt64) -> Bool { next <= now }

    /// It has been called.
    mutating func note(at now: UInt64) {
        interval = min(interval * 2, Self.longestInterval)
        next = now + interval
    }

    /// Something has come.
    mutating func reset(at now: UInt64) {
        interval = Self.shortestInterval
        next = now + interval
    }
}
