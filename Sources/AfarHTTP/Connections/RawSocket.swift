import AfarTransport
import Foundation

/// A connection that was handed over by its engine and is used by tasks. Its loop only reports what becomes possible on its socket.
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

    /// Call it on the thread of the engine's loop.
    ///
    /// - Throws: A fault if the socket can't be watched. It is closed then.
    init(_ socket: SocketStream, _ stream: any ByteStream, engine: HTTPEngine) throws(Fault) {
        (descriptor, self.engine) = (socket.descriptor, engine)
        // Safe because from now on the streams are used under the lock only.
        nonisolated(unsafe) let state = State(socket: socket, stream: stream)
        self.state = Locked(state)
        guard engine.loop.add(self) else {
            Foundation.close(descriptor)
            throw Fault(.outOfResources, "the connection could not be watched", systemError: errno)
        }
    }

    // MARK: The loop's thread

    func update(_ event: Poller.Event) {
        let waiters = state.withLock { state in
            state.socket.update(event)
            return Swift.exchange(&state.waiters, with: [])
        }
        for waiter in waiters { waiter.fulfill(()) }
    }

    func takeTurn() {}

    /// Closes the descriptor. No event arrives for it any longer.
    func closeDescriptor() {
        engine.loop.remove(self)
        Foundation.close(descriptor)
    }

    // MARK: Any thread

    /// Calls a closure with the stream; nil if the connection is closed. Nothing else uses the stream at the same time.
    ///
    /// - Parameter expectingBytes: Whether reading asks the operating system, even if the loop has reported nothing.
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

    /// Waits until something has happened on the socket, the time is up, the connection is closed or the task is canceled.
    ///
    /// - Parameter isPossible: Called under the lock: whether something has become possible meanwhile, so that there is nothing to wait
    ///   for.
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

    /// Tells the peer that nothing more is sent.
    func finishWriting() { state.withLock { if !$0.isClosed { shutdown(descriptor, Int32(SHUT_WR)) } } }

    /// Ends both directions. It can be called more than once.
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
