import Afar
import AfarTransport
import Foundation
import HTTPTypes
import TestServers
import Testing

/// A server for tests of HTTP/2.
enum HTTP2Peer: String, CaseIterable {
    case apache
    case go
    /// A server that violates RFC 9113.
    case hostile

    /// The content of the file `large`.
    static let large = Data.varied(count: 8_000_000)
    private static let files = ["small": Data("small".utf8), "large": large]

    /// The running servers, which the tests of a suite share.
    @TaskLocal static var running: [HTTP2Peer: ServerChild] = [:]

    fileprivate func start() async throws -> ServerChild {
        let certificates = try TestCertificates.shared.get()
        switch self {
        case .apache: return try await Self.apache()
        case .go: return try await .go(certificates, files: Self.files)
        case .hostile: return try await .hostileHTTP2(certificates)
        }
    }

    /// Starts Apache. It stores uploads in the folder `/uploads`.
    ///
    /// - Parameter directives: Additional directives.
    static func apache(_ directives: String = "") async throws -> ServerChild {
        let server = try await ServerChild.apache(
            try TestCertificates.shared.get(), modules: ["http2", "dav", "dav_fs"],
            """
            Protocols h2 http/1.1
            DavLockDB uploads/locks
            <Location /uploads>
              Dav On
            </Location>
            \(directives)
            """)
        for (name, data) in files { try data.write(to: server.folder.appending(path: name)) }
        // If the test runs as root, Apache uses another account.
        try FileManager.default.createDirectory(
            at: server.folder.appending(path: "uploads"), withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o777])
        return server
    }
}

/// Starts servers before the first test of a suite, and stops them after the last one.
struct RunningPeers: SuiteTrait, TestScoping {
    let peers: [HTTP2Peer]

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        var servers: [HTTP2Peer: ServerChild] = [:]
        for peer in peers { servers[peer] = try await peer.start() }
        try await HTTP2Peer.$running.withValue(servers) { try await function() }
    }
}

extension Trait where Self == RunningPeers {
    static func peers(_ peers: HTTP2Peer...) -> Self { Self(peers: peers) }
}

/// A client with its own connections, which uses HTTP/2 over TLS.
struct HTTP2Client {
    let transport: HTTPTransport
    private let port: UInt16

    init(_ peer: HTTP2Peer) throws { try self.init(#require(HTTP2Peer.running[peer])) }

    init(_ server: ServerChild) throws {
        var configuration = ConnectionConfiguration()
        configuration.certificateBundle = try TestCertificates.shared.get().authority
        transport = HTTPTransport(configuration: configuration)
        port = server.port
    }

    /// Sends a request and expects that the response arrives over HTTP/2.
    func send(
        _ path: String, host: String = "localhost", body: RequestBody = .none, delivery: ResponseDelivery = .collect(),
        _ change: (inout Exchange) -> Void = { _ in }
    ) async throws -> TransportResponse {
        var options = ExchangeOptions()
        options.httpVersion = .http2
        options.idleTimeout = 30
        let request = HTTPRequest(
            method: body.isNone ? .get : .post, scheme: "https", authority: "\(host):\(port)", path: path)
        var exchange = Exchange(request: request, body: body, delivery: delivery, options: options)
        change(&exchange)
        let response = try await transport.send(exchange)
        #expect(response.head.httpVersion == "HTTP/2")
        return response
    }

    /// Sends a request and returns the body of the response.
    ///
    /// - Parameter isStreamed: Whether the body is delivered as a stream.
    func body(
        _ path: String, sending body: RequestBody = .none, isStreamed: Bool = false,
        _ change: (inout Exchange) -> Void = { _ in }
    ) async throws -> Data {
        let response = try await send(path, body: body, delivery: isStreamed ? .stream() : .collect(), change)
        return try await response.wholeBody()
    }

    /// Returns the local port of the connection that carries a request.
    func connection(for path: String, host: String = "localhost") async throws -> Int {
        try #require(try await send(path, host: host).report.localPort)
    }
}

extension TransportReport {
    /// The local port of the connection.
    var localPort: Int? { transactions.last?.localPort }
}

extension TransportResponse {
    /// The complete report.
    var wholeReport: TransportReport {
        get async {
            guard case .stream(let stream) = body else { return report }
            return await stream.report()
        }
    }

    /// Returns the complete body.
    func wholeBody() async throws -> Data {
        switch body {
        case .data(let data): return data
        case .stream(let stream):
            var data = Data()
            for try await chunk in stream { data += chunk }
            return data
        case .file, .connection: throw CocoaError(.featureUnsupported)
        }
    }
}

extension Data {
    /// Creates data whose parts differ from each other.
    static func varied(count: Int) -> Data {
        // The block's length is a prime number, so it doesn't divide the size of any buffer.
        let block = Data((0..<65_521).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })
        var data = Data(capacity: count + block.count)
        while data.count < count { data += block }
        return data.prefix(count)
    }
}
