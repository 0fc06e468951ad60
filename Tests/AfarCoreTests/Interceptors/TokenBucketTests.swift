import Testing

@testable import AfarCore

struct TokenBucketTests {
    @Test func aBurstIsAllowedAndThenOneAfterTheOther() {
        var bucket = TokenBucket(rate: 10, capacity: 3, at: 0)
        #expect((0..<5).map { _ in bucket.take(at: 0) } == [0, 0, 0, 0.1, 0.2])
        // At 0.2 the last one goes; one more token is there at 0.3.
        #expect(abs(bucket.take(at: 0.25) - 0.05) < 1e-9)
        #expect(bucket.take(at: 100) == 0)
    }

    @Test func aRestFillsItToItsCapacityOnly() {
        var bucket = TokenBucket(rate: 1, capacity: 2, at: 0)
        _ = bucket.take(at: 0)
        #expect(!bucket.isFull(at: 0.5))
        #expect(bucket.isFull(at: 1))
        #expect((0..<3).map { _ in bucket.take(at: 1_000) } == [0, 0, 1])
    }

    @Test func pausesAddUpForThoseWhoWait() {
        var bucket = TokenBucket(rate: 10, capacity: 1, at: 0)
        #expect(bucket.delay == 0)
        bucket.pause(for: 2, at: 1)
        bucket.pause(for: 1, at: 1.5)
        #expect(bucket.delay == 2)
        bucket.pause(for: 2, at: 2)
        #expect(bucket.delay == 3)
        bucket.pause(for: 1, at: 10)
        #expect(bucket.delay == 4)
    }

    @Test func aPauseHoldsAll() {
        var bucket = TokenBucket(rate: 10, capacity: 5, at: 0)
        bucket.pause(for: 2, at: 1)
        bucket.pause(for: 0.5, at: 1)
        #expect(bucket.take(at: 1) == 2)
        #expect(abs(bucket.take(at: 1) - 2.1) < 1e-9)
        #expect(!bucket.isFull(at: 2))
        #expect(bucket.take(at: 10) == 0)
    }
}
