import AfarTransport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AfarHTTP

/// Work that callers perform on an idle loop.
@Suite struct EventLoopTests {
    /// A client that records what the loop's thread does.
    private final class Client: LoopClient, Sendable {
        struct State {
            var isIdle = true
            var mustFinishTurn = false
            var nextDeadline = UInt64.max
            var hasEnded = false
            var turns: [CheckedContinuation<Void, Never>] = []
        }

        let state = Locked(State())

        func receive(_ message: @Sendable () -> Void) { message() }

        func finishTurn() {
            let waiting = state.withLock { state in
                (state.mustFinishTurn, state.nextDeadline) = (false, .max)
                return Swift.exchange(&state.turns, with: [])
            }
            for continuation in waiting { continuation.resume() }
        }

        var isIdle: Bool { state.withLock { $0.isIdle } }
        var mustFinishTurn: Bool { state.withLock { $0.mustFinishTurn } }
        var nextDeadline: UInt64 { state.withLock { $0.nextDeadline } }
        var hasEnded: Bool { state.withLock { $0.hasEnded } }
        func close() {}
    }

    private let client = Client()
    private let loop: EventLoop<Client>

    init() throws {
        loop = try EventLoop()
        try loop.start(client)
    }

    private func withLoop(_ body: () async throws -> Void) async throws {
        defer { loop.post { [client] in client.state.withLock { $0.hasEnded = true } } }
        // Waits for the end of the first turn.
        try await waitWhile { !loop.performIfIdle(client, { _ in }) }
        try await body()
    }

    /// Makes the loop idle again. A loop on which a caller has performed work is idle only after its next turn.
    private func becomeIdle() async {
        await withCheckedContinuation { continuation in
            client.state.withLock { $0.turns.append(continuation) }
            loop.post {}
        }
    }

    private func perform(_ work: (inout Client.State) -> Void) async {
        while !loop.performIfIdle(client, { $0.state.withLock { work(&$0) } }) { await becomeIdle() }
    }

    @Test func anIdleLoopLetsTheCallerWork() async throws {
        try await withLoop {
            await becomeIdle()
            let caller = pthread_self()
            while !loop.performIfIdle(client, { _ in #expect(pthread_self() == caller) }) { await becomeIdle() }
        }
    }

    @Test func onlyOneCallerWorksBeforeTheNextTurn() async throws {
        try await withLoop {
            await perform { _ in }
            #expect(!loop.performIfIdle(client) { _ in Issue.record("the loop isn't idle") })
        }
    }

    @Test func aBusyClientIsLeftToItsLoop() async throws {
        try await withLoop {
            client.state.withLock { $0.isIdle = false }
            await becomeIdle()
            await becomeIdle()
            #expect(!loop.performIfIdle(client) { _ in Issue.record("the client isn't idle") })
        }
    }

    /// The loop waits without a limit. Work that sets a deadline must wake it.
    @Test(.timeLimit(.minutes(1))) func anEarlierDeadlineWakesTheLoop() async throws {
        try await withLoop {
            await withCheckedContinuation { continuation in
                Task {
                    await perform { state in
                        state.nextDeadline = MonotonicClock.now + 1_000_000
                        state.turns.append(continuation)
                    }
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(1))) func workThatIsLeftWakesTheLoop() async throws {
        try await withLoop {
            await withCheckedContinuation { continuation in
                Task {
                    await perform { state in
                        state.mustFinishTurn = true
                        state.turns.append(continuation)
                    }
                }
            }
        }
    }
}
