import AfarCore
import AfarResilience
import AfarSerializers
import AfarTesting
import AfarTransport
import Foundation
import Testing

@Suite struct CircuitBreakerTests {
    private func resilience(
        _ circuitBreaker: CircuitBreaker? = .strict, key: (@Sendable (URL) -> String)? = nil
    ) -> Resilience {
        Resilience(retrier: .immediate(0), circuitBreaker: circuitBreaker, key: key)
    }

    @Test func anOpenCircuitRejectsRequestsUntilAProbeSucceeds() async throws {
        let isHealthy = Mutable(false)
        let service = Service(resilience()) { _ in isHealthy.value ? .text("ok") : .status(500) }
        #expect(await service.statuses(2) == [500, 500])
        let error = try #require(await service.get().error?.underlyingError as? CircuitBreakerError)
        #expect(error.key == Service.host && error.nextProbe == service.clock.date.addingTimeInterval(5))
        #expect(error.localizedDescription.contains("the circuit breaker of http://mock.test is open"))
        #expect(service.mock.requests.count == 2)

        service.clock.advance(by: .seconds(5))
        #expect(await service.statuses(2) == [500, 0])
        isHealthy.value = true
        service.clock.advance(by: .seconds(5))
        #expect(await service.statuses(3) == [200, 200, 200])
        #expect(service.mock.requests.count == 6)
        #expect(service.snapshot()?.circuit == .closed)
    }

    @Test(arguments: [
        (MockResponse.status(404), false), (.status(429), false), (.status(500), true), (.status(503), true),
        (.failure(.connectionLost), true), (.failure(.timedOut), true), (.failure(.cannotFindHost), true),
        (.text("body").interrupted(after: 1), true), (.failure(.cancelled), false),
        (.failure(.requestBodyFailed), false),
    ])
    func onlyFailuresOfTheServerCount(response: MockResponse, isFailure: Bool) async {
        let service = Service(resilience()) { _ in response }
        _ = await service.statuses(3)
        #expect(service.mock.requests.count == (isFailure ? 2 : 3))
    }

    @Test func canceledRequestsDontCount() async {
        let gate = Gate()
        let service = Service(resilience()) { _ in
            await gate.pass()
            return .text("ok")
        }
        for index in 1...3 {
            let request = service.session.request(Service.host)
            let task = request.serializingData()
            await gate.waitForArrivals(index)
            request.cancel()
            _ = await task.response
        }
        #expect(service.mock.requests.count == 3)
        #expect(service.snapshot()?.failureRate == 0)
    }

    @Test func requestsEndedByTheDeadlineCount() async throws {
        var breaker = CircuitBreaker.strict
        breaker.slowCallDuration = .seconds(2)
        let service = Service(Resilience(deadline: 10, circuitBreaker: breaker)) { _ in
            .text("late").delayed(by: .seconds(60))
        }
        for _ in 0..<2 {
            async let response = service.get()
            // The deadline and the response's delay.
            await service.clock.waitForSleepers(2)
            service.clock.advance(by: .seconds(10))
            _ = await response
        }
        #expect(service.snapshot()?.circuit == .open)
        #expect(await service.get().error?.underlyingError is CircuitBreakerError)
        // A probe that the deadline ends opens the circuit again.
        service.clock.advance(by: .seconds(5))
        async let probe = service.get()
        await service.clock.waitForSleepers(2)
        service.clock.advance(by: .seconds(10))
        _ = await probe
        #expect(service.snapshot()?.circuit == .open)
    }

    /// A retry that begins shortly before the deadline says little about the server.
    @Test func aShortCallThatTheDeadlineEndsDoesntCount() async {
        let retrier = RetryPolicy(retryLimit: 1, exponentialBackoffBase: 9, exponentialBackoffScale: 1)
        let isSlow = Mutable(false)
        let service = Service(Resilience(deadline: 10, retrier: retrier, circuitBreaker: .strict)) { _ in
            isSlow.change { isSlow in
                defer { isSlow = true }
                return isSlow ? .text("late").delayed(by: .seconds(60)) : .status(500)
            }
        }
        async let response = service.get()
        for seconds in [9, 1] {
            await service.clock.waitForSleepers(2)
            service.clock.advance(by: .seconds(seconds))
        }
        #expect(await response.error?.transportError?.code == .timedOut)
        #expect(service.mock.requests.count == 2)
        #expect(service.snapshot()?.circuit == .closed)
    }

