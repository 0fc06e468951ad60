import AfarCore
import AfarResilience
import AfarSerializers
import AfarTesting
import AfarTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A session over a mock, whose time passes only when the test advances it.
struct Service: Sendable {
    static let host = "http://mock.test"

    let clock: ManualClock
    let mock: MockTransport
    let session: Session
    let resilience: Resilience

    init(
        _ resilience: Resilience, cache: (any CacheStore)? = nil, isPlain: Bool = false,
        _ handler: @escaping @Sendable (MockRequest) async throws -> MockResponse
    ) {
        self.resilience = resilience
        clock = ManualClock()
        mock = MockTransport(handler)
        var configuration = SessionConfiguration()
        configuration.timeSource = clock.timeSource
        configuration.cacheStore = cache
        session = resilience.makeSession(
            configuration: configuration, transport: isPlain ? PlainTransport(base: mock) : mock)
    }

    /// Sends a request and returns its validated response.
    func get(_ path: String = "/") async -> AFDataResponse<String> {
        await session.request(path.hasPrefix("/") ? Self.host + path : path).validate().serializingString().response
    }

    /// Sends requests one after another, and returns their statuses, or 0 for those without a response.
    func statuses(_ count: Int, _ path: String = "/") async -> [Int] {
        var statuses: [Int] = []
        for _ in 0..<count { statuses.append(await get(path).response?.statusCode ?? 0) }
        return statuses
    }

    /// The requests to ``host``.
    var requests: [MockRequest] { mock.requests.filter { $0.url.hasPrefix(Self.host) } }

    func snapshot(_ key: String = host) -> ResilienceSnapshot? { resilience.snapshot.first { $0.key == key } }

    func count(_ kind: ResilienceEvent.Kind, _ key: String = host) -> Int { snapshot(key)?.eventCounts[kind] ?? 0 }
}

/// A transport that has only an async method.
struct PlainTransport: Transport {
    let base: any Transport

    var capabilities: TransportCapabilities { base.capabilities }

    func send(_ exchange: Exchange) async throws -> TransportResponse { try await base.send(exchange) }
}

/// Waits until a count of events was reported.
final class EventLog: Sendable {
    private let stream: AsyncStream<ResilienceEvent>

    init(_ resilience: Resilience) {
        let (stream, events) = AsyncStream.makeStream(of: ResilienceEvent.self)
        self.stream = stream
        resilience.observe { events.yield($0) }
    }

    /// Returns the next events.
    func next(_ count: Int) async -> [ResilienceEvent.Kind] {
        var kinds: [ResilienceEvent.Kind] = []
        var iterator = stream.makeAsyncIterator()
        while kinds.count < count, let event = await iterator.next() { kinds.append(event.kind) }
        return kinds
    }

    /// Waits for an event.
    func wait(for kind: ResilienceEvent.Kind) async {
        for await event in stream where event.kind == kind { return }
    }
}

/// A gate that requests wait at until it is opened.
final class Gate: Sendable {
    private typealias Waiter = CheckedContinuation<Void, Never>

    private struct State {
        var lastID = 0
        var waiters: [(id: Int, waiter: Waiter)] = []
        var openCount = 0
        var arrivalCount = 0
        var observer: (count: Int, waiter: Waiter)?
    }

    private let state = Mutable(State())

    /// Waits until the gate is opened for one request, or until the task is canceled.
    func pass() async {
        let (id, observer) = state.change { state -> (Int, Waiter?) in
            state.lastID += 1
            state.arrivalCount += 1
            guard let observer = state.observer, state.arrivalCount >= observer.count else {
                return (state.lastID, nil)
            }
            state.observer = nil
            return (state.lastID, observer.waiter)
        }
        observer?.resume()
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOpen = state.change { state in
                    if Task.isCancelled { return true }
                    if state.openCount == 0 { state.waiters.append((id, waiter)) } else { state.openCount -= 1 }
                    return state.waiters.last?.id != id
                }
                if isOpen { waiter.resume() }
            }
        } onCancel: {
            let waiter = state.change { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0).waiter }
            }
            waiter?.resume()
        }
    }

    /// Waits until this number of requests have arrived in all.
    func waitForArrivals(_ count: Int) async {
        await withCheckedContinuation { waiter in
            let isDone = state.change { state in
                if state.arrivalCount < count { state.observer = (count, waiter) }
                return state.arrivalCount >= count
            }
            if isDone { waiter.resume() }
        }
    }

    /// Lets requests pass, the first ones first.
    func open(_ count: Int = 1) {
        for _ in 0..<count {
            let waiter = state.change { state -> Waiter? in
                guard state.waiters.isEmpty else { return state.waiters.removeFirst().waiter }
                state.openCount += 1
                return nil
            }
            waiter?.resume()
        }
    }
}

extension CircuitBreaker {
    /// A breaker that opens after the second failure.
    static var strict: CircuitBreaker {
        var rules = CircuitBreaker()
        (rules.window, rules.minimumCalls) = (.calls(10), 2)
        return rules
    }
}

/// A retrier that retries immediately, up to a number of times.
extension RequestRetrier where Self == RetryPolicy {
    static func immediate(_ limit: UInt) -> RetryPolicy {
        RetryPolicy(retryLimit: limit, exponentialBackoffScale: 0)
    }
}

/// A value that tests change while requests run.
final class Mutable<Value: Sendable>: @unchecked Sendable {
    // Sendable because the value is only accessed while the lock is held.
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value {
        get { lock.withLock { stored } }
        set { lock.withLock { stored = newValue } }
    }

    func change<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&stored) } }
}
