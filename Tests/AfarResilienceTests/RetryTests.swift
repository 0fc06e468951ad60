import AfarCore
import AfarResilience
import AfarSerializers
import AfarTesting
import AfarTransport
import Foundation
import HTTPTypes
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct RetryTests {
    private func resilience(
        _ budget: RetryBudget, deadline: TimeInterval? = nil, retrier: any RequestRetrier = .immediate(3)
    ) -> Resilience {
        Resilience(deadline: deadline, retrier: retrier, retryBudget: budget, circuitBreaker: nil)
    }

    @Test func retriesStopWhenTheBudgetIsUsedUp() async {
        let budget = RetryBudget(capacity: 4, refillPerSecond: 0)
        let service = Service(resilience(budget)) { _ in .status(503) }
        // The requests fail with their original error.
        #expect(await service.statuses(10) == Array(repeating: 503, count: 10))
        #expect(service.mock.requests.count == 14)
        #expect(service.count(.retried) == 4)
        #expect(service.count(.retryDenied) == 9)
    }

    @Test func successesAndTimeRefillTheBudget() async {
        let budget = RetryBudget(capacity: 1, refillPerSuccess: 0.5, refillPerSecond: 0.1)
        let service = Service(resilience(budget)) { .status($0.path == "/ok" ? 200 : 503) }
        _ = await service.statuses(1)
        #expect(service.mock.requests.count == 2)
        _ = await service.statuses(2, "/ok")
        _ = await service.statuses(1)
        #expect(service.mock.requests.count == 6)
        service.clock.advance(by: .seconds(9))
        _ = await service.statuses(1)
        #expect(service.mock.requests.count == 7)
        service.clock.advance(by: .seconds(1))
        _ = await service.statuses(1)
        #expect(service.mock.requests.count == 9)
    }

    @Test func responsesWithStatus429DontRefillTheBudget() async {
        let budget = RetryBudget(capacity: 1, refillPerSuccess: 1, refillPerSecond: 0)
        let service = Service(resilience(budget)) { .status($0.path == "/busy" ? 429 : 503) }
        _ = await service.statuses(1)
        _ = await service.statuses(3, "/busy")
        #expect(service.snapshot()?.retryTokens == 0)
    }

    /// The retry throttling of gRPC (proposal A6).
    @Test func failuresStopRetriesEvenIfTheyWerentRetried() async {
        let service = Service(resilience(.throttling, retrier: .immediate(1))) {
            .status($0.path == "/ok" ? 200 : 503)
        }
        _ = await service.statuses(10)
        // Two requests are retried. The failure of the third leaves five tokens.
        #expect(service.mock.requests.count == 12)
        #expect(service.snapshot()?.retryTokens == 0)
        _ = await service.statuses(60, "/ok")
        _ = await service.statuses(1)
        #expect(service.mock.requests.count == 73)
        _ = await service.statuses(11, "/ok")
        _ = await service.statuses(1)
        #expect(service.mock.requests.count == 86)
    }

    @Test func timeoutsCostMore() async {
        let budget = RetryBudget(capacity: 10, retryCost: 1, timeoutCost: 5, refillPerSecond: 0)
        let service = Service(resilience(budget, retrier: .immediate(100))) { _ in .failure(.timedOut) }
        _ = await service.get()
        #expect(service.mock.requests.count == 3)
    }

    @Test func hostsHaveSeparateBudgets() async {
        let service = Service(resilience(RetryBudget(capacity: 1, refillPerSecond: 0))) { _ in .status(503) }
        for host in ["a", "b", "a", "b"] { _ = await service.get("http://\(host).test/") }
        #expect(service.mock.requests.count == 6)
    }

    @Test func theHostOfARedirectIsCharged() async {
        let service = Service(resilience(RetryBudget(capacity: 1, refillPerSecond: 0))) { request in
            request.url.hasPrefix(Service.host) ? .redirect(to: "http://other.test/") : .status(503)
        }
        _ = await service.get()
        #expect(service.count(.retried, "http://other.test") == 1)
        #expect(service.count(.retried) == 0)
    }

    @Test func otherRetriersUseTheSameBudget() async {
        let resilience = resilience(RetryBudget(capacity: 3, refillPerSecond: 0), retrier: .immediate(0))
        let service = Service(resilience) { _ in .status(503) }
        let interceptor = resilience.budgeting(.immediate(2))
        for _ in 0..<3 {
            _ = await service.session.request(Service.host, interceptor: interceptor).validate().serializingData()
                .response
        }
        #expect(service.mock.requests.count == 6)
    }

    @Test func withoutARetrierOnlyTheRequestsOwnOneRetries() async {
        let resilience = Resilience(retrier: nil, circuitBreaker: nil)
        let service = Service(resilience) { _ in .status(503) }
        _ = await service.statuses(1)
        #expect(service.mock.requests.count == 1)
        let interceptor = resilience.budgeting(.immediate(2))
        _ = await service.session.request(Service.host, interceptor: interceptor).validate().serializingData().response
        #expect(service.mock.requests.count == 4)
    }

    @Test func aBudgetedInterceptorAdaptsRequests() async {
        let resilience = resilience(RetryBudget())
        let service = Service(resilience) { _ in .status(200) }
        let marking = Adapter { urlRequest, _, completion in
            var urlRequest = urlRequest
            urlRequest.headers.update(name: "X-Mark", value: "1")
            completion(.success(urlRequest))
        }
        let request = service.session.request(Service.host, interceptor: resilience.budgeting(marking))
        _ = await request.serializingData().response
        #expect(service.mock.requests.first?["X-Mark"] == "1")
    }

    @Test func aRetryersErrorIsKept() async {
        struct Refusal: Error {}
        let refusing = Retrier { _, _, _, completion in completion(.doNotRetryWithError(Refusal())) }
        let service = Service(resilience(RetryBudget(), retrier: refusing)) { _ in .status(503) }
        #expect(await service.get().error?.isRequestRetryError == true)
    }

    @Test func theDeadlineBoundsAllAttempts() async throws {
        let resilience = resilience(
            RetryBudget(), deadline: 10,
            retrier: RetryPolicy(retryLimit: 100, exponentialBackoffScale: 3))
        let service = Service(resilience) { _ in .status(503) }
        async let response = service.get()
        for seconds in [6, 4] {
            // The deadline and the delay, which is 3 and then 6 seconds.
            await service.clock.waitForSleepers(2)
            service.clock.advance(by: .seconds(seconds))
        }
        let error = try #require(await response.error?.underlyingError as? URLError)
        #expect(error.code == .timedOut)
        #expect(service.mock.requests.count == 2)
    }

    @Test func theDeadlineBoundsOtherAdapters() async throws {
        let clock = ManualClock()
        var configuration = SessionConfiguration()
        configuration.timeSource = clock.timeSource
        let stuck = Adapter { _, _, _ in }
        let session = resilience(RetryBudget(), deadline: 10).makeSession(
            configuration: configuration, interceptor: stuck, transport: MockTransport { _ in .text("ok") })
        async let response = session.request(Service.host).serializingString().response
        await clock.waitForSleepers()
        clock.advance(by: .seconds(10))
        let error = try #require(await response.error?.underlyingError as? URLError)
        #expect(error.code == .timedOut)
    }

    @Test func aRequestCanHaveItsOwnDeadline() async {
        let service = Service(resilience(RetryBudget(), deadline: 10)) { _ in .status(200) }
        let own = service.session.request(Service.host).options { options in
            options.deadline = 77
            options.connectTimeout = 3
        }
        _ = await own.serializingData().response
        #expect(own.options.deadline == 77 && own.options.connectTimeout == 3)
        let other = service.session.request(Service.host).options { $0.connectTimeout = 4 }
        _ = await other.serializingData().response
        #expect(other.options.deadline == 10 && other.options.connectTimeout == 4)
        let stream = service.session.streamRequest(Service.host)
        for await _ in stream.streamTask().streamingData() {}
        #expect(stream.options.deadline == nil)
    }

    @Test func theDefaultRetrierWaitsForRetryAfter() async {
        let attempts = Mutable(0)
        let service = Service(Resilience()) { _ in
            let attempt = attempts.change { count in
                count += 1
                return count
            }
            return attempt == 1 ? .status(503, fields: [.retryAfter: "20"]) : .text("done")
        }
        async let response = service.get()
        await service.clock.waitForSleepers()
        service.clock.advance(by: .seconds(19))
        #expect(attempts.value == 1)
        service.clock.advance(by: .seconds(1))
        #expect(await response.value == "done")
    }
}