    @Test func aClosureCanDecide() async {
        var rules = CircuitBreaker.strict
        rules.isFailure = { (try? $0.get().status) == 404 }
        let resilience = resilience(rules)
        let log = EventLog(resilience)
        let service = Service(resilience) { .status($0.path == "/gone" ? 404 : 500) }
        #expect(await service.statuses(5) == Array(repeating: 500, count: 5))
        #expect(await service.statuses(5, "/gone") == Array(repeating: 404, count: 5))
        // The closure runs after the response.
        #expect(await log.next(1) == [.circuitOpened])
        #expect(await service.statuses(1) == [0])
    }

    @Test func slowCallsOpenTheCircuit() async {
        var rules = CircuitBreaker.strict
        rules.slowCallDuration = .seconds(2)
        let service = Service(resilience(rules)) { request in
            request.path == "/slow" ? .status(200).delayed(by: .seconds(2)) : .status(200)
        }
        for _ in 0..<2 {
            async let response = service.get("/slow")
            await service.clock.waitForSleepers()
            service.clock.advance(by: .seconds(2))
            _ = await response
        }
        #expect(service.snapshot()?.circuit == .open)
    }

    @Test func responsesFromTheCacheDontCountAndPass() async {
        let service = Service(resilience(), cache: MemoryCacheStore()) { request in
            request.path == "/fresh" ? .text("stored").adding("Cache-Control", "max-age=3600") : .status(500)
        }
        #expect(await service.statuses(5, "/fresh") == Array(repeating: 200, count: 5))
        // The server's only success, and one failure: half of the calls have failed.
        #expect(await service.statuses(2) == [500, 0])
        #expect(await service.get("/fresh").value == "stored")
        #expect(service.mock.requests.count == 2)
    }

    @Test func eachHopOfARedirectCountsForItsHost() async {
        let service = Service(resilience()) { request in
            request.url.hasPrefix(Service.host) ? .redirect(to: "https://other.test:8443/") : .status(500)
        }
        #expect(await service.statuses(3) == [500, 500, 0])
        #expect(service.snapshot()?.circuit == .closed)
        #expect(service.snapshot("https://other.test:8443")?.circuit == .open)
        #expect(service.mock.requests.count == 5)
    }

    @Test func eachAttemptCounts() async {
        let service = Service(Resilience(retrier: .immediate(5), circuitBreaker: .strict)) { _ in .status(500) }
        // The open circuit would reject another attempt, so the error of the last one is kept.
        #expect(await service.get().error?.responseCode == 500)
        #expect(service.mock.requests.count == 2)
        #expect(service.count(.retried) == 1 && service.count(.retryDenied) == 1)
    }

    @Test func aRetryAfterTheOpenDurationIsAProbe() async {
        let retrier = RetryPolicy(retryLimit: 2, exponentialBackoffBase: 2, exponentialBackoffScale: 6)
        let service = Service(Resilience(retrier: retrier, circuitBreaker: .strict)) { _ in
            .text("down", status: 500)
        }
        _ = await service.session.request(Service.host).serializingData().response
        async let response = service.get()
        // The delays are longer than the circuit is open.
        for seconds in [6, 12] {
            await service.clock.waitForSleepers()
            service.clock.advance(by: .seconds(seconds))
        }
        #expect(await response.error?.responseCode == 500)
        #expect(service.mock.requests.count == 4)
    }

