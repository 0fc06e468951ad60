import Testing

@testable import AfarCurl

struct StreamWatchdogTests {
    @Test func theIntervalGrowsWhileTheStreamIsIdle() {
        var watchdog = StreamWatchdog(at: 0)
        var moments: [UInt64] = []
        for _ in 0..<9 {
            #expect(!watchdog.isDue(at: watchdog.next - 1) && watchdog.isDue(at: watchdog.next))
            moments.append(watchdog.next / 1_000_000)
            watchdog.note(at: watchdog.next)
        }
        #expect(moments == [20, 60, 140, 300, 620, 1_260, 2_260, 3_260, 4_260])
        watchdog.reset(at: 5_000_000_000)
        #expect(watchdog.next == 5_020_000_000)
    }
}
