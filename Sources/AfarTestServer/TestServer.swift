public import Foundation

/// An HTTP/1.1 server in this process, on a free port of 127.0.0.1, to test HTTP clients.
///
/// Its endpoints (``endpoints``) echo, redirect, delay, stream, compress and fail on purpose. ``route(_:methods:_:)`` adds your
/// own routes. The server supports keep-alive, pipelining, chunked bodies and `Expect: 100-continue`. For the behavior of
/// broken servers, use ``RawServer``.
///
/// ```swift
/// let server = try await TestServer.start()
/// let (data, _) = try await URLSession.shared.data(from: server.url("/get?x=1"))
/// await server.stop()
/// ```
public final class TestServer: Sendable {
    /// The URL `http://127.0.0.1:` with the port.
    public let url: URL

    private let listener: Listener
    private let core: Core

    /// The server's state. It exists until the last connection has ended, even if the server object no longer exists.
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

    /// Starts a server. By the time this method returns, the server accepts connections.
    ///
    /// - Parameter port: The port on 127.0.0.1. The default is 0: any free port.
    /// - Throws: ``SocketFailure`` if the port is not available.
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

    /// Returns the server's URL with a path, which can include a query. Both must be percent-encoded.
    public func url(_ path: String) -> URL {
        .loopback(port: listener.port, path: path.hasPrefix("/") ? path : "/" + path)
    }

    /// Stops the server. This method ends all connections, even during a response, cancels the handlers' tasks, and waits until
    /// all connections have ended. It then releases the routes, so a handler can retain its server without a permanent retain
    /// cycle.
    public func stop() async {
        core.tasks.cancel()
        await listener.stop()
        let router = core.router.withLock { router in
            defer { router = Router() }
            return router
        }
        _ = consume router
    }

    /// Adds a route, which takes precedence over the built-in endpoints and over earlier routes.
    ///
    /// - Parameters:
    ///   - pattern: A path such as `/users/{id}/posts`. `{id}` matches any single segment, whose decoded value is in
    ///     ``ServerRequest/parameters``. A final `*` matches the rest of the path.
    ///   - methods: The methods that the route answers; `nil` for all. GET includes HEAD.
    ///   - handler: Creates the response. If the handler throws an error, the response has status 500 and the error's text. The
    ///     handler's task is canceled when the server stops, but not when the client closes the connection.
    public func route(
        _ pattern: String,
        methods: Set<String>? = nil,
        _ handler: @escaping @Sendable (ServerRequest) async throws -> ServerResponse
    ) {
        core.router.withLock { $0.add(Route(pattern, methods: methods, handler: .task(handler))) }
    }

    // MARK: Received requests

    /// The number of accepted TCP connections.
    public var connectionCount: Int { listener.accepted }

    /// The number of requests that were received completely, for all paths.
    public var requestCount: Int { core.record.withLock { $0.counts.values.reduce(0, +) } }

    /// Returns the number of completely received requests for a path. The path is compared as sent, without its query.
    public func requestCount(path: String) -> Int { core.record.withLock { $0.counts[path] ?? 0 } }

    /// Returns the last completely received request for a path, or `nil`.
    public func lastRequest(path: String) -> ServerRequest? { core.record.withLock { $0.last[path] } }

    private struct Record {
        var counts: [String: Int] = [:]
        var last: [String: ServerRequest] = [:]
    }
}

// MARK: - Routes

/// Finds the route that handles a request.
struct Router: Sendable {
    enum Outcome: Sendable {
        case found(Route.Handler, parameters: [String: String])
        case refused(ServerResponse)
    }

    /// The routes, grouped by their first segment, so a request is compared with few routes.
    private var routes: [String: [Route]] = [:]

    /// Adds a route that takes precedence over earlier ones.
    mutating func add(_ route: Route) {
        let key = route.pattern.split(separator: "/").first.map(String.init) ?? ""
        routes[Self.isLiteral(key) ? key : "*", default: []].insert(route, at: 0)
    }

