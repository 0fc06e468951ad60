import AfarTestServer
import AfarTransport
import Foundation
import HTTPTypes

/// The environment of a case: a transport, and the suite's server.
struct ConformanceTrial: Sendable {
    /// The path prefix under which the test server returns the responses of ``ConformanceServer``.
    private static let root = "/suite"

    let transport: any Transport
    private let server: TestServer?
    private let rawServers = Locked<[RawServer]>([])

    init(_ subject: ConformanceSubject) async throws {
        transport = subject.makeTransport()
        guard subject.hasSockets else {
            server = nil
            return
        }
        let server = try await TestServer.start()
        server.route("\(Self.root)/*") { request in
            var fields = HTTPFields()
            for field in request.headers.fields {
                guard let name = HTTPField.Name(field.name) else { continue }
                fields.append(HTTPField(name: name, value: field.value))
            }
            return ServerResponse(
                ConformanceServer.response(
                    to: .init(
                        method: request.method, target: String(request.target.dropFirst(Self.root.count)),
                        fields: fields, body: request.body)))
        }
        self.server = server
    }

    func end() async {
        for server in rawServers.withLock({ $0 }) { await server.stop() }
        await server?.stop()
    }

    /// Creates a request to the suite's server.
    func exchange(
        _ path: String, _ method: String = "GET", fields: [(String, String)] = [], body: RequestBody = .none,
        delivery: ResponseDelivery = .collect(), _ change: (inout Exchange) -> Void = { _ in }
    ) throws -> Exchange {
        try exchange(
            authority: server.map { "127.0.0.1:\($0.url.port ?? 0)" } ?? "conformance.test",
            server == nil ? path : Self.root + path, method, fields: fields, body: body, delivery: delivery, change)
    }

    /// Creates a request to a server that runs a script.
    func exchange(
        with script: [RawServer.Step], _ method: String = "GET", fields: [(String, String)] = [],
        body: RequestBody = .none, delivery: ResponseDelivery = .collect(),
        _ change: (inout Exchange) -> Void = { _ in }
    ) async throws -> (exchange: Exchange, server: RawServer) {
        let raw = try await RawServer.start(script)
        rawServers.withLock { $0.append(raw) }
        return (
            try exchange(
                authority: "127.0.0.1:\(raw.port)", "/", method, fields: fields, body: body, delivery: delivery,
                change), raw
        )
    }

    /// Creates a request to an authority.
    func exchange(
        authority: String, scheme: String = "http", _ path: String, _ method: String = "GET",
        fields: [(String, String)] = [], body: RequestBody = .none, delivery: ResponseDelivery = .collect(),
        _ change: (inout Exchange) -> Void = { _ in }
    ) throws -> Exchange {
        guard let method = HTTPRequest.Method(rawValue: method) else { throw ConformanceFailure(description: method) }
        var request = HTTPRequest(method: method, scheme: scheme, authority: authority, path: path)
        for (name, value) in fields {
            guard let name = HTTPField.Name(name) else { throw ConformanceFailure(description: name) }
            request.headerFields.append(HTTPField(name: name, value: value))
        }
        var exchange = Exchange(request: request, body: body, delivery: delivery)
        change(&exchange)
        return exchange
    }

    /// Sends an exchange as a session does.
    func send(_ exchange: Exchange) async throws -> TransportResponse { try await transport.send(exchange) }

    /// Sends a request, and returns the lines in which the server describes it.
    func echo(_ exchange: Exchange) async throws -> [String] {
        String(decoding: try await send(exchange).data, as: UTF8.self).components(separatedBy: "\n")
    }

    /// Sends a request that must fail with one of these codes within a time limit, and returns its error.
    func failure(
        _ exchange: Exchange, _ codes: TransportError.Code..., within limit: Duration = .seconds(10)
    ) async throws -> TransportError {
        try await failure(codes, within: limit) { _ = try await send(exchange) }
    }

    /// Calls a closure that must fail with one of these codes within a time limit, and returns its error.
    func failure(
        _ codes: [TransportError.Code], within limit: Duration = .seconds(10), of work: () async throws -> Void
    ) async throws -> TransportError {
        let start = ContinuousClock.now
        do {
            try await work()
        } catch let error as TransportError {
            try expect(codes.contains(error.code), "\(codes), but it failed with \(error.code): \(error.message)")
            try expect(.now - start < limit, "a failure within \(limit), but it took \(.now - start)")
            return error
        }
        throw ConformanceFailure(description: "expected \(codes), but there was no failure")
    }
}

func expect(_ condition: Bool, _ what: @autoclosure () -> String) throws {
    guard condition else { throw ConformanceFailure(description: "expected \(what())") }
}

func expectEqual<Value: Equatable>(_ value: Value, _ wanted: Value) throws {
    try expect(value == wanted, "\(wanted), but found \(value)")
}

extension TransportResponse {
    /// The bytes of a body that is not in a file.
    var data: Data {
        get async throws {
            switch body {
            case .data(let data): return data
            case .stream(let stream):
                var data = Data()
                for try await chunk in stream { data += chunk }
                return data
            case .file: throw ConformanceFailure(description: "expected a body in memory, but it is in a file")
            case .connection: throw ConformanceFailure(description: "expected a body, but found a connection")
            }
        }
    }

    var stream: ResponseBodyStream {
        get throws {
            guard case .stream(let stream) = body else {
                throw ConformanceFailure(description: "expected a stream, but found \(body)")
            }
            return stream
        }
    }
}

extension ServerResponse {
    fileprivate init(_ response: ConformanceServer.Response) {
        var headers: ServerHeaders = [:]
        for field in response.fields { headers.append(field.name.rawName, field.value) }
        let delay = Double(response.delay.components.seconds)
        guard response.pieces > 1 else {
            self.init(status: response.status, headers: headers, body: response.body)
            self.delay = delay
            return
        }
        let (pieces, pause) = (response.pieces, Double(response.pause.components.attoseconds) / 1e18)
        let seconds = Double(response.pause.components.seconds) + pause
        let (body, size) = (response.body, max(1, response.body.count / pieces))
        self.init(status: response.status, headers: headers, length: body.count) { writer in
            var rest = body
            while !rest.isEmpty {
                try writer.wait(seconds: seconds)
                try writer.write(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
        }
    }
}
