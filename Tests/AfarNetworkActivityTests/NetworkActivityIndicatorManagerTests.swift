import AfarCore
import AfarSerializers
import AfarTesting
import Foundation
import Testing

@testable import AfarNetworkActivity

/// The manager with real requests and manually controlled delays. The tests run serially, because the manager counts
/// the requests of all sessions.
@Suite(.serialized) struct NetworkActivityIndicatorManagerTests {
    /// Delays that a test ends, in the order in which they started.
    private final class Waits: Sendable {
        private struct Wait {
            let duration: Duration
            let gate: AsyncStream<Void>.Continuation
        }

        private let waits: AsyncStream<Wait>
        private let begin: AsyncStream<Wait>.Continuation

        init() { (waits, begin) = AsyncStream.makeStream() }

        func pause(_ duration: Duration) async throws {
            let (gate, opening) = AsyncStream.makeStream(of: Void.self)
            begin.yield(Wait(duration: duration, gate: opening))
            for await _ in gate {}
            try Task.checkCancellation()
        }

        /// Ends the next delay and returns its duration.
        func end() async -> Duration? {
            for await wait in waits {
                wait.gate.finish()
                return wait.duration
            }
            return nil
        }

        /// Returns the duration of the next delay without ending it.
        func leave() async -> Duration? {
            for await wait in waits { return wait.duration }
            return nil
        }
    }

    private static func manager(_ waits: Waits) -> NetworkActivityIndicatorManager {
        let queue = DispatchQueue(label: "shown")
        let manager = NetworkActivityIndicatorManager(queue: queue) { try await waits.pause($0) }
        manager.isEnabled = true
        return manager
    }

    /// Creates a session whose notifications don't require the main thread.
    private static func session(_ transport: MockTransport) -> Session {
        Session(eventMonitors: [RequestNotifications(queue: DispatchQueue(label: "notes"))], transport: transport)
    }

    @Test func manualActivityIsShown() async {
        let waits = Waits()
        let manager = Self.manager(waits)
        (manager.startDelay, manager.completionDelay) = (1.5, 0.25)
        var shown = manager.visibility().makeAsyncIterator()
        #expect(await shown.next() == false)
        manager.requestDidStart()
        #expect(!manager.isNetworkActivityIndicatorVisible)
        #expect(await waits.end() == .seconds(1.5))
        #expect(await shown.next() == true)
        #expect(manager.isNetworkActivityIndicatorVisible)
        manager.requestDidStop()
        #expect(manager.isNetworkActivityIndicatorVisible)
        #expect(await waits.end() == .seconds(0.25))
        #expect(await shown.next() == false)
    }

    @Test func theUsualDelays() {
        let manager = NetworkActivityIndicatorManager()
        #expect(manager.startDelay == 1)
        #expect(manager.completionDelay == 0.2)
        #expect(!manager.isEnabled)
        #expect(NetworkActivityIndicatorManager.shared === NetworkActivityIndicatorManager.shared)
    }

    @Test(arguments: [-1, .nan, .infinity, 1e300])
    func delaysCanHaveAnyValue(delay: TimeInterval) async {
        let waits = Waits()
        let manager = Self.manager(waits)
        manager.startDelay = delay
        manager.requestDidStart()
        let duration = await waits.end()
        #expect(duration.map { $0 >= .zero && $0 <= .seconds(86_400) } == true)
    }

    @Test func theClosureIsCalledOnlyForChanges() async {
        let waits = Waits()
        let manager = Self.manager(waits)
        let (reported, report) = AsyncStream.makeStream(of: Bool.self)
        manager.networkActivityIndicatorVisibilityChanged = { report.yield($0) }
        manager.incrementActivityCount()
        _ = await waits.end()
        var iterator = reported.makeAsyncIterator()
        #expect(await iterator.next() == true)
        manager.decrementActivityCount()
        _ = await waits.leave()
        manager.incrementActivityCount()
        manager.decrementActivityCount()
        _ = await waits.end()
        #expect(await iterator.next() == false)
    }

    @Test func requestsAreCounted() async throws {
        let waits = Waits()
        let manager = Self.manager(waits)
        var shown = manager.visibility().makeAsyncIterator()
        _ = await shown.next()
        let gate = Deferred<Void>()
        let session = Self.session(
            MockTransport { _ in
                await gate.value
                return .text("there")
            })
        let tasks = (0..<3).map { _ in session.request("http://example.com/").serializingData() }
        _ = await waits.end()
        #expect(await shown.next() == true)
        gate.fulfill(())
        for task in tasks { _ = await task.response }
        #expect(await waits.end() == .seconds(0.2))
        #expect(await shown.next() == false)
    }

    /// A canceled request posts two notifications, for its cancellation and its completion, but counts once.
    @Test func cancelledAndFailedRequestsEndTheActivity() async throws {
        let waits = Waits()
        let manager = Self.manager(waits)
        var shown = manager.visibility().makeAsyncIterator()
        _ = await shown.next()
        let session = Self.session(
            MockTransport { _ in
                try? await Task.sleep(for: .seconds(3600))
                return .failure(.cannotConnect)
            })
        manager.requestDidStart()
        let request = session.request("http://example.com/")
        let task = request.serializingData()
        _ = await waits.end()
        #expect(await shown.next() == true)
        request.cancel()
        _ = await task.response
        // The activity outside of Afar continues, so the indicator stays visible.
        #expect(manager.isNetworkActivityIndicatorVisible)
        manager.requestDidStop()
        _ = await waits.end()
        #expect(await shown.next() == false)
    }

    @Test func nothingIsCountedWhileDisabled() async {
        let waits = Waits()
        let manager = Self.manager(waits)
        var shown = manager.visibility().makeAsyncIterator()
        _ = await shown.next()
        manager.requestDidStart()
        _ = await waits.end()
        #expect(await shown.next() == true)
        manager.isEnabled = false
        #expect(await shown.next() == false)
        manager.requestDidStart()
        #expect(!manager.isNetworkActivityIndicatorVisible)
        manager.isEnabled = true
        manager.requestDidStart()
        _ = await waits.end()
        #expect(await shown.next() == true)
    }

    @Test func visibilityStreamsEndWithTheManager() async {
        var manager: NetworkActivityIndicatorManager? = Self.manager(Waits())
        let changes = manager?.visibility()
        manager = nil
        var count = 0
        if let changes { for await _ in changes { count += 1 } }
        #expect(count == 1)
    }
}
