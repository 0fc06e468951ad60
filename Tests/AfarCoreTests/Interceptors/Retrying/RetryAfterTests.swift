import AfarTesting
import Foundation
import HTTPTypes
import Testing

@testable import AfarCore

@Suite struct RetryAfterTests {
    private func head(_ fields: HTTPFields) -> ResponseHead {
        ResponseHead(status: 503, fields: fields, url: "http://mock/")
    }

    @Test(arguments: [("0", 0.0), ("7", 7), ("120", 120), ("0003", 3)])
    func secondsAreParsed(text: String, seconds: Double) {
        #expect(head([.retryAfter: text]).retryAfter(now: Date()) == seconds)
    }

    @Test func aDateIsComparedWithTheResponses() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(head([.retryAfter: date, .date: "Sun, 06 Nov 1994 08:49:30 GMT"]).retryAfter(now: Date()) == 7)
        #expect(head([.retryAfter: date, .date: "Sun, 06 Nov 1994 08:50:00 GMT"]).retryAfter(now: Date()) == 0)
    }

    @Test func withoutAResponseDateTheClockIsUsed() throws {
        #expect(head([.retryAfter: "Sun, 06 Nov 1994 08:49:37 GMT"]).retryAfter(now: Date()) == 0)
        let distant = try #require(head([.retryAfter: "Fri, 31 Dec 9999 23:59:59 GMT"]).retryAfter(now: Date()))
        #expect(distant > 200_000_000_000)
    }

    @Test(arguments: ["", "-1", "1.5", "+3", "soon", "1, 2", "٣", "Sun, 99 Nov 1994 08:49:37 GMT"])
    func invalidValuesAreIgnored(text: String) {
        #expect(head([.retryAfter: text]).retryAfter(now: Date()) == nil)
    }

    @Test func aMissingFieldIsNil() {
        #expect(head([:]).retryAfter(now: Date()) == nil)
    }

    @Test func tooManyDigitsAreInfinite() {
        #expect(head([.retryAfter: String(repeating: "9", count: 500)]).retryAfter(now: Date()) == .infinity)
    }

    private func answer(_ status: Int, retryAfter: String) -> @Sendable () -> MockResponse {
        { .status(status, fields: [.retryAfter: retryAfter]) }
    }

    @Test func theLongerDelayIsUsed() async {
        let policy = RetryPolicy(maximumRetryAfter: 60)
        #expect(await delays(of: policy, answer(503, retryAfter: "7")) == [7, 7])
        #expect(await delays(of: policy, answer(503, retryAfter: "0")) == [0.5, 1])
        #expect(await delays(of: policy, answer(503, retryAfter: "soon")) == [0.5, 1])
    }

    @Test func status429IsRetriedOnlyIfRetryAfterIsEnabled() async {
        #expect(await delays(of: RetryPolicy(maximumRetryAfter: 60), answer(429, retryAfter: "2")) == [2, 2])
        #expect(await delays(of: RetryPolicy(maximumRetryAfter: 60)) { .status(429) } == [0.5, 1])
        #expect(await delays(of: RetryPolicy(), answer(429, retryAfter: "2")) == [])
    }

    @Test func delaysBeyondTheMaximumAreNotRetried() async {
        let policy = RetryPolicy(maximumRetryAfter: 60)
        #expect(await delays(of: policy, answer(503, retryAfter: "60")) == [60, 60])
        #expect(await delays(of: policy, answer(503, retryAfter: "61")) == [])
        #expect(await delays(of: policy, answer(503, retryAfter: String(repeating: "9", count: 500))) == [])
    }

    @Test func theFieldIsIgnoredByDefault() async {
        #expect(await delays(of: RetryPolicy(), answer(503, retryAfter: "7")) == [0.5, 1])
    }

    @Test func aDateDelaysTheRetry() async {
        let fields: HTTPFields = [
            .retryAfter: "Sun, 06 Nov 1994 08:49:37 GMT", .date: "Sun, 06 Nov 1994 08:49:30 GMT",
        ]
        #expect(await delays(of: RetryPolicy(maximumRetryAfter: 60)) { .status(503, fields: fields) } == [7, 7])
    }

    @Test func jitterNeverShortensTheDelay() async {
        let policy = RetryPolicy(jitter: .init { _ in 0 }, maximumRetryAfter: 60)
        #expect(await delays(of: policy, answer(503, retryAfter: "3")) == [3, 3])
    }

    @Test func theFieldAppliesOnlyToRetriedStatuses() async {
        let response = MockResponse.text("half", status: 200).interrupted(after: 2)
        let policy = RetryPolicy(maximumRetryAfter: 60)
        #expect(
            await delays(of: policy) {
                var response = response
                response.fields[.retryAfter] = "30"
                return response
            } == [0.5, 1])
    }
}
