import Foundation

/// Accepts connections on a free loopback port, and serves each on its own thread.
///
/// Because each connection has a thread, scripts and bodies can be sequential code that blocks.
final class Listener: Sendable {
    /// Serves one connection. The listener closes the socket afterward. Connections are numbered from 0.
    typealias Serve = @Sendable (_ socket: Socket, _ index: Int) -> Void

    let port: UInt16
    private let socket: Socket
    private let wakeup: Wakeup
    private let serve: Serve
    private let state = Locked(State())

    private struct State {
        var accepted = 0
        var open: [Int: Socket] = [:]
        var threads = 0
        var isStopping = false
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
    }

    /// - Parameter port: The port, or 0 for any free one.
    init(port: UInt16 = 0, serve: @escaping Serve) throws {
        socket = try Socket()
        wakeup = try Wakeup()
        self.serve = serve
        self.port = try socket.bindToLoopback(port: port)
        socket.disableBlocking()
        try socket.listen(backlog: 1024)
    }

    /// The number of accepted connections.
    var accepted: Int { state.withLock { $0.accepted } }

    func start() {
        startThread { [self] in acceptUntilStopped() }
    }

    /// Ends all connections without waiting for their threads.
    func cancel() {
        let open = state.withLock { state in
            state.isStopping = true
            return Array(state.open.values)
        }
        wakeup.wake()
        open.forEach { $0.shutdown() }
    }

    /// Ends all connections, and returns when their threads have finished.
    func stop() async {
        cancel()
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.threads > 0 { state.stopWaiters.append(continuation) }
                return state.threads == 0
            }
            if isIdle { continuation.resume() }
        }
    }

    private func acceptUntilStopped() {
        while !state.withLock({ $0.isStopping }) {
            var entries = [
                pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wakeup.readEnd, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&entries, nfds_t(entries.count), -1)
            let descriptor = SocketPlatform.acceptConnection(socket.descriptor)
            if descriptor >= 0 {
                begin(Socket(descriptor: descriptor))
            } else if errno == EMFILE || errno == ENFILE {
                // The connection stays queued. Without this pause, the loop would spin.
                usleep(10_000)
            }
        }
        socket.close()
    }

    private func begin(_ connection: Socket) {
        connection.disableDelay()
        let index: Int? = state.withLock { state in
            guard !state.isStopping else { return nil }
            defer { state.accepted += 1 }
            state.open[state.accepted] = connection
            return state.accepted
        }
        guard let index else { return }
        startThread { [self] in
            serve(connection, index)
            connection.close()
            _ = state.withLock { $0.open.removeValue(forKey: index) }
        }
    }

    private func startThread(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.threads += 1 }
        let thread = Thread { [self] in
            body()
            threadFinished()
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    private func threadFinished() {
        let waiters = state.withLock { state in
            state.threads -= 1
            guard state.threads == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.stopWaiters = [] }
            return state.stopWaiters
        }
        waiters.forEach { $0.resume() }
    }
}

/// A pipe that wakes a thread in `poll`.
final class Wakeup: Sendable {
    /// Readable after the first `wake`.
    let readEnd: Int32
    private let writeEnd: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard SocketPlatform.openPipe(&ends) == 0 else { throw SocketFailure("pipe") }
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    func wake() {
        _ = write(writeEnd, [1], 1)
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }
}

/// A value that is accessed only while its lock is held.
// Sendable because all access happens under the lock.
final class Locked<State>: @unchecked Sendable {
    private let lock = NSLock()
    private var state: State

    init(_ state: State) {
        self.state = state
    }

    func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }
}
