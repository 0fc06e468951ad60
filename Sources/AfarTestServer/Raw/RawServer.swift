public import Foundation

/// A TCP server on a free port of 127.0.0.1 that runs a script of bytes on each connection.
///
/// It tests clients with behavior that no correct server has, such as malformed heads, bodies that stop halfway, resets, and
/// silence. Tests can await its events, so they don't need to sleep:
///
/// ```swift
/// let server = try await RawServer.start([.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")])
/// // … begin a request to server.url, then cancel it …
/// try await server.peerClosed(0)
/// ```
///
/// After its script, a connection stays open until the peer closes it or the server stops. The server continues to read from
/// the connection. To close the connection, end the script with ``Step/close``. Connections are numbered from 0 in the order in
/// which they were accepted.
public final class RawServer: Sendable {
    /// An error that a call throws if the server stops while the call waits for an event.
    public struct Stopped: Error {}

    /// The port on 127.0.0.1.
    public var port: UInt16 { listener.port }
    /// The URL `http://127.0.0.1:` with the port and the path `/`.
    public var url: URL { .loopback(port: port, path: "/") }

    private let listener: Listener
    private let log: RawLog

    /// Starts a server that runs the same script on each connection. By the time this method returns, the server accepts
    /// connections.
    ///
    /// - Throws: ``SocketFailure`` if no port is available.
    public static func start(_ script: [Step]) async throws -> RawServer {
        try await start(scripts: [script])
    }

    /// Starts a server with a script for each connection. Any further connections run the last script.
    ///
    /// - Throws: ``SocketFailure`` if no port is available.
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

    /// Ends all connections and their scripts, and returns when they have ended. Calls that wait for events throw ``Stopped``.
    public func stop() async {
        log.stop()
        await listener.stop()
    }

    // MARK: Received bytes

    /// The number of accepted connections.
    public var connectionCount: Int { listener.accepted }

    /// The heads that ``Step/receiveHead`` has received on all connections, in order. Each includes its blank line.
    public var requests: [String] { log.read { $0.heads } }

    /// Returns all bytes that have been read from a connection so far. If the connection doesn't exist yet, returns empty data.
    public func received(by connection: Int) -> Data {
        log.read { $0[connection].received }
    }

    // MARK: Awaiting

    /// Waits until a connection has been accepted.
    ///
    /// - Throws: ``Stopped``, or `CancellationError` if the task is canceled.
    public func connection(_ index: Int) async throws {
        try await log.wait { $0.connections.indices.contains(index) }
    }

    /// Waits until ``Step/receiveHead`` has received a request head, and returns the head.
    ///
    /// - Parameters:
    ///   - index: The number of the head on its connection, from 0.
    ///   - connection: The number of the connection.
    /// - Throws: ``Stopped``, or `CancellationError` if the task is canceled.
    @discardableResult
    public func head(_ index: Int = 0, connection: Int = 0) async throws -> String {
        try await log.wait { $0[connection].heads.indices.contains(index) }
        return log.read { $0[connection].heads[index] }
    }

    /// Waits until a connection's script has reached a ``Step/mark(_:)``.
    ///
    /// - Parameters:
    ///   - mark: The mark's name.
    ///   - connection: The number of the connection.
    /// - Throws: ``Stopped``, or `CancellationError` if the task is canceled.
    public func reached(_ mark: String, connection: Int = 0) async throws {
        try await log.wait { $0[connection].marks.contains(mark) }
    }

    /// Waits until the peer has closed or reset a connection.
    ///
    /// The close is detected while the script reads or waits, and after the script has ended. It isn't detected after
    /// ``Step/close`` or ``Step/reset``.
    ///
    /// - Throws: ``Stopped``, or `CancellationError` if the task is canceled.
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

        /// Sends the same text a number of times, with a pause before each.
        public static func `repeat`(_ text: String, every seconds: Double, times: Int) -> Step {
            `repeat`(Array(text.utf8), every: seconds, times: times)
        }

        /// Sends the same bytes a number of times, with a pause before each.
        public static func `repeat`(_ bytes: [UInt8], every seconds: Double, times: Int) -> Step {
            Step(action: .send(bytes, every: seconds, times: times))
        }

        /// Receives a request's head, up to and including the blank line, and records it. The bytes that follow are left for later steps.
        public static var receiveHead: Step { Step(action: .receiveHead) }

        /// Reads an exact number of bytes.
        public static func receive(_ count: Int) -> Step { Step(action: .receive(count)) }

        /// Reads until the peer has finished sending.
        public static var receiveAll: Step { Step(action: .receiveAll) }

        /// Waits for a number of seconds, without reading.
        public static func wait(_ seconds: Double) -> Step { Step(action: .wait(seconds)) }

        /// Waits until the peer closes or the server stops, without reading.
        public static var waitForever: Step { Step(action: .wait(nil)) }

        /// Waits until a gate is open, without reading.
        public static func hold(_ gate: Gate) -> Step { Step(action: .hold(gate)) }

        /// Records that the script has reached this step. By then, the system has accepted the bytes of all earlier steps.
        /// ``RawServer/reached(_:connection:)`` waits for this record.
        public static func mark(_ name: String) -> Step { Step(action: .mark(name)) }

        /// Finishes sending, and continues to read.
        public static var halfClose: Step { Step(action: .halfClose) }

        /// Closes the connection and ends the script. If there are unread bytes, the system resets the connection.
        public static var close: Step { Step(action: .close) }

        /// Closes the connection with a reset and ends the script.
        public static var reset: Step { Step(action: .reset) }

        /// Receives a request's head and sends a response. The request's body is left for later steps.
        public static func respond(_ text: String) -> Step { Step(action: .group([.receiveHead, .send(text)])) }

        /// Repeats steps until a step ends the connection or the peer closes it.
        public static func loop(_ steps: [Step]) -> Step { Step(action: .loop(steps)) }
    }
}

// MARK: - Gates

extension RawServer {
    /// A gate that holds scripts until a test opens it. An open gate stays open.
    public final class Gate: Sendable {
        private let state = Locked(State())

        private struct State {
            var isOpen = false
            var waiting: [@Sendable () -> Void] = []
        }

        /// Creates a closed gate.
        public init() {}

        /// Opens the gate for current and later scripts.
        public func open() {
            let waiting = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            waiting.forEach { $0() }
        }

        /// Runs a closure when the gate opens, or immediately if it is already open.
        func whenOpen(_ body: @escaping @Sendable () -> Void) {
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(body) }
                return state.isOpen
            }
            if isOpen { body() }
        }
    }
}
