import AfarTesting
import Dispatch
import Foundation
import HTTPTypes
import Testing

@testable import AfarTransport

@Suite(.timeLimit(.minutes(1))) struct StaticResolverTests {
    @Test func hostsInTheListAreFound() async throws {
        let resolver = try StaticResolver([
            "API.example.": ["192.0.2.1", "2001:db8::1"], "b\u{FC}cher.example": ["192.0.2.2"], "none.example": [],
        ])
        let found = try await resolver.addresses(of: "api.example")
        #expect(found.addresses == ["192.0.2.1", "2001:db8::1"].compactMap { SocketAddress($0) })
        #expect(found.timeToLive == nil)
        #expect(try await resolver.addresses(of: "xn--bcher-kva.example").addresses.count == 1)
        #expect(try await resolver.addresses(of: "none.example").addresses.isEmpty)
        #expect(try await resolver.addresses(of: "other.example").addresses.isEmpty)
    }

    @Test func theFallbackLooksUpOtherHosts() async throws {
        let fallback = try StaticResolver(["b.example": ["192.0.2.9"], "none.example": ["192.0.2.9"]])
        let resolver = try StaticResolver(["a.example": ["192.0.2.1"], "none.example": []], fallback: fallback)
        #expect(
            try await resolver.addresses(of: "b.example").addresses == [SocketAddress("192.0.2.9")].compactMap(\.self))
        #expect(try await resolver.addresses(of: "none.example").addresses.isEmpty)
        let system = try StaticResolver([:], fallback: .system)
        #expect(try await system.addresses(of: "localhost").addresses.isEmpty == false)
    }

    @Test(arguments: ["", "example.com", "[::1]", "192.0.2.256", "1.2.3.4 ", "a\u{0}b"])
    func textsThatAreNotAddressesAreErrors(_ text: String) {
        let error = #expect(throws: InvalidAddress.self) { _ = try StaticResolver(["a.example": ["192.0.2.1", text]]) }
        #expect(error?.text == text && error?.host == "a.example")
        #expect(error?.description.contains("a.example") == true)
    }
}

