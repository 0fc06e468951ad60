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
