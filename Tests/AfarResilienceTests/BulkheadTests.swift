import AfarCore
import AfarSerializers
import AfarTesting
import AfarTransport
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AfarResilience

@Suite struct BulkheadTests {
    private let gate = Gate()

    private func service(
        _ bulkhead: Bulkhead = Bulkhead(maximumConcurrent: 1), circuitBreaker: CircuitBreaker? = nil,
        response: MockResponse = .text("ok")
    ) -> Service {
        Service(
            Resilience(retrier: .immediate(0), circuitBreaker: circuitBreaker, bulkhead: bulkhead)
        ) { [gate] _ in
            await gate.pass()
            return response
        }
    }

    /// Starts a request and waits until it waits in the queue.
    private func enqueue(_ path: String, in service: Service) async -> (DataRequest, DataTask<String>) {
        let waiting = service.snapshot()?.waitingCount ?? 0
        let request = service.session.request(Service.host + path)
        let task = request.serializingString()
        try? await waitWhile { service.snapshot()?.waitingCount != waiting + 1 }
        return (request, task)
    }

    @Test func requestsWaitInOrder() async {
        let service = service()
        let first = service.session.request(Service.host + "/1").serializingString()
        await gate.waitForArrivals(1)
        var tasks = [first]
        for path in ["/2", "/3", "/4"] { tasks.append(await enqueue(path, in: service).1) }
        #expect(service.snapshot()?.runningCount == 1)
        for index in 0..<4 {
            #expect(service.mock.requests.count == index + 1)
            gate.open()
            _ = await tasks[index].response
            if index < 3 { await gate.waitForArrivals(index + 2) }
        }
        #expect(service.mock.requests.map(\.path) == ["/1", "/2", "/3", "/4"])
        #expect(service.snapshot()?.runningCount == 0)
    }

