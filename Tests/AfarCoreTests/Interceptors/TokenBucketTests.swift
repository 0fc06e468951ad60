import Testing

@testable import AfarCore

struct TokenBucketTests {
    /// Takes a token as soon as possible and returns the time.
    private func take(_ bucket: inout TokenBucket, at now: Double) -> Double {
        var time = now
        while true {
            let delay = bucket.delay(at: time)
            guard delay > 0 else { break }
            time += delay
        }
        bucket.take()
        return (time * 1e6).rounded() / 1e6
    }

    @Test func aBurstIsAllowedBeforeRequestsAreSpaced() {
        var bucket = TokenBucket(rate: 10, capacity: 3, at: 0)
        #expect((0..<5).map { _ in take(&bucket, at: 0) } == [0, 0, 0, 0.1, 0.2])
        // The previous token was taken at 0.2.
        #expect(take(&bucket, at: 0.25) == 0.3)
        #expect(take(&bucket, at: 100) == 100)
    }

    @Test func idleTimeFillsTheBucketUpToItsCapacity() {
        var bucket = TokenBucket(rate: 1, capacity: 2, at: 0)
        _ = take(&bucket, at: 0)
        #expect(!bucket.isFull(at: 0.5))
        #expect(bucket.isFull(at: 1))
        #expect((0..<3).map { _ in take(&bucket, at: 1_000) } == [1_000, 1_000, 1_001])
    }

    @Test func queryingTheDelayConsumesNoToken() {
        var bucket = TokenBucket(rate: 10, capacity: 1, at: 0)
        _ = take(&bucket, at: 0)
        for _ in 0..<200 { #expect(bucket.delay(at: 0.05) > 0) }
        #expect(take(&bucket, at: 0.05) == 0.1)
    }

    @Test func aLaterPauseDelaysWaitingRequests() {
        var bucket = TokenBucket(rate: 10, capacity: 1, at: 0)
        _ = take(&bucket, at: 1)
        bucket.pause(for: 2, at: 1)
        bucket.pause(for: 1, at: 1.5)
        #expect(bucket.delay(at: 2) == 1)
        bucket.pause(for: 2, at: 2)
        #expect(bucket.delay(at: 3) == 1)
        #expect(take(&bucket, at: 3) == 4.1)
    }

    @Test func aPauseDelaysAllRequests() {
        var bucket = TokenBucket(rate: 10, capacity: 5, at: 0)
        bucket.pause(for: 2, at: 1)
        bucket.pause(for: 0.5, at: 1)
        #expect(take(&bucket, at: 1) == 3)
        #expect(take(&bucket, at: 1) == 3.1)
        #expect(!bucket.isFull(at: 2))
        #expect(take(&bucket, at: 10) == 10)
    }
}
