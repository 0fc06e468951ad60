import Foundation

/// What a raw server has seen, and who waits to see more.
final class RawLog: Sendable {
    struct Connection: Sendable {
        var heads: [String] = []
        var received = Data()
        var marks: Set<String> = []
        var isPeerClosed = false
    }

    struct Record: Sendable {
        var connections: [Connection] = []
        /// The heads of all connections in order.
        var heads: [String] = []

        /// An empty record for a connection that is not there yet.
        subscript(connection: Int) -> Connection {
            connections.indices.contains(connection) ? connections[connection] : Connection()
        }
    }

    private struct State {
        var record = Record()
        var isStopped = false
        var nextWaiter = 0
        var waiters: [Int: Waiter] = [:]
    }

    private struct Waiter {
        let condition: @Sendable (Record) -> Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let state = Locked(State())

    func read<Value>(_ body: (Record) -> Value) -> Value {
        state.withLock { body($0.record) }
    }

    // MARK: Events

    func opened(_ index: Int) {
        update(index) { _ in }
    }

    func received(_ bytes: UnsafeRawBufferPointer, on index: Int) {
        update(index) { $0.connections[index].received.append(contentsOf: bytes) }
    }

    func received(head: String, on index: Int) {
        update(index) { record in
            record.connections[index].heads.append(head)
            record.heads.append(head)
        }
    }

    func reached(_ mark: String, on index: Int) {
        update(index) { $0.connections[index].marks.insert(mark) }
    }

    func peerClosed(_ index: Int) {
        update(index) { $0.connections[index].isPeerClosed = true }
    }

    /// Makes all who wait fail; what comes later is the server's own doing and is not recorded.
    func stop() {
        let waiters = state.withLock { state in
            state.isStopped = true
            defer { state.waiters = [:] }
            return state.waiters.values.map(\.continuation)
        }
        waiters.forEach { $0.resume(throwing: RawServer.Stopped()) }
    }

    private func update(_ index: Int, _ change: (inout Record) -> Void) {
        let ready = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
            guard !state.isStopped else { return [] }
            // The threads of two new connections may come here in either order.
            while state.record.connections.count <= index { state.record.connections.append(Connection()) }
            change(&state.record)
            let ready = state.waiters.filter { $0.value.condition(state.record) }
            ready.keys.forEach { state.waiters[$0] = nil }
            return ready.values.map(\.continuation)
        }
        ready.forEach { $0.resume() }
    }

    // MARK: Waiting

    func wait(until condition: @escaping @Sendable (Record) -> Bool) async throws {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if condition(state.record) { return .success(()) }
                    if state.isStopped { return .failure(RawServer.Stopped()) }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiters[id] = Waiter(condition: condition, continuation: continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }
}
