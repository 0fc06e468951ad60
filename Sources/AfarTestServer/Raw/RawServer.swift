public import Foundation

/// A TCP server on a free port of 127.0.0.1 that plays a script of bytes to each connection.
///
/// It does for tests what no well-behaved server does: malformed heads, bodies that stop halfway, resets, silence. Its
/// events can be awaited, so that a test needs no sleeps:
///
/// ```swift
/// let server = try await RawServer.start([.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")])
/// // … begin a request to server.url, then cancel it …
/// try await server.peerClosed(0)
/// ```
///
/// A script that has ended leaves the connection open and reads what comes, until the peer closes or the server stops;
/// end it with ``Step/close`` to have it closed. Connections are numbered from 0 in the order in which they were accepted.
public final class RawServer: Sendable {
    /// Thrown to those who await an event when the server stops before it.
    public struct Stopped: Error {}

    /// The port on 127.0.0.1.
    public var port: UInt16 { listener.port }
    /// `http://127.0.0.1:` and the port, with the path `/`.
    public var url: URL { .loopback(port: port, path: "/") }

    private let listener: Listener
    private let log: RawLog

    /// Starts a server that plays the same script to each connection; it accepts connections when this returns.
    ///
    /// - Throws: ``SocketFailure`` when the system gives no port.
    public static func start(_ script: [Step]) async throws -> RawServer {
        try await start(scripts: [script])
    }

    /// Starts a server with a script for each connection; the last one is played to all further connections too.
    ///
    /// - Throws: ``SocketFailure`` when the system gives no port.
    public static func start(scripts: [[Step]]) async throws -> RawServer {
        try RawServer(scripts: scripts)
    }

    private init(scripts: [[Step]]) throws {
        let log = RawLog()
        self.log = log
        listener = try Listener { socket, index in
            var connection = RawConnection(socket: socket, index: index, log: log)
            connection.play(scripts.isEmpty ? [] : scripts[min(index, scripts.count - 1)])
        }
        listener.start()
    }

    deinit {
        log.stop()
        listener.cancel()
    }

    /// Ends all connections and their scripts, and returns when all is over. Whoever awaits an event gets ``Stopped``.
    public func stop() async {
        log.stop()
        await listener.stop()
    }

    // MARK: What was received

    /// How many connections have been accepted.
    public var connectionCount: Int { listener.accepted }

    /// The heads that ``Step/receiveHead`` has received on all connections, in order, each with its blank line.
    public var requests: [String] { log.read { $0.heads } }

    /// All bytes read so far from a connection; none for a connection that is not there yet.
    public func received(by connection: Int) -> Data {
        log.read { $0[connection].received }
    }

    // MARK: Awaiting

    /// Returns when a connection has been accepted.
    ///
    /// - Throws: ``Stopped``, or `CancellationError` when the task is cancelled.
    public func connection(_ index: Int) async throws {
        try await log.wait { $0.connections.indices.contains(index) }
    }

    /// Waits for a request head that ``Step/receiveHead`` receives and returns it.
    ///
    /// - Parameters:
    ///   - index: The number of the head on its connection, from 0.
    ///   - connection: The number of the connection.
    /// - Throws: ``Stopped``, or `CancellationError` when the task is cancelled.
    @discardableResult
    public func head(_ index: Int = 0, connection: Int = 0) async throws -> String {
        try await log.wait { $0[connection].heads.indices.contains(index) }
        return log.read { $0[connection].heads[index] }
    }

    /// Returns when a connection's script has come to a ``Step/mark(_:)``.
    ///
    /// - Parameters:
    ///   - mark: The mark's name.
    ///   - connection: The number of the connection.
    /// - Throws: ``Stopped``, or `CancellationError` when the task is cancelled.
    public func reached(_ mark: String, connection: Int = 0) async throws {
        try await log.wait { $0[connection].marks.contains(mark) }
    }

