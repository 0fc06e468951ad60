import AfarCore
import AfarSerializers
import AfarTesting
import Foundation
import HTTPTypes
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sessions whose time passes only when the test advances it. The dates are years away from the current date, so that a use of the system's
/// date fails a test.
@Suite struct TimeSourceTests {
    private func session(
        _ clock: ManualClock, interceptor: (any RequestInterceptor)? = nil,
        _ configure: (inout SessionConfiguration) -> Void = { _ in },
        answer: @escaping MockTransport.Handler
    ) -> Session {
        var configuration = SessionConfiguration()
        configuration.timeSource = clock.timeSource
        configure(&configuration)
        return Session(
            configuration: configuration, interceptor: interceptor, transport: MockTransport(answer))
    }

    private static let dates = [Date(timeIntervalSince1970: 1_000_000_000), Date(timeIntervalSince1970: 4_000_000_000)]

    @Test(arguments: zip(dates, ["Sun, 09 Sep 2001 02:46:40 GMT", "Tue, 02 Oct 2096 08:06:40 GMT"]))
    func aRetryWaitsForRetryAfter(date: Date, end: String) async {
        let clock = ManualClock(date: date)
        let session = session(clock, interceptor: RetryPolicy(maximumRetryAfter: 7_200)) { request in
            clock.date < date.addingTimeInterval(3_600) ? .status(503, fields: [.retryAfter: end]) : .text("done")
        }
        async let response = session.request("http://mock.test/").validate().serializingString().response
        await clock.waitForSleepers()
        clock.advance(by: .seconds(3_599))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        #expect(await response.value == "done")
    }

    @Test func aRateLimiterPassesOneRequestPerInterval() async {
        let clock = ManualClock()
        let session = session(clock, interceptor: RateLimiter(requestsPerSecond: 0.01)) { _ in .text("done") }
        let requests = (0..<3).map { _ in session.request("http://mock.test/").serializingString() }
        for _ in requests.dropFirst() {
            await clock.waitForSleepers()
            clock.advance(by: .seconds(101))
        }
        for request in requests { #expect(await request.response.value == "done") }
    }

    @Test func aDeadlinePasses() async throws {
        let clock = ManualClock()
        let session = session(clock) { _ in
            var response = MockResponse.text("late")
            response.delay = .seconds(60)
            return response
        }
        let request = session.request("http://mock.test/").options { $0.deadline = 30 }
        async let response = request.serializingString().response
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(30))
        let error = try #require(await response.error?.underlyingError as? URLError)
        #expect(error.code == .timedOut)
    }

    @Test func aMocksDelayIsTheClocks() async {
        let clock = ManualClock()
        let session = session(clock) { _ in
            var response = MockResponse.text("done")
            response.delay = .seconds(86_400)
            return response
        }
        async let response = session.request("http://mock.test/").serializingString().response
        await clock.waitForSleepers()
        clock.advance(by: .seconds(86_400))
        #expect(await response.value == "done")
    }

    @Test(arguments: dates) func cookiesExpire(date: Date) async {
        let clock = ManualClock(date: date)
        let session = session(clock) { request in
            let cookie = request["Cookie"] ?? "none"
            return cookie == "none" ? .text(cookie, [.setCookie: "a=1; Max-Age=60"]) : .text(cookie)
        }
        func send() async -> String? { await session.request("http://mock.test/").serializingString().response.value }
        #expect(await send() == "none")
        #expect(await send() == "a=1")
        clock.advance(by: .seconds(59))
        #expect(await send() == "a=1")
        clock.advance(by: .seconds(1))
        #expect(await send() == "none")
    }

    @Test(arguments: dates) func cachedResponsesBecomeStale(date: Date) async {
        let clock = ManualClock(date: date)
        let session = session(clock) {
            $0.cacheStore = MemoryCacheStore()
        } answer: { _ in
            .text("\(clock.date.timeIntervalSince(date))", [.cacheControl: "max-age=60"])
        }
        func send() async -> String? { await session.request("http://mock.test/").serializingString().response.value }
        #expect(await send() == "0.0")
        clock.advance(by: .seconds(59))
        #expect(await send() == "0.0")
        clock.advance(by: .seconds(1))
        #expect(await send() == "60.0")
    }

    @Test(arguments: dates) func hstsPoliciesExpire(date: Date) async {
        let clock = ManualClock(date: date)
        let session = session(clock) {
            $0.hstsStore = MemoryHSTSStore()
        } answer: { request in
            .text(request.exchange.request.scheme ?? "", [.strictTransportSecurity: "max-age=60"])
        }
        func send(_ scheme: String) async -> String? {
            await session.request("\(scheme)://mock.test/").serializingString().response.value
        }
        #expect(await send("https") == "https")
        clock.advance(by: .seconds(59))
        #expect(await send("http") == "https")
        // The second response extended the policy.
        clock.advance(by: .seconds(60))
        #expect(await send("http") == "http")
    }

    @Test func cancelingARequestEndsTheDelayBeforeItsRetry() async {
        let clock = ManualClock()
        let session = session(clock, interceptor: RetryPolicy()) { _ in .status(503) }
        let request = session.request("http://mock.test/").validate()
        async let response = request.serializingString().response
        await clock.waitForSleepers()
        request.cancel()
        #expect(await response.error?.isExplicitlyCancelledError == true)
        #expect(clock.sleeperCount == 0)
    }
}

extension MockResponse {
    fileprivate static func text(_ text: String, _ fields: HTTPFields) -> MockResponse {
        var response = MockResponse.text(text)
        response.fields.append(contentsOf: fields)
        return response
    }
}
