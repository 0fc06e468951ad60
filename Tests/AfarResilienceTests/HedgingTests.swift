import AfarCore
import AfarResilience
import AfarSerializers
import AfarTesting
import AfarTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct HedgingTests {
    private static let delay = Duration.milliseconds(100)

    /// A service whose n-th request has the n-th response. Further requests have the last one.
    private func service(
        _ responses: MockResponse..., hedging: Hedging = Hedging(delay: .fixed(delay), maximumRatio: 1),
        circuitBreaker: CircuitBreaker? = nil, isPlain: Bool = false, key: (@Sendable (URL) -> String)? = nil
    ) -> Service {
        let count = Mutable(0)
        return Service(
            Resilience(retrier: .immediate(0), circuitBreaker: circuitBreaker, hedging: hedging, key: key),
            isPlain: isPlain
        ) { request in
            guard request.url.hasPrefix(Service.host) else { return .text("other").delayed(by: .seconds(1_000)) }
            let index = count.change { count in
                defer { count += 1 }
                return count
            }
            return responses[min(index, responses.count - 1)]
        }
    }

    /// Advances the clock by the hedge's delay, and waits until all hedges that are due have been sent or rejected.
    private func passDelay(in service: Service) async {
        let other = service.session.request("http://other.test/")
        _ = other.serializingData()
        let sleeperCount = service.clock.sleeperCount
        try? await waitWhile { service.mock.requests.last?.url != "http://other.test/" }
        await service.clock.waitForSleepers(sleeperCount + 1)
        service.clock.advance(by: Self.delay)
        try? await waitWhile { service.count(.hedged, "http://other.test") == 0 }
        other.cancel()
    }

    private static let slow = MockResponse.text("slow").delayed(by: .seconds(10))

    @Test(arguments: [false, true], [nil, { _ in "group" }] as [(@Sendable (URL) -> String)?])
    func theFirstHeadWins(isPlain: Bool, key: (@Sendable (URL) -> String)?) async {
        let service = service(Self.slow, .text("fast"), isPlain: isPlain, key: key)
        async let response = service.get()
        // The response's delay and the hedge's.
        await service.clock.waitForSleepers(2)
        service.clock.advance(by: Self.delay)
        #expect(await response.value == "fast")
        #expect(service.mock.requests.count == 2)
        let host = key == nil ? Service.host : "group"
        #expect(service.count(.hedged, host) == 1)
        #expect(service.count(.hedgeWon, host) == 1)
        // The slow request was canceled.
        #expect(service.clock.sleeperCount == 0)
    }

    @Test(arguments: [false, true])
    func aResponseInTimeIsntHedged(isPlain: Bool) async {
        let service = service(.text("ok"), isPlain: isPlain)
        #expect(await service.get().value == "ok")
        service.clock.advance(by: Self.delay)
        #expect(service.mock.requests.count == 1)
    }

    @Test(arguments: [false, true])
    func theFirstRequestCanWin(isPlain: Bool) async {
        let service = service(Self.slow, .text("slower").delayed(by: .seconds(60)), isPlain: isPlain)
        async let response = service.get()
        await service.clock.waitForSleepers(2)
        service.clock.advance(by: Self.delay)
        await service.clock.waitForSleepers(2)
        service.clock.advance(by: .seconds(10))
        #expect(await response.value == "slow")
        #expect(service.count(.hedged) == 1 && service.count(.hedgeWon) == 0)
    }

    @Test(
        arguments: [
            MockResponse.status(500), .status(429), .status(401), .status(404), .status(409), .status(425),
            .failure(.connectionLost), .failure(.timedOut),
        ], [false, true])
    func aFailedHedgeDoesntReplaceASuccess(failure: MockResponse, isPlain: Bool) async {
        let service = service(Self.slow, failure, isPlain: isPlain)
        async let response = service.get()
        await service.clock.waitForSleepers(2)
        service.clock.advance(by: Self.delay)
        try? await waitWhile { service.requests.count < 2 }
        service.clock.advance(by: .seconds(10))
        #expect(await response.value == "slow")
    }

    @Test func aFailureWaitsForTheHedge() async {
        let service = service(
            .failure(.connectionLost).delayed(by: .seconds(1)), .text("hedged").delayed(by: .seconds(5)))
        async let response = service.get()
        await service.clock.waitForSleepers(2)
        service.clock.advance(by: Self.delay)
        await service.clock.waitForSleepers(2)
        service.clock.advance(by: .seconds(1))
        await service.clock.waitForSleepers(1)
        service.clock.advance(by: .seconds(5))
        #expect(await response.value == "hedged")
        #expect(service.count(.hedgeWon) == 1)
    }

    @Test func theFirstErrorIsReportedIfBothFail() async {
        let service = service(
            .failure(.connectionLost).delayed(by: .seconds(1)), .failure(.timedOut).delayed(by: .seconds(5)))
        async let response = service.get()
        await service.clock.waitForSleepers(2)
        service.clock.advance(by: Self.delay)
        await service.clock.waitForSleepers(2)
        service.clock.advance(by: .seconds(6))
        #expect(await response.error?.transportError?.code == .connectionLost)
    }

    @Test func cancelingEndsBothRequests() async {
        let service = service(Self.slow)
        let request = service.session.request(Service.host)
        let task = request.serializingData()
        await service.clock.waitForSleepers(2)
        service.clock.advance(by: Self.delay)
        await service.clock.waitForSleepers(2)
        request.cancel()
        #expect(await task.response.error?.isExplicitlyCancelledError == true)
        try? await waitWhile { service.clock.sleeperCount > 0 }
    }

    // MARK: Limits

    @Test func theBudgetLimitsHedges() async {
        let service = service(Self.slow, hedging: Hedging(delay: .fixed(Self.delay), maximumRatio: 0.25))
        for index in 1...40 {
            async let response = service.get()
            await service.clock.waitForSleepers(2)
            service.clock.advance(by: Self.delay)
            if index % 4 == 0 { try? await waitWhile { service.count(.hedged) < index / 4 } }
            service.clock.advance(by: .seconds(10))
            _ = await response
        }
        #expect(service.count(.hedged) == 10)
        #expect(service.requests.count == 50)
    }

    @Test(arguments: [HTTPMethod.post, .put, .delete, .patch])
    func onlySafeMethodsAreHedged(method: HTTPMethod) async {
        let service = service(Self.slow)
        async let response = service.session.request(Service.host, method: method).serializingString().response
        await service.clock.waitForSleepers()
        await passDelay(in: service)
        service.clock.advance(by: .seconds(10))
        #expect(await response.value == "slow")
        #expect(service.requests.count == 1)
    }

    @Test func otherMethodsCanBeHedgedIfTheirBodyCanBeSentAgain() async {
        let hedging = Hedging(delay: .fixed(Self.delay), maximumRatio: 1, methods: [.put])
        let service = service(Self.slow, .text("fast"), hedging: hedging)
        async let response = service.session.upload(Data("body".utf8), to: Service.host, method: .put)
            .serializingString().response
        await service.clock.waitForSleepers(2)
        service.clock.advance(by: Self.delay)
        #expect(await response.value == "fast")
        #expect(service.mock.requests.map(\.body) == [Data("body".utf8), Data("body".utf8)])

        let stream = InputStream(data: Data("body".utf8))
        async let streamed = service.session.upload(stream, to: Service.host, method: .put).serializingString().response
        _ = await streamed
        #expect(service.mock.requests.count == 3)
        #expect(service.clock.sleeperCount == 0)
    }

    @Test func streamsAndDownloadsArentHedged() async {
        let service = service(.text("body"))
        for await _ in service.session.streamRequest(Service.host).streamTask().streamingData() {}
        _ = await service.session.download(Service.host).serializingData().response
        #expect(service.clock.sleeperCount == 0)
        #expect(service.mock.requests.count == 2)
    }

    @Test func requestsArentHedgedWhileTheCircuitIsntClosed() async {
        let service = service(.status(500), .status(500), Self.slow, circuitBreaker: .strict)
        _ = await service.statuses(2)
        service.clock.advance(by: .seconds(5))
        // The probe.
        async let response = service.get()
        await service.clock.waitForSleepers(2)
        await passDelay(in: service)
        service.clock.advance(by: .seconds(10))
        #expect(await response.value == "slow")
        #expect(service.count(.hedged) == 0)
        #expect(service.snapshot()?.circuit == .closed)
    }

    @Test(arguments: [429, 503])
    func requestsArentHedgedAfterRetryAfter(status: Int) async {
        let service = service(.status(status, fields: [.retryAfter: "60"]), Self.slow, Self.slow, .text("fast"))
        _ = await service.statuses(1)
        service.clock.advance(by: .seconds(50))
        async let first = service.get()
        await service.clock.waitForSleepers(2)
        await passDelay(in: service)
        service.clock.advance(by: .seconds(10))
        #expect(await first.value == "slow")
        #expect(service.count(.hedged) == 0)
        async let second = service.get()
        await service.clock.waitForSleepers(2)
        service.clock.advance(by: Self.delay)
        #expect(await second.value == "fast")
    }

    @Test func thePercentileOfTheLatenciesIsTheDelay() async {
        let latencies = (1...32).map { Duration.seconds($0) }
        let hedging = Hedging(delay: .percentile(0.9), maximumRatio: 1)
        let count = Mutable(0)
        let service = Service(Resilience(hedging: hedging)) { _ in
            let index = count.change { count in
                defer { count += 1 }
                return count
            }
            return index < 32
                ? .text("ok").delayed(by: latencies[index])
                : index == 32 ? .text("slow").delayed(by: .seconds(100)) : .text("fast")
        }
        for latency in latencies {
            async let response = service.get()
            await service.clock.waitForSleepers()
            #expect(service.clock.sleeperCount == 1)
            service.clock.advance(by: latency)
            _ = await response
        }
        async let response = service.get()
        await service.clock.waitForSleepers(2)
        service.clock.advance(by: .milliseconds(28_999))
        #expect(service.clock.sleeperCount == 2)
        service.clock.advance(by: .milliseconds(1))
        #expect(await response.value == "fast")
    }

    // MARK: Events

    @Test func aSuspendedRequestIsntHedged() async {
        let service = service(Self.slow)
        let request = service.session.request(Service.host)
        let task = request.serializingString()
        await service.clock.waitForSleepers(2)
        request.suspend()
        await passDelay(in: service)
        request.resume()
        service.clock.advance(by: .seconds(10))
        #expect(await task.response.value == "slow")
        #expect(service.requests.count == 1)
    }

    @Test func bothRequestsAreSuspended() async {
        let service = service(Self.slow, .text("fast").delayed(by: .seconds(1)))
        let request = service.session.request(Service.host)
        let task = request.serializingString()
        await service.clock.waitForSleepers(2)
        service.clock.advance(by: Self.delay)
        await service.clock.waitForSleepers(2)
        request.suspend()
        service.clock.advance(by: .seconds(1))
        for _ in 0..<100 { await Task.yield() }
        #expect(request.response == nil)
        request.resume()
        #expect(await task.response.value == "fast")
    }

    @Test func onlyTheWinnersEventsAreReported() async {
        let service = service(Self.slow.preceded(by: 103), .text("fastest").preceded(by: 103))
        let heads = Mutable<[String?]>([])
        let progress = Mutable<[Int64]>([])
        let request = service.session.request(Service.host).onHTTPResponse(on: .global()) { response in
            heads.change { $0.append(response.value(forHTTPHeaderField: "Content-Length")) }
        }.downloadProgress(queue: .global()) { received in
            progress.change { $0.append(received.completedUnitCount) }
        }
        let task = request.serializingString()
        await service.clock.waitForSleepers(2)
        service.clock.advance(by: Self.delay)
        #expect(await task.response.value == "fastest")
        #expect(heads.value == ["7"])
        #expect(progress.value.last == 7)
    }

    @Test func theTransportIsWrappedOnlyForHedging() {
        let mock = MockTransport { _ in .status(200) }
        #expect(Resilience().transport(around: mock) is MockTransport)
        let hedging = Resilience(hedging: Hedging())
        #expect(hedging.transport(around: mock) is any CallbackTransport)
        let choice = hedging.transport(around: FirstCapableTransport([mock, PlainTransport(base: mock)]))
        #expect((choice as? FirstCapableTransport)?.transports.count == 2)
        #expect(choice.capabilities.name == "mock or mock")
    }
}
