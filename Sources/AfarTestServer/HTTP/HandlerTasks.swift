import Foundation

/// Runs handlers for the connections' threads, and cancels those that are tasks when the server stops.
final class HandlerTasks: Sendable {
    private let state = Locked(State())

    private struct State {
        var isCancelled = false
        var next = 0
        var running: [Int: Task<Void, Never>] = [:]
    }

    /// Blocks until the handler has answered.
    func run(_ handler: Route.Handler, _ request: ServerRequest) -> ServerResponse {
        switch handler {
        case .immediate(let answer):
            return Self.response { try answer(request) }
        case .task(let answer):
            let result = Locked<ServerResponse?>(nil)
            let done = DispatchSemaphore(value: 0)
            let id = start {
                let response = await Self.response { try await answer(request) }
                result.withLock { $0 = response }
                done.signal()
            }
            done.wait()
            _ = state.withLock { $0.running.removeValue(forKey: id) }
            return result.withLock { $0 } ?? .text("no answer\n", status: 500)
        }
    }

    /// Cancels what runs and what is started later.
    func cancel() {
        let tasks = state.withLock { state in
            state.isCancelled = true
            return Array(state.running.values)
        }
        tasks.forEach { $0.cancel() }
    }

    private func start(_ body: @escaping @Sendable () async -> Void) -> Int {
        state.withLock { state in
            let task = Task { await body() }
            if state.isCancelled { task.cancel() }
            state.next += 1
            state.running[state.next] = task
            return state.next
        }
    }

    private static func response(_ answer: () throws -> ServerResponse) -> ServerResponse {
        do { return try answer() } catch { return failure(error) }
    }

    private static func response(_ answer: () async throws -> ServerResponse) async -> ServerResponse {
        do { return try await answer() } catch { return failure(error) }
    }

    private static func failure(_ error: any Error) -> ServerResponse {
        (error as? BadArgument).map { .text("\($0.reason)\n", status: 400) } ?? .text("\(error)\n", status: 500)
    }
}