    /// Returns when the peer has closed a connection, in an orderly way or by a reset.
    ///
    /// It is seen while the script reads, waits or has ended, and not any more after ``Step/close`` or ``Step/reset``.
    ///
    /// - Throws: ``Stopped``, or `CancellationError` when the task is cancelled.
    public func peerClosed(_ connection: Int) async throws {
        try await log.wait { $0[connection].isPeerClosed }
    }
}

// MARK: - Scripts

extension RawServer {
    /// One step of a script.
    public struct Step: Sendable {
        indirect enum Action: Sendable {
            case send([UInt8], every: Double, times: Int)
            case receiveHead
            case receive(Int)
            case receiveAll
            case wait(Double?)
            case hold(Gate)
            case mark(String)
            case halfClose
            case close
            case reset
            case group([Step])
            case loop([Step])
        }

        let action: Action

        /// Sends text as UTF-8.
        public static func send(_ text: String) -> Step { send(Array(text.utf8)) }

        /// Sends bytes.
        public static func send(_ bytes: [UInt8]) -> Step { Step(action: .send(bytes, every: 0, times: 1)) }

        /// Sends bytes.
        public static func send(_ data: Data) -> Step { send(Array(data)) }

        /// Sends the same text a number of times, after a pause in seconds each.
        public static func `repeat`(_ text: String, every seconds: Double, times: Int) -> Step {
            `repeat`(Array(text.utf8), every: seconds, times: times)
        }

        /// Sends the same bytes a number of times, after a pause in seconds each.
        public static func `repeat`(_ bytes: [UInt8], every seconds: Double, times: Int) -> Step {
            Step(action: .send(bytes, every: seconds, times: times))
        }

        /// Waits for a whole request head, up to and including the blank line, and keeps it. What follows it is left to
        /// later steps.
        public static var receiveHead: Step { Step(action: .receiveHead) }

        /// Reads exactly this many bytes.
        public static func receive(_ count: Int) -> Step { Step(action: .receive(count)) }

        /// Reads until the peer has said that nothing more follows; the script goes on then.
        public static var receiveAll: Step { Step(action: .receiveAll) }

        /// Does nothing, and reads nothing, for some seconds.
        public static func wait(_ seconds: Double) -> Step { Step(action: .wait(seconds)) }

        /// Does nothing, and reads nothing, until the peer closes or the server stops.
        public static var waitForever: Step { Step(action: .wait(nil)) }

        /// Does nothing, and reads nothing, until the gate is open.
        public static func hold(_ gate: Gate) -> Step { Step(action: .hold(gate)) }

        /// Notes that the script has come this far, so that all bytes of the steps before are on their way to the peer;
        /// ``RawServer/reached(_:connection:)`` awaits it.
        public static func mark(_ name: String) -> Step { Step(action: .mark(name)) }

        /// Says to the peer that no more bytes follow, and goes on reading.
        public static var halfClose: Step { Step(action: .halfClose) }

        /// Closes the connection and ends the script. The system makes a reset of it when there are unread bytes.
        public static var close: Step { Step(action: .close) }

        /// Closes the connection with a reset and ends the script.
        public static var reset: Step { Step(action: .reset) }

        /// Receives a request head and sends an answer; a request's body is left to later steps.
        public static func respond(_ text: String) -> Step { Step(action: .group([.receiveHead, .send(text)])) }

        /// Plays steps over and over until one of them ends the connection or the peer closes it.
        public static func loop(_ steps: [Step]) -> Step { Step(action: .loop(steps)) }
    }
}

// MARK: - Gates

extension RawServer {
    /// Holds scripts until a test opens it. Once open it stays open.
    public final class Gate: Sendable {
        private let state = Locked(State())

        private struct State {
            var isOpen = false
            var waiting: [@Sendable () -> Void] = []
        }

        /// Makes a closed gate.
        public init() {}

        /// Lets all scripts through that wait at the gate, and those that come to it later.
        public func open() {
            let waiting = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            waiting.forEach { $0() }
        }

        /// Runs `body` when the gate opens, at once if it is open.
        func whenOpen(_ body: @escaping @Sendable () -> Void) {
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(body) }
                return state.isOpen
            }
            if isOpen { body() }
        }
    }
}