    /// Otherwise, an operator's command could have no effect.
    @Test(arguments: ["http://MOCK.test", "http://mock.test:80/", "http://user@mock.test/a?b"])
    func circuitsAreForcedByURLs(url: String) async {
        let service = Service(resilience()) { _ in .text("ok") }
        service.resilience.forceCircuitOpen(of: url)
        #expect(await service.statuses(1) == [0])
        service.resilience.resetCircuit(of: url)
        #expect(await service.statuses(1) == [200])
        #expect(service.resilience.snapshot.map(\.key) == [Service.host])
    }

    @Test func theKeyCanBeChosen() async {
        let service = Service(resilience(key: { $0.path.hasPrefix("/a") ? "a" : "other" })) { _ in .status(500) }
        #expect(await service.statuses(3, "/a/1") == [500, 500, 0])
        #expect(await service.statuses(3, "/b/1") == [500, 500, 0])
        #expect(service.resilience.snapshot.map(\.key) == ["a", "other"])
    }

    @Test(arguments: [
        ("http://mock.test:80/a?b", "http://mock.test"), ("https://MOCK.test./", "https://mock.test"),
        ("https://mock.test:444/", "https://mock.test:444"), ("http://[::1]:8080/", "http://[::1]:8080"),
        ("http://user:pw@mock.test/", "http://mock.test"),
    ])
    func theKeyIsTheOrigin(url: String, key: String) async {
        let service = Service(Resilience(retrier: .immediate(1), circuitBreaker: .strict)) { _ in .status(500) }
        _ = await service.get(url)
        // The interceptor and the stage use the same key.
        #expect(service.resilience.snapshot.map(\.key) == [key])
        #expect(service.count(.retried, key) == 1)
    }

    @Test func circuitsCanBeForced() async {
        let resilience = resilience()
        let service = Service(resilience) { .status($0.path == "/ok" ? 200 : 500) }
        resilience.forceCircuitOpen(of: Service.host)
        #expect(await service.statuses(1, "/ok") == [0])
        service.clock.advance(by: .seconds(1_000))
        let error = await service.get("/ok").error?.underlyingError as? CircuitBreakerError
        #expect(error != nil && error?.nextProbe == nil)
        resilience.forceCircuitClosed(of: Service.host)
        #expect(await service.statuses(5) == Array(repeating: 500, count: 5))
        resilience.resetCircuit(of: Service.host)
        #expect(await service.statuses(3) == [500, 500, 0])
        resilience.resetCircuit(of: Service.host)
        #expect(await service.statuses(1, "/ok") == [200])
    }

    @Test func theLeastRecentlyUsedHostsAreForgotten() async {
        let resilience = Resilience(retrier: .immediate(0), circuitBreaker: .strict, hostLimit: 3)
        let service = Service(resilience) { _ in .status(500) }
        resilience.forceCircuitOpen(of: "http://forced.test")
        for host in ["a", "b", "a", "c", "d"] { _ = await service.get("http://\(host).test/") }
        #expect(resilience.snapshot.map(\.key) == ["http://c.test", "http://d.test", "http://forced.test"])
    }

    @Test func eventsAreReportedInOrder() async {
        let isHealthy = Mutable(false)
        let resilience = resilience()
        let log = EventLog(resilience)
        let service = Service(resilience) { _ in .status(isHealthy.value ? 200 : 500) }
        _ = await service.statuses(3)
        isHealthy.value = true
        service.clock.advance(by: .seconds(5))
        _ = await service.statuses(1)
        #expect(await log.next(4) == [.circuitOpened, .rejectedByCircuit, .circuitHalfOpened, .circuitClosed])
        #expect(service.count(.rejectedByCircuit) == 1)
    }

    @Test func withoutABreakerAllRequestsAreSent() async {
        let service = Service(resilience(nil)) { _ in .status(500) }
        #expect(await service.statuses(200) == Array(repeating: 500, count: 200))
    }

    @Test func aStreamCountsWhenItsHeadHasArrived() async {
        let service = Service(resilience()) { _ in .text("streamed", status: 500) }
        for _ in 0..<2 {
            for await _ in service.session.streamRequest(Service.host).streamTask().streamingData() {}
        }
        #expect(await service.statuses(1) == [0])
    }
}
