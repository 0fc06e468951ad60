public import Foundation

/// An HTTP/1.1 server in this process, on a free port of 127.0.0.1, for tests of HTTP clients.
///
/// Its endpoints (``endpoints``) echo, redirect, delay, stream, compress and fail on purpose; ``route(_:methods:_:)``
/// adds others. It understands keep-alive, pipelining, chunked bodies and `Expect: 100-continue`. For what no
/// well-behaved server does, there is ``RawServer``.
///
/// ```swift
/// let server = try await TestServer.start()
/// let (data, _) = try await URLSession.shared.data(from: server.url("/get?x=1"))
/// await server.stop()
/// ```
public final class TestServer: Sendable {
    /// `http://127.0.0.1:` and the port.
    public let url: URL

    private let listener: Listener
    private let core: Core

    /// What outlives the server object until its last connection has ended.
    private struct Core: Sendable {
        let router: Locked<Router>
        let record = Locked(Record())
        let tasks = HandlerTasks()

        func respond(to request: ServerRequest) -> ServerResponse {
            record.withLock {
                $0.counts[request.path, default: 0] += 1
                $0.last[request.path] = request
            }
            switch router.withLock({ $0.route(request) }) {
            case .refused(let response):
                return response
            case .found(let handler, let parameters):
                var request = request
                request.parameters = parameters
                return tasks.run(handler, request)
            }
        }
    }

    /// Starts a server; it accepts connections when this returns.
    ///
    /// - Parameter port: Its port on 127.0.0.1. The default is 0: any that is free.
    /// - Throws: ``SocketFailure`` when the system does not give the port.
    public static func start(port: UInt16 = 0) async throws -> TestServer {
        try TestServer(port: port)
    }

    private init(port: UInt16) throws {
        var router = Router()
        Endpoints.all.reversed().forEach { router.add($0.route()) }
        let core = Core(router: Locked(router))
        listener = try Listener(port: port) { socket, _ in
            var connection = HTTPConnection(socket: socket) { core.respond(to: $0) }
            connection.serve()
        }
        self.core = core
        url = .loopback(port: listener.port)
        listener.start()
    }

    deinit {
        core.tasks.cancel()
        listener.cancel()
    }

    /// The server's URL followed by a path, which may have a query, both percent-encoded.
    public func url(_ path: String) -> URL {
        .loopback(port: listener.port, path: path.hasPrefix("/") ? path : "/" + path)
    }

    /// Ends all connections, also those amid a response, cancels the handlers' tasks and returns when all is over. The routes
    /// are let go of, so handlers may hold their server until then.
    public func stop() async {
        core.tasks.cancel()
        await listener.stop()
        let router = core.router.withLock { router in
            defer { router = Router() }
            return router
        }
        _ = consume router
    }

    /// Adds a route, which takes precedence over the built-in endpoints and over routes added before.
    ///
    /// - Parameters:
    ///   - pattern: A path such as `/users/{id}/posts`: `{id}` stands for any one segment and is found, decoded, in
    ///     ``ServerRequest/parameters``; a last `*` stands for any rest.
    ///   - methods: The methods that the route answers, `nil` for all; HEAD goes with GET.
    ///   - handler: Makes the response. An error that it throws becomes status 500 with the error's text. The task that
    ///     it runs in is cancelled when the server stops, not when the client leaves.
    public func route(
        _ pattern: String,
        methods: Set<String>? = nil,
        _ handler: @escaping @Sendable (ServerRequest) async throws -> ServerResponse
    ) {
        core.router.withLock { $0.add(Route(pattern, methods: methods, handler: .task(handler))) }
    }

    // MARK: What was received

    /// How many TCP connections have been accepted.
    public var connectionCount: Int { listener.accepted }

    /// How many requests have been received whole, over all paths.
    public var requestCount: Int { core.record.withLock { $0.counts.values.reduce(0, +) } }

    /// How many requests have been received whole for a path, which is compared as sent and without its query.
    public func requestCount(path: String) -> Int { core.record.withLock { $0.counts[path] ?? 0 } }

    /// The last request received whole for a path, or `nil`.
    public func lastRequest(path: String) -> ServerRequest? { core.record.withLock { $0.last[path] } }

    private struct Record {
        var counts: [String: Int] = [:]
        var last: [String: ServerRequest] = [:]
    }
}
