import ArgumentParser
import Foundation
import Histogram
import Testing

@testable import AfarCLI

struct BenchTallyTests {
    private func result(_ tally: BenchTally) -> BenchResult {
        BenchResult(tally: tally, seconds: 1, bytesSent: 0, bytesReceived: 0)
    }

    private func expect(_ value: Double, near expected: Double, location: SourceLocation = #_sourceLocation) {
        #expect(abs(value - expected) <= expected * 0.002, sourceLocation: location)
    }

    @Test func percentilesOfAUniformDistribution() {
        var tally = BenchTally()
        for milliseconds in 1...10_000 {
            tally.record(.answered(status: 200), seconds: Double(milliseconds) / 1000, end: .now)
        }
        let result = result(tally)
        expect(result.percentile(50), near: 5)
        expect(result.percentile(90), near: 9)
        expect(result.percentile(99), near: 9.9)
        expect(result.percentile(99.9), near: 9.99)
        #expect(tally.longestSeconds == 10)
        expect(tally.meanSeconds, near: 5.0005)
    }

    @Test func percentilesOfAnExponentialDistribution() {
        var tally = BenchTally()
        let count = 100_000
        for index in 0..<count {
            let share = (Double(index) + 0.5) / Double(count)
            tally.record(.answered(status: 200), seconds: -0.1 * log(1 - share), end: .now)
        }
        let result = result(tally)
        expect(result.percentile(50), near: 0.0693147)
        expect(result.percentile(90), near: 0.2302585)
        expect(result.percentile(99), near: 0.4605170)
        expect(result.percentile(99.9), near: 0.6907755)
    }

    /// Requests that weren't started count with the time that they waited.
    @Test(arguments: [1000, 1_000_000]) func overdueRequestsAreRecordedWithTheirWaits(count: Int) {
        var tally = BenchTally()
        tally.record(unsent: OverdueRequests(count: count, longest: 10, interval: 10 / Double(count)))
        #expect(tally.unfinished == count)
        #expect(tally.latencies.totalCount == count)
        let result = result(tally)
        expect(result.percentile(50), near: 5)
        expect(result.percentile(90), near: 9)
        expect(tally.meanSeconds, near: 5)
    }

    @Test func theScheduleKeepsTheRate() throws {
        let load = try LoadOptions.parse(["--rate", "100", "--duration", "1s"])
        let start = ContinuousClock.now
        let schedule = LoadSchedule(load: load, start: start)
        #expect(schedule.next() == .some(start))
        #expect(schedule.next() == .some(start + .milliseconds(10)))
        let late = schedule.overdue(at: start + .milliseconds(500))
        #expect(late?.count == 48)
        expect(try #require(late?.longest), near: 0.48)
        for _ in 2..<100 { #expect(schedule.next() != nil) }
        #expect(schedule.next() == nil)
        #expect(schedule.overdue(at: start + .seconds(5)) == nil)
    }
}