    @Test func hostsHaveSeparateLimits() async {
        let service = service()
        let tasks = ["http://a.test", "http://b.test"].map { service.session.request($0).serializingString() }
        await gate.waitForArrivals(2)
        gate.open(2)
        for task in tasks { #expect(await task.response.error == nil) }
    }

    @Test func aFullQueueRejectsRequests() async throws {
        let service = service(Bulkhead(maximumConcurrent: 1, maximumWaiting: 1))
        let first = service.session.request(Service.host).serializingString()
        await gate.waitForArrivals(1)
        let (_, second) = await enqueue("/", in: service)
        let error = try #require(await service.get().error?.underlyingError as? BulkheadError)
        #expect(error.key == Service.host && error.reason == .queueFull)
        #expect(error.localizedDescription.contains("the queue of http://mock.test is full"))
        gate.open(2)
        #expect(await first.response.error == nil)
        #expect(await second.response.error == nil)
        #expect(service.count(.rejectedByBulkhead) == 1)
    }

    @Test func theWaitIsLimited() async throws {
        let service = service(Bulkhead(maximumConcurrent: 1, maximumWait: .seconds(30)))
        let first = service.session.request(Service.host).serializingString()
        await gate.waitForArrivals(1)
        let (_, second) = await enqueue("/", in: service)
        await service.clock.waitForSleepers()
        service.clock.advance(by: .seconds(30))
        let error = try #require(await second.response.error?.underlyingError as? BulkheadError)
        #expect(error.reason == .waitTimedOut)
        gate.open()
        #expect(await first.response.error == nil)
        #expect(service.snapshot()?.waitingCount == 0)
        #expect(service.mock.requests.count == 1)
    }

    @Test func aCanceledRequestLeavesAtOnce() async {
        let service = service(Bulkhead(maximumConcurrent: 1, maximumWaiting: 1))
        let first = service.session.request(Service.host).serializingString()
        await gate.waitForArrivals(1)
        let (request, second) = await enqueue("/", in: service)
        request.cancel()
        #expect(await second.response.error?.isExplicitlyCancelledError == true)
        #expect(service.snapshot()?.waitingCount == 0)
        let (_, third) = await enqueue("/", in: service)
        gate.open(2)
        #expect(await first.response.error == nil)
        #expect(await third.response.error == nil)
        #expect(service.snapshot()?.runningCount == 0)
    }

    @Test func aFailedRequestLeaves() async {
        let service = service(response: .failure(.connectionLost))
        for index in 1...3 {
            let task = service.session.request(Service.host).serializingString()
            await gate.waitForArrivals(index)
            gate.open()
            #expect(await task.response.error != nil)
        }
        #expect(service.snapshot()?.runningCount == 0)
    }

    @Test func aCanceledProbeMakesRoomForAnother() async {
        let service = service(circuitBreaker: .strict, response: .status(500))
        gate.open(2)
        _ = await service.statuses(2)
        service.clock.advance(by: .seconds(5))
        let probe = service.session.request(Service.host).serializingString()
        await gate.waitForArrivals(3)
        probe.cancel()
        _ = await probe.response
        gate.open()
        #expect(await service.statuses(2) == [500, 0])
    }

    @Test func aRejectedProbeMakesRoomForAnother() async {
        let service = service(
            Bulkhead(maximumConcurrent: 1, maximumWaiting: 0), circuitBreaker: .strict, response: .status(500))
        // It runs while two failures open the circuit, after the limit has been exceeded.
        let slow = service.session.request(Service.host).serializingString()
        await gate.waitForArrivals(1)
        service.resilience.forceCircuitOpen(of: Service.host)
        service.resilience.resetCircuit(of: Service.host)
        for _ in 0..<2 { #expect(await service.get().error?.underlyingError is BulkheadError) }
        #expect(service.snapshot()?.circuit == .closed)
        gate.open(3)
        _ = await slow.response
        #expect(await service.statuses(3) == [500, 500, 0])
    }

    /// The timer can fire before the request has begun to wait.
    @Test(.timeLimit(.minutes(1))) func theShortestWaitEnds() async throws {
        let resilience = Resilience(
            circuitBreaker: nil,
            bulkhead: Bulkhead(maximumConcurrent: 1, maximumWaiting: 100_000, maximumWait: .zero))
        let session = resilience.makeSession(
            transport: MockTransport { [gate] _ in
                await gate.pass()
                return .text("ok")
            })
        let first = session.request(Service.host).serializingString()
        await gate.waitForArrivals(1)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<1_000 {
                        let error = await session.request(Service.host).serializingString().response.error
                        #expect((error?.underlyingError as? BulkheadError)?.reason == .waitTimedOut)
                    }
                }
            }
        }
        gate.open()
        #expect(await first.response.error == nil)
    }

    @Test func anOpenCircuitRejectsWaitingRequests() async {
        let service = service(circuitBreaker: .strict, response: .status(500))
        let first = service.session.request(Service.host).serializingString()
        await gate.waitForArrivals(1)
        var waiting: [DataTask<String>] = []
        for _ in 0..<5 { waiting.append(await enqueue("/", in: service).1) }
        gate.open(6)
        _ = await first.response
        var rejected = 0
        for task in waiting {
            if await task.response.error?.underlyingError is CircuitBreakerError { rejected += 1 }
        }
        #expect(rejected == 4 && service.mock.requests.count == 2)
        #expect(service.count(.rejectedByCircuit) == 4)
        #expect(service.snapshot()?.runningCount == 0 && service.snapshot()?.waitingCount == 0)
        // The place of a rejected request serves the next probe.
        service.clock.advance(by: .seconds(5))
        gate.open()
        #expect(await service.statuses(1) == [500])
    }

    /// The task that waits for the bulkhead can start after the request has been canceled.
    @Test(.timeLimit(.minutes(1))) func aWaitThatBeginsAfterTheEndReturns() async {
        let hosts = Hosts(
            Policies(
                deadline: nil, retrier: .immediate(0), retryBudget: RetryBudget(), circuitBreaker: nil,
                bulkhead: Bulkhead(maximumConcurrent: 1), hedging: nil, hostLimit: 10, key: nil))
        let hop = Hop(
            Exchange(request: HTTPRequest(method: .get, scheme: "http", authority: "mock.test", path: "/")))
        let runs = [AdmissionRun(hosts), AdmissionRun(hosts)]
        _ = runs[0].before(hop)
        guard case .wait(let wait) = runs[1].before(hop) else {
            Issue.record("the second request isn't waiting")
            return
        }
        runs[1].ended(hop, with: nil)
        guard case .fail(let error as TransportError) = await wait() else {
            Issue.record("the request was sent")
            return
        }
        #expect(error.code == .cancelled)
    }

    @Test func manyRequestsNeverExceedTheLimit() async {
        let running = Mutable((now: 0, maximum: 0))
        let resilience = Resilience(
            circuitBreaker: nil,
            bulkhead: Bulkhead(maximumConcurrent: 7, maximumWaiting: 1_000, maximumWait: .seconds(60)))
        let mock = MockTransport { _ in
            running.change { running in
                running.now += 1
                running.maximum = max(running.maximum, running.now)
            }
            await Task.yield()
            running.change { $0.now -= 1 }
            return .text("ok")
        }
        let session = resilience.makeSession(transport: mock)
        let failures = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<500 {
                group.addTask {
                    let request = session.request(Service.host)
                    let task = request.serializingString()
                    if index % 3 == 0 { request.cancel() }
                    return await task.response.error != nil
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failures <= 167)
        #expect(running.value.maximum <= 7 && running.value.now == 0)
        #expect(resilience.snapshot.first?.runningCount == 0 && resilience.snapshot.first?.waitingCount == 0)
    }
}
