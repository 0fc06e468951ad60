import Testing

@testable import AfarCLI

struct RateEstimateTests {
    @Test func aSteadyStreamHasItsRateImmediately() throws {
        var rate = RateEstimate()
        #expect(rate.value == nil)
        #expect(rate.seconds(for: 100) == nil)
        for tick in 1...20 {
            rate.update(bytes: Int64(tick) * 100, at: Double(tick) / 10)
            #expect(abs(try #require(rate.value) - 1000) < 1e-6)
        }
        #expect(abs(try #require(rate.seconds(for: 2000)) - 2) < 1e-6)
    }

    @Test func aChangeIsFollowedWithoutAJump() throws {
        var rate = RateEstimate()
        rate.update(bytes: 10_000, at: 10)
        rate.update(bytes: 10_000, at: 10.1)
        #expect(try #require(rate.value) > 900)
        rate.update(bytes: 10_000, at: 40)
        #expect(try #require(rate.value) < 1)
    }

    @Test func clockChangesAndNewAttemptsAreHandled() throws {
        var rate = RateEstimate()
        rate.update(bytes: 1000, at: 1)
        rate.update(bytes: 2000, at: 1)
        rate.update(bytes: 500, at: 2)
        #expect(try #require(rate.value) >= 0)
        #expect(rate.seconds(for: -5) == 0)
        var still = RateEstimate()
        still.update(bytes: 0, at: 1)
        #expect(still.seconds(for: 10) == nil)
    }
}
