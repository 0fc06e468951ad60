import AfarTransport
import Foundation

/// A connection that its engine has handed over to tasks. The loop only reports the events of its socket.
final class RawSocket: LoopSocket, Sendable {
    struct State {
        let socket: SocketStream
        /// The socket, or TLS over it.
        fileprivate(set) var stream: any ByteStream
        fileprivate var isClosed = false
        /// The tasks that wait for an event.
        fileprivate var waiters: [Deferred<Void>] = []
    }

    let descriptor: Int32
    private let engine: HTTPEngine
    private let state: Locked<State>

    /// Call this initializer on the thread of the engine's loop.
    ///
    /// - Throws: A fault if the socket can't be watched. The socket is then closed.
    init(_ socket: SocketStream, _ stream: any ByteStream, engine: HTTPEngine) throws(Fault) {
        (descriptor, self.engine) = (socket.descriptor, engine)
        // This is safe because the streams are used only under the lock from now on.
        nonisolated(unsafe) let state = State(socket: socket, stream: stream)
        self.state = Locked(state)
        guard engine.loop.add(self) else {
            Foundation.close(descriptor)
            throw Fault(.outOfResources, "the connection could not be watched", systemError: errno)
        }
    }

    // MARK: The loop's thread

    func update(_ event: SocketEvent) {
        let waiters = state.withLock { state in
            state.socket.update(event)
            return Swift.exchange(&state.waiters, with: [])
        }
        for waiter in waiters { waiter.fulfill(()) }
    }

    func takeTurn() {}

    /// Closes the descriptor, which gets no further events.
    func closeDescriptor() {
        engine.loop.remove(self)
        Foundation.close(descriptor)
    }

    // MARK: Any thread

    /// Calls a closure with the stream, exclusively. Returns nil if the connection is closed.
    ///
    /// - Parameter expectingBytes: Whether a read tries the socket even if the loop hasn't reported an event.
    func withStream<Value: Sendable>(
        expectingBytes: Bool = false, _ body: (any ByteStream) throws -> Value
    ) rethrows -> Value? {
        try state.withLock { state in
            guard !state.isClosed else { return nil }
            if expectingBytes { state.socket.expectBytes() }
            return try body(state.stream)
        }
    }

    /// Replaces the stream with TLS over it.
    func add(_ makeTLS: (any ByteStream) throws -> TLSStream) rethrows {
        try state.withLock { $0.stream = try makeTLS($0.stream) }
    }

    /// Waits for an event on the socket, the deadline, the end of the connection or the task's cancellation.
    ///
    /// - Parameter isPossible: Called under the lock. Returns true if an operation has become possible in the meantime. The
    ///   method then doesn't wait.
    func wait(until deadline: ContinuousClock.Instant?, unless isPossible: (any ByteStream) -> Bool) async {
        let waiter = Deferred<Void>()
        let mustWait = state.withLock { state in
            guard !state.isClosed, !isPossible(state.stream) else { return false }
            state.waiters.append(waiter)
            return true
        }
        guard mustWait else { return }
        let timer = deadline.map { waiter.fulfill((), after: ContinuousClock.now.duration(to: $0)) }
        await withTaskCancellationHandler {
            await waiter.value
        } onCancel: {
            waiter.fulfill(())
        }
        timer?.cancel()
        if deadline != nil || Task.isCancelled { state.withLock { $0.waiters.removeAll { $0 === waiter } } }
    }

    /// Finishes sending.
    func finishWriting() { state.withLock { if !$0.isClosed { shutdown(descriptor, Int32(SHUT_WR)) } } }

    /// Ends both directions. Can be called repeatedly.
    ///
    /// - Parameter last: Called under the lock before the connection is closed.
    func close(_ last: (any ByteStream) -> Void) {
        let waiters = state.withLock { state -> [Deferred<Void>]? in
            guard !state.isClosed else { return nil }
            last(state.stream)
            state.isClosed = true
            shutdown(descriptor, Int32(SHUT_RDWR))
            return Swift.exchange(&state.waiters, with: [])
        }
        guard let waiters else { return }
        for waiter in waiters { waiter.fulfill(()) }
        engine.loop.post(.closeRaw(self))
    }
}
