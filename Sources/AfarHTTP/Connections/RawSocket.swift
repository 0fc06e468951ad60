import AfarTransport
import Foundation

/// The bytes of a ``RawConnection``, which tasks read and write under a lock.
protocol RawStream: AnyObject, Sendable {
    var state: Locked<RawStreamState> { get }

    /// Signals to the peer that no more bytes follow.
    func finishWriting()
    /// Called under the lock. Makes the next read try to receive bytes, even if none were reported.
    func expectBytes()
    /// Called once, under the lock, when the stream is closed.
    func willClose()
    /// Called once, after the stream has been closed.
    func didClose()
}

struct RawStreamState {
    /// The stream of bytes, or TLS over it.
    fileprivate(set) var stream: any ByteStream
    fileprivate(set) var isClosed = false
    /// The tasks that wait for a change.
    fileprivate var waiters: [Deferred<Void>] = []

    init(_ stream: any ByteStream) { self.stream = stream }
}

extension RawStream {
    /// Calls a closure with exclusive access to the stream. Returns nil if the stream is closed.
    func withStream<Value: Sendable>(_ body: (any ByteStream) throws -> Value) rethrows -> Value? {
        try state.withLock { try $0.isClosed ? nil : body($0.stream) }
    }

    /// Replaces the stream with TLS over it.
    func add(_ makeTLS: (any ByteStream) throws -> TLSStream) rethrows {
        try state.withLock { $0.stream = try makeTLS($0.stream) }
    }

    /// Changes the stream, and wakes the tasks that wait for a change.
    @discardableResult
    func update<Value: Sendable>(_ change: () -> Value) -> Value {
        let (value, waiters) = state.withLock { (change(), Swift.exchange(&$0.waiters, with: [])) }
        for waiter in waiters { waiter.fulfill(()) }
        return value
    }

    /// Waits for a change, the deadline, the end of the stream or the task's cancellation.
    ///
    /// - Parameter isPossible: Called under the lock. Returns whether the operation is already possible. If so, the method doesn't wait.
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

    /// Ends both directions. Can be called repeatedly.
    ///
    /// - Parameter last: Called under the lock before the stream is closed.
    func close(_ last: (any ByteStream) -> Void) {
        let waiters = state.withLock { state -> [Deferred<Void>]? in
            guard !state.isClosed else { return nil }
            last(state.stream)
            state.isClosed = true
            willClose()
            return Swift.exchange(&state.waiters, with: [])
        }
        guard let waiters else { return }
        for waiter in waiters { waiter.fulfill(()) }
        didClose()
    }
}

/// A connection that its engine has handed over to tasks. The loop only reports the events of its socket.
final class RawSocket: LoopSocket, RawStream {
    let descriptor: Int32
    let state: Locked<RawStreamState>
    /// Used only under the lock.
    private nonisolated(unsafe) let socket: SocketStream
    private let engine: HTTPEngine

    /// Call this initializer on the thread of the engine's loop.
    ///
    /// - Throws: A fault if the socket can't be watched. The socket is then closed.
    init(_ socket: SocketStream, _ stream: any ByteStream, engine: HTTPEngine) throws(Fault) {
        (descriptor, self.socket, self.engine) = (socket.descriptor, socket, engine)
        // This is safe because the streams are used only under the lock from now on.
        nonisolated(unsafe) let state = RawStreamState(stream)
        self.state = Locked(state)
        guard engine.loop.add(self) else {
            Foundation.close(descriptor)
            throw Fault(.outOfResources, "the connection could not be watched", systemError: errno)
        }
    }

    // MARK: The loop's thread

    func update(_ event: SocketEvent) { update { socket.update(event) } }

    func takeTurn() {}

    /// Closes the descriptor, which gets no further events.
    func closeDescriptor() {
        engine.loop.remove(self)
        Foundation.close(descriptor)
    }

    // MARK: Any thread

    func finishWriting() { _ = withStream { _ in shutdown(descriptor, Int32(SHUT_WR)) } }

    func expectBytes() { socket.expectBytes() }

    func willClose() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    func didClose() { engine.loop.post(.closeRaw(self)) }
}