@Suite(.timeLimit(.minutes(1))) struct SystemResolverTests {
    @Test func namesOfThisMachineAreFound() async throws {
        let found = try await SystemResolver.system.addresses(of: "localhost")
        #expect(!found.addresses.isEmpty && found.timeToLive == nil)
        #expect(SystemResolver.system.name == "system")
    }

    @Test func moreLookupsThanTheLimitAreQueued() async throws {
        let resolver = SystemResolver(maximumLookups: 1)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { try await resolver.addresses(of: "localhost").addresses.isEmpty } }
            for try await isEmpty in group { #expect(!isEmpty) }
        }
    }

    @Test func canceledLookupsEnd() async throws {
        let resolver = SystemResolver(maximumLookups: 1)
        let tasks = (0..<20).map { _ in Task { try await resolver.addresses(of: "localhost") } }
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
        #expect(try await resolver.addresses(of: "localhost").addresses.isEmpty == false)
        #expect(try await resolver.addresses(of: "a\u{0}b").addresses.isEmpty)
    }

    /// A resolver whose lookups of names that begin with "dead" end only when the test ends.
    private final class Dead: Sendable {
        let state = Locked((lookups: [String](), threads: 0, highest: 0))
        private let end = DispatchSemaphore(value: 0)

        func resolver(maximumLookups: Int) -> SystemResolver {
            SystemResolver(
                maximumLookups: maximumLookups,
                lookUp: { [self] host in
                    state.withLock { $0.lookups.append(host) }
                    if host.hasPrefix("dead") {
                        end.wait()
                        end.signal()
                    }
                    return ResolvedAddresses([SocketAddress("192.0.2.1")].compactMap(\.self))
                },
                startThread: { [self] body in
                    state.withLock { state in
                        state.threads += 1
                        state.highest = max(state.highest, state.threads)
                    }
                    Thread.detachNewThread { [self] in
                        body()
                        state.withLock { $0.threads -= 1 }
                    }
                })
        }

        deinit { end.signal() }

        func stop() { end.signal() }
    }

    /// Thousands of lookups to a server that doesn't respond take few threads, and other names are found meanwhile.
    @Test func lookupsThatDoNotEndDoNotDelayOthers() async throws {
        let dead = Dead()
        let resolver = dead.resolver(maximumLookups: 4)
        let tasks = (0..<3_000).map { index in
            Task { try await resolver.addresses(of: "dead\(index % 1_500).dead.example") }
        }
        for index in 0..<20 {
            let found = try await resolver.addresses(of: "api\(index).live.example")
            #expect(found.addresses.count == 1)
        }
        #expect(dead.state.withLock { $0.highest } <= 16)
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { _ = try await task.value } }
        #expect(try await resolver.addresses(of: "other.live.example").addresses.count == 1)
        dead.stop()
        #expect(dead.state.withLock { $0.lookups.count(where: { $0.hasPrefix("dead") }) } <= 8)
    }

    @Test func concurrentLookupsOfAHostShareOne() async throws {
        let dead = Dead()
        let resolver = dead.resolver(maximumLookups: 2)
        let tasks = (0..<100).map { _ in Task { try await resolver.addresses(of: "dead.example") } }
        _ = try await resolver.addresses(of: "live.example")
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { _ = try await tasks[0].value }
        dead.stop()
        for task in tasks.dropFirst() { #expect(try await task.value.addresses.count == 1) }
        // A task that started after the end of the lookup has caused another one.
        #expect(dead.state.withLock { $0.lookups.count } < 100)
    }

    /// Failures of many queued lookups neither exhaust the stack nor stop further lookups.
    @Test func threadsThatCannotStartFailTheirLookups() async throws {
        struct NoThread: Error {}
        let canStart = Locked(false)
        let resolver = SystemResolver(
            maximumLookups: 1, lookUp: { _ in ResolvedAddresses([]) },
            startThread: { body in
                guard canStart.withLock({ $0 }) else { throw NoThread() }
                Thread.detachNewThread(body)
            })
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<20_000 {
                group.addTask {
                    do { _ = try await resolver.addresses(of: "host\(index)") } catch let error as TransportError {
                        return error.code == .outOfResources
                    } catch {}
                    return false
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(outcomes == 20_000)
        canStart.withLock { $0 = true }
        #expect(try await resolver.addresses(of: "a").addresses.isEmpty)
    }
}

@Suite struct LookupQueueTests {
    private func takeAll(from queue: inout LookupQueue<Int>) -> [Int] {
        var numbers: [Int] = []
        while let number = queue.takeNext() { numbers.append(number) }
        return numbers
    }

    @Test func aQueueTakesTurnsAmongDomains() {
        var queue = LookupQueue<Int>(limit: 2)
        for number in 0..<10 { queue.append(number, name: "h\(number).dead.example") }
        queue.append(10, name: "live.test")
        let first = takeAll(from: &queue)
        #expect(first == [0, 10])
        queue.end(10)
        let second = takeAll(from: &queue)
        #expect(second == [1])
        for number in 0..<2 { queue.stopCounting(number) }
        let third = takeAll(from: &queue)
        #expect(third == [2, 3])
        for number in 2..<4 { queue.stopCounting(number) }
        // The domain has four of the eight places.
        let fourth = takeAll(from: &queue)
        #expect(fourth == [])
        for number in 11..<20 { queue.append(number, name: "other\(number)") }
        for numbers in [[11, 12], [13, 14]] {
            let taken = takeAll(from: &queue)
            #expect(taken == numbers)
            for number in numbers { queue.stopCounting(number) }
        }
        // All eight places are taken.
        let fifth = takeAll(from: &queue)
        #expect(fifth == [] && queue.isRunning(0))
        queue.end(0)
        let sixth = takeAll(from: &queue)
        // The domain of the first lookups has only three now, but others have none.
        #expect(sixth == [15] && !queue.isRunning(0))
        let removals = [queue.remove(16), queue.remove(16), queue.remove(15)]
        #expect(removals == [true, false, false])
        queue.end(99)
        #expect(queue.runningKeys.count == 8)
    }
}

@Suite struct TransferPauseTests {
    /// The timer of a pause can fire after a longer pause has begun.
    @Test func anEarlierTimerDoesNotEndALongerPause() throws {
        var pause = TransferPause()
        #expect(!pause.isActive)
        let numbers = [1, 1, 2].map { pause.begin(until: .seconds($0)) }
        let (first, second) = (try #require(numbers[0]), try #require(numbers[2]))
        #expect(numbers[1] == nil && pause.isActive)
        let isEndedByFirst = pause.end(first)
        #expect(!isEndedByFirst && pause.isActive)
        let ends = [pause.end(second), pause.end(second)]
        #expect(ends == [true, false] && !pause.isActive)
        _ = pause.begin(until: .seconds(3))
        #expect(pause.isActive)
    }
}

@Suite(.timeLimit(.minutes(1))) struct CachingResolverTests {
    /// A resolver whose lookups wait until the test answers them.
    private final class Source: HostResolver {
        struct Call: Sendable {
            let host: String
            let answer: @Sendable (Result<ResolvedAddresses, any Error>) -> Void
        }

        let (calls, continuation) = AsyncStream<Call>.makeStream()
        let cancellations = Locked(0)

        var name: String { "source" }

        func addresses(of host: String) async throws -> ResolvedAddresses {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { next in
                    continuation.yield(Call(host: host) { next.resume(with: $0) })
                }
            } onCancel: {
                cancellations.withLock { $0 += 1 }
            }
        }
    }

    /// A resolver that counts its lookups.
    private final class Counter: HostResolver {
        private let state: Locked<(count: Int, result: ResolvedAddresses?)>

        init(_ result: ResolvedAddresses?) { state = Locked((0, result)) }

        var count: Int { state.withLock { $0.count } }

        func addresses(of host: String) async throws -> ResolvedAddresses {
            let result = state.withLock { state in
                state.count += 1
                return state.result
            }
            guard let result else { throw Failure() }
            return result
        }
    }

    private struct Failure: Error {}

    private static func result(_ time: Duration? = nil) -> ResolvedAddresses {
        ResolvedAddresses([SocketAddress("192.0.2.1")].compactMap(\.self), timeToLive: time)
    }

    @Test func addressesAreCachedForTheirTime() async throws {
        let clock = ManualClock()
        let counter = Counter(Self.result(.seconds(10)))
        let cache = CachingResolver(counter, timeSource: clock.timeSource)
        #expect(try await cache.addresses(of: "A.example") == Self.result(.seconds(10)))
        clock.advance(by: .seconds(4))
        #expect(try await cache.addresses(of: "a.example.") == Self.result(.seconds(6)))
        clock.advance(by: .seconds(6))
        _ = try await cache.addresses(of: "a.example")
        #expect(counter.count == 2 && cache.name == "Counter")
        cache.removeAll()
        _ = try await cache.addresses(of: "a.example")
        #expect(counter.count == 3)
    }

    @Test(
        arguments: [
            (nil, 60), (.seconds(5), 30), (.seconds(7_200), 3_600), (.seconds(-1), 30), (.seconds(1e20), 3_600),
        ] as [(Duration?, Int)])
    func timesAreLimited(time: Duration?, expected: Int) async throws {
        let clock = ManualClock()
        let counter = Counter(Self.result(time))
        var limits = CachingResolver.Limits()
        limits.minimumTimeToLive = .seconds(30)
        let cache = CachingResolver(counter, limits: limits, timeSource: clock.timeSource)
        _ = try await cache.addresses(of: "a.example")
        clock.advance(by: .seconds(expected - 1))
        _ = try await cache.addresses(of: "a.example")
        #expect(counter.count == 1)
        clock.advance(by: .seconds(1))
        _ = try await cache.addresses(of: "a.example")
        #expect(counter.count == 2)
    }

    @Test func missingHostsAreCachedBrieflyAndErrorsAreNot() async throws {
        let clock = ManualClock()
        let missing = Counter(ResolvedAddresses([], timeToLive: .seconds(1_000)))
        let cache = CachingResolver(missing, timeSource: clock.timeSource)
        for _ in 0..<2 { #expect(try await cache.addresses(of: "a.example").addresses.isEmpty) }
        #expect(missing.count == 1)
        clock.advance(by: .seconds(5))
        _ = try await cache.addresses(of: "a.example")
        #expect(missing.count == 2)
        let failing = Counter(nil)
        let other = CachingResolver(failing)
        for _ in 0..<2 { await #expect(throws: Failure.self) { _ = try await other.addresses(of: "a.example") } }
        #expect(failing.count == 2)
    }

    @Test func incompleteResultsAreNotCached() async throws {
        var result = Self.result(.seconds(100))
        result.isComplete = false
        let counter = Counter(result)
        var limits = CachingResolver.Limits()
        limits.minimumTimeToLive = .seconds(30)
        let cache = CachingResolver(counter, limits: limits)
        for _ in 0..<2 { #expect(try await cache.addresses(of: "a.example") == result) }
        #expect(counter.count == 2)
        // The shortest time applies to addresses only.
        let missing = Counter(ResolvedAddresses([], timeToLive: .zero))
        let other = CachingResolver(missing, limits: limits)
        for _ in 0..<2 { _ = try await other.addresses(of: "a.example") }
        #expect(missing.count == 2)
    }

    @Test func theNumberOfHostsIsLimited() async throws {
        let counter = Counter(Self.result())
        var limits = CachingResolver.Limits()
        limits.maximumHostCount = 2
        let cache = CachingResolver(counter, limits: limits)
        for host in ["a", "b", "a", "c", "a", "b"] { _ = try await cache.addresses(of: host) }
        // The entry of "b" was the least recently used one when "c" was added.
        #expect(counter.count == 4)
        limits.maximumHostCount = 0
        let none = CachingResolver(counter, limits: limits)
        for _ in 0..<2 { _ = try await none.addresses(of: "a") }
        #expect(counter.count == 6)
    }

    /// Runs one task after the other.
    private let executor = QueueExecutor(DispatchQueue(label: "resolver.tests"))

    /// Starts tasks that look up a host, and returns when they wait.
    private func start(
        _ count: Int, _ cache: CachingResolver
    ) async -> [Task<ResolvedAddresses, any Error>] {
        let tasks = (0..<count).map { _ in
            Task(executorPreference: executor) { try await cache.addresses(of: "a.example") }
        }
        await Task(executorPreference: executor) {}.value
        return tasks
    }

    @Test func concurrentLookupsOfAHostShareOne() async throws {
        let source = Source()
        let cache = CachingResolver(source)
        var calls = source.calls.makeAsyncIterator()
        let first = await start(1, cache)
        let call = try #require(await calls.next())
        let others = await start(20, cache)
        let other = Task { try await cache.addresses(of: "b.example") }
        let second = try #require(await calls.next())
        #expect(call.host == "a.example" && second.host == "b.example")
        second.answer(.failure(Failure()))
        call.answer(.success(Self.result(.zero)))
        for task in first + others { #expect(try await task.value.addresses.count == 1) }
        await #expect(throws: Failure.self) { _ = try await other.value }
    }

    @Test func aCancellationEndsOnlyItsOwnWait() async throws {
        let source = Source()
        let cache = CachingResolver(source)
        var calls = source.calls.makeAsyncIterator()
        let tasks = await start(2, cache)
        let call = try #require(await calls.next())
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { _ = try await tasks[0].value }
        #expect(source.cancellations.withLock { $0 } == 0)
        call.answer(.success(Self.result()))
        #expect(try await tasks[1].value.addresses.count == 1)
    }

    @Test func theLastWaiterEndsTheLookup() async throws {
        let source = Source()
        let cache = CachingResolver(source)
        var calls = source.calls.makeAsyncIterator()
        let first = Task { try await cache.addresses(of: "a.example") }
        let abandoned = try #require(await calls.next())
        first.cancel()
        await #expect(throws: CancellationError.self) { _ = try await first.value }
        #expect(source.cancellations.withLock { $0 } == 1)
        // A later lookup doesn't wait for the abandoned one.
        let second = Task { try await cache.addresses(of: "a.example") }
        let call = try #require(await calls.next())
        abandoned.answer(.failure(CancellationError()))
        call.answer(.success(Self.result()))
        #expect(try await second.value.addresses.count == 1)
    }

    @Test func resultsOfEarlierLookupsAreNotCachedAfterRemoval() async throws {
        let source = Source()
        let cache = CachingResolver(source)
        var calls = source.calls.makeAsyncIterator()
        let first = Task { try await cache.addresses(of: "a.example") }
        let call = try #require(await calls.next())
        cache.removeAll()
        call.answer(.success(Self.result()))
        #expect(try await first.value.addresses.count == 1)
        let second = Task { try await cache.addresses(of: "a.example") }
        let again = try #require(await calls.next())
        again.answer(.success(Self.result()))
        #expect(try await second.value.addresses.count == 1)
    }

    @Test func manyConcurrentLookupsAndCancellationsEnd() async throws {
        let counter = Counter(Self.result(.zero))
        let cache = CachingResolver(counter)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<500 {
                group.addTask {
                    let task = Task { try await cache.addresses(of: "host\(index % 7)") }
                    if index % 3 == 0 { task.cancel() }
                    _ = await task.result
                }
            }
        }
        #expect(try await cache.addresses(of: "host0").addresses.count == 1)
    }
}

@Suite struct ResolverOptionTests {
    private final class Never: HostResolver {
        func addresses(of host: String) async throws -> ResolvedAddresses { ResolvedAddresses([]) }
    }

    @Test func theResolverAndTheNetworkSettingsAreIndependent() {
        var options = ExchangeOptions()
        #expect(options.resolver == nil && options.networkBox == nil)
        let resolver = Never()
        options.resolver = resolver
        #expect(options.network == NetworkSettings())
        options.network.addressFamily = .ipv4
        #expect(options.resolver === resolver)
        options.network = NetworkSettings()
        #expect(options.resolver === resolver)
        options.network.addressFamily = .ipv6
        options.resolver = nil
        #expect(options.network.addressFamily == .ipv6)
        options.network = NetworkSettings()
        #expect(options.networkBox == nil)
    }

    @Test func theRequiredFeaturesAreThoseOfTheSettings() {
        func features(_ change: (inout ExchangeOptions) -> Void) -> TransportCapabilities.Features {
            var options = ExchangeOptions()
            change(&options)
            return Exchange(
                request: HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/"), options: options
            ).requiredFeatures
        }
        #expect(features { $0.resolver = Never() } == .resolver)
        #expect(features { $0.network.interface = "lo" } == .networkSettings)
        #expect(
            features {
                $0.network.interface = "lo"
                $0.resolver = Never()
            } == [.networkSettings, .resolver])
    }

    @Test(arguments: [
        (0.25, 250), (0, 10), (-1, 10), (0.01, 10), (1.5, 1_500), (2, 2_000), (9, 2_000), (.infinity, 2_000),
        (-.infinity, 10), (.nan, 2_000),
    ])
    func theDelayBetweenAddressesIsLimited(seconds: Double, milliseconds: Int) {
        var configuration = ConnectionConfiguration()
        #expect(configuration.happyEyeballsMilliseconds == 250)
        configuration.happyEyeballsDelay = seconds
        #expect(configuration.happyEyeballsMilliseconds == milliseconds)
    }

    @Test func addressesAreCreatedFromBytes() throws {
        for text in ["192.0.2.1", "2001:db8::1", "::"] {
            let address = try #require(SocketAddress(text, port: 81))
            let bytes = try #require(address.bytes)
            #expect(SocketAddress(bytes: bytes, port: 81) == address)
        }
        for count in [0, 3, 5, 15, 17] { #expect(SocketAddress(bytes: [UInt8](repeating: 1, count: count)) == nil) }
    }

    @Test func resultsAreLimitedToDistinctAddresses() throws {
        let addresses = try ["192.0.2.1", "::1", "192.0.2.1"].map { try #require(SocketAddress($0, port: 81)) }
        let socket = try #require(SocketAddress(unixSocket: "/x"))
        #expect(
            HostLookup.usable(addresses + [socket]) == ["192.0.2.1", "::1"].compactMap { SocketAddress($0) })
        let many = (0..<5_000).compactMap { SocketAddress(bytes: [10, 0, UInt8($0 / 250), UInt8($0 % 250)]) }
        #expect(HostLookup.usable(many).count == HostLookup.addressLimit)
    }
}
