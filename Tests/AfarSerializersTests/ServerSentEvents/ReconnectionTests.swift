import Testing

@testable import AfarSerializers

/// The delays before an event source reconnects.
@Suite struct ReconnectionTests {
    typealias Reconnection = EventSource.Reconnection

    @Test func eventsResetTheDelay() {
        let rules = Reconnection(delay: .seconds(3))
        #expect(rules.delay(after: 0, serverDelay: nil, chance: 1) == .seconds(3))
        #expect(rules.delay(after: 0, serverDelay: .milliseconds(10), chance: 1) == .milliseconds(10))
        #expect(rules.delay(after: 0, serverDelay: .zero, chance: 1) == .zero)
    }

    @Test func theDelayGrowsUpToALimit() {
        let rules = Reconnection(delay: .seconds(3), maximumDelay: .seconds(20), jitter: 0)
        let delays = (1...5).map { rules.delay(after: $0, serverDelay: nil, chance: 1) }
        #expect(delays == [.seconds(3), .seconds(6), .seconds(12), .seconds(20), .seconds(20)])
    }

    @Test func theServersDelayCanExceedTheLimit() {
        let rules = Reconnection(maximumDelay: .seconds(20), jitter: 0)
        #expect(rules.delay(after: 3, serverDelay: .seconds(60), chance: 0) == .seconds(60))
    }

    @Test func aZeroDelayIsRaisedIfNoEventsArrive() {
        let rules = Reconnection(jitter: 0)
        #expect(rules.delay(after: 1, serverDelay: .zero, chance: 0) == .milliseconds(100))
        #expect(rules.delay(after: 3, serverDelay: .zero, chance: 0) == .milliseconds(400))
    }

    @Test func jitterLengthensTheDelay() {
        let rules = Reconnection(delay: .seconds(10), jitter: 0.5)
        #expect(rules.delay(after: 1, serverDelay: nil, chance: 0) == .seconds(10))
        #expect(rules.delay(after: 1, serverDelay: nil, chance: 1) == .seconds(15))
    }

    @Test(arguments: [
        Reconnection(delay: .seconds(Int64.max), maximumDelay: .seconds(Int64.max), multiplier: .infinity, jitter: 1),
        Reconnection(delay: .seconds(Int64.min), maximumDelay: .seconds(Int64.min), multiplier: -.infinity, jitter: -1),
        Reconnection(multiplier: .nan, jitter: .nan),
    ])
    func rulesCanHaveAnyValue(rules: Reconnection) {
        for failures in [0, 1, 2, 1000, .max] {
            let delay = rules.delay(after: failures, serverDelay: nil, chance: 1)
            #expect(delay >= .zero)
            #expect(delay < .seconds(3 * 31_536_000))
        }
    }
}