    func route(_ request: ServerRequest) -> Outcome {
        let path = request.path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        var allowed: Set<String> = []
        for route in (routes[path.first ?? ""] ?? []) + (routes["*"] ?? []) {
            guard let parameters = route.match(path) else { continue }
            if route.allows(request.method) { return .found(route.handler, parameters: parameters) }
            allowed.formUnion(route.methods ?? [])
        }
        guard allowed.isEmpty else {
            return .refused(
                .text("\(request.method) is not allowed here\n", status: 405)
                    .adding("Allow", allowed.sorted().joined(separator: ", ")))
        }
        return .refused(.text("nothing at \(request.path)\n", status: 404))
    }

    private static func isLiteral(_ segment: String) -> Bool {
        segment != "*" && !segment.hasPrefix("{")
    }
}

/// A route of the server.
struct Route: Sendable {
    enum Handler: Sendable {
        /// Responds on the connection's thread.
        case immediate(@Sendable (ServerRequest) throws -> ServerResponse)
        /// Responds in a task, which is canceled when the server stops.
        case task(@Sendable (ServerRequest) async throws -> ServerResponse)
    }

    /// The path. `{name}` matches any segment, and a final `*` matches the rest of the path.
    let pattern: String
    /// The methods that are answered; `nil` for all. GET includes HEAD.
    let methods: Set<String>?
    let handler: Handler
    private let segments: [Substring]

    init(_ pattern: String, methods: Set<String>? = nil, handler: Handler) {
        self.pattern = pattern
        self.methods = methods?.contains("GET") == true ? methods?.union(["HEAD"]) : methods
        self.handler = handler
        segments = pattern.split(separator: "/")
    }

    func allows(_ method: String) -> Bool {
        methods?.contains(method) ?? true
    }

    /// Returns the values of the parameters if the path matches the pattern.
    func match(_ path: [String]) -> [String: String]? {
        let isOpen = segments.last == "*"
        guard isOpen ? path.count >= segments.count - 1 : path.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (segment, value) in zip(isOpen ? segments.dropLast() : segments[...], path) {
            if segment.hasPrefix("{") {
                parameters[String(segment.dropFirst().dropLast())] = value
            } else if segment != value {
                return nil
            }
        }
        return parameters
    }
}

// MARK: - Handlers

/// Runs handlers for the connections' threads. Tasks are canceled when the server stops.
final class HandlerTasks: Sendable {
    private let state = Locked(State())

    private struct State {
        var isCancelled = false
        var next = 0
        var running: [Int: Task<Void, Never>] = [:]
    }

    /// Blocks until the handler has responded.
    func run(_ handler: Route.Handler, _ request: ServerRequest) -> ServerResponse {
        switch handler {
        case .immediate(let answer):
            return Self.response { try answer(request) }
        case .task(let answer):
            let result = Locked<ServerResponse?>(nil)
            let done = DispatchSemaphore(value: 0)
            let id = start {
                let response = await Self.response { try await answer(request) }
                result.withLock { $0 = response }
                done.signal()
            }
            done.wait()
            _ = state.withLock { $0.running.removeValue(forKey: id) }
            return result.withLock { $0 } ?? .text("no answer\n", status: 500)
        }
    }

    /// Cancels current and future tasks.
    func cancel() {
        let tasks = state.withLock { state in
            state.isCancelled = true
            return Array(state.running.values)
        }
        tasks.forEach { $0.cancel() }
    }

    private func start(_ body: @escaping @Sendable () async -> Void) -> Int {
        state.withLock { state in
            let task = Task { await body() }
            if state.isCancelled { task.cancel() }
            state.next += 1
            state.running[state.next] = task
            return state.next
        }
    }

    private static func response(_ answer: () throws -> ServerResponse) -> ServerResponse {
        do { return try answer() } catch { return failure(error) }
    }

    private static func response(_ answer: () async throws -> ServerResponse) async -> ServerResponse {
        do { return try await answer() } catch { return failure(error) }
    }

    private static func failure(_ error: any Error) -> ServerResponse {
        (error as? BadArgument).map { .text("\($0.reason)\n", status: 400) } ?? .text("\(error)\n", status: 500)
    }
}
