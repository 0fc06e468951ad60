import Foundation

/// Runs a script on one connection, on the connection's own thread.
struct RawConnection {
    private enum Ending: Error {
        case closedByScript
        case byPeer
    }

    private let socket: Socket
    private let index: Int
    private let log: RawLog
    private var input: BufferedSocket
    private var hasSeenEnd = false

    init(socket: Socket, index: Int, log: RawLog) {
        self.socket = socket
        self.index = index
        self.log = log
        input = BufferedSocket(socket) { log.received($0, on: index) }
    }

    /// Runs a script, and returns when either side has ended the connection.
    mutating func play(_ script: [RawServer.Step]) {
        log.opened(index)
        do {
            try perform(script)
            try readToEnd()
            log.peerClosed(index)
        } catch Ending.closedByScript {
            // After the script has closed the connection, a close by the peer can't be detected.
        } catch {
            log.peerClosed(index)
        }
    }

    private mutating func perform(_ steps: [RawServer.Step]) throws {
        for step in steps { try perform(step.action) }
    }

    private mutating func perform(_ action: RawServer.Step.Action) throws {
        switch action {
        case .send(let bytes, let pause, let times):
            for _ in 0..<max(0, times) {
                if pause > 0 { try wait(seconds: pause) }
                try socket.write(bytes)
            }
        case .receiveHead:
            guard let head = try input.read(through: [13, 10, 13, 10], limit: .max) else { throw Ending.byPeer }
            log.received(head: String(decoding: head, as: UTF8.self), on: index)
        case .receive(let count):
            try receive(count)
        case .receiveAll:
            try readToEnd()
            hasSeenEnd = true
            log.peerClosed(index)
        case .wait(let seconds):
            try wait(seconds: seconds)
        case .hold(let gate):
            let wakeup = try Wakeup()
            gate.whenOpen { wakeup.wake() }
            try wait(seconds: nil, wakeup: wakeup)
        case .mark(let name):
            log.reached(name, on: index)
        case .halfClose:
            socket.finishWriting()
        case .close:
            socket.close()
            throw Ending.closedByScript
        case .reset:
            socket.reset()
            throw Ending.closedByScript
        case .group(let steps):
            try perform(steps)
        case .loop(let steps):
            while !steps.isEmpty { try perform(steps) }
        }
    }

    private mutating func receive(_ count: Int) throws {
        var left = count
        while left > 0 {
            let taken = try input.read(atMost: left)
            guard taken > 0 else { throw Ending.byPeer }
            left -= taken
        }
    }

    private mutating func readToEnd() throws {
        while try input.read(atMost: .max) > 0 {}
    }

    private func wait(seconds: Double?, wakeup: Wakeup? = nil) throws {
        // A peer that has finished sending may still wait for bytes.
        let result = socket.waitForPeer(seconds: seconds, wakeup: wakeup, halfClose: !hasSeenEnd)
        guard result != .peerClosed else { throw Ending.byPeer }
    }
}

// MARK: - Events

/// The events of a raw server, and the tasks that wait for them.
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

        /// Returns an empty record for a connection that doesn't exist yet.
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

    /// Makes all waiting calls fail. Later events are caused by the stop, so they aren't recorded.
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
            // The threads of two new connections can reach this point in either order.
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
