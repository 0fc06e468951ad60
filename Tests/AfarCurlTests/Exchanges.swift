import AfarCore
import AfarTestServer
import Foundation
import HTTPTypes
import Testing

@testable import AfarCurl

extension Exchange {
    /// Creates an exchange. The fields' names must be tokens.
    init(
        _ url: URL,
        _ method: HTTPRequest.Method = .get,
        fields: [(String, String)] = [],
        body: RequestBody = .none,
        delivery: ResponseDelivery = .collect()
    ) {
        let components = URLComponents(url: url, resolvingAgainstBaseURL: false)
        let port = url.port.map { ":\($0)" } ?? ""
        let query = components?.percentEncodedQuery.map { "?\($0)" } ?? ""
        var request = HTTPRequest(
            method: method, scheme: url.scheme, authority: (components?.encodedHost ?? "") + port,
            path: (components?.percentEncodedPath ?? "/") + query)
        if request.path?.isEmpty != false { request.path = "/" }
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { request.headerFields.append(HTTPField(name: name, value: value)) }
        }
        self.init(request: request, body: body, delivery: delivery)
    }

    /// Returns a copy with modified options.
    func with(_ change: (inout ExchangeOptions) -> Void) -> Exchange {
        var copy = self
        change(&copy.options)
        return copy
    }
}

extension TransportResponse {
    /// The bytes of a collected body.
    var data: Data {
        get throws {
            guard case .data(let data) = body else { throw WrongKind() }
            return data
        }
    }

    /// The chunks of a streamed body.
    var stream: ResponseBodyStream {
        get throws {
            guard case .stream(let stream) = body else { throw WrongKind() }
            return stream
        }
    }

    /// A collected body as text.
    var text: String { get throws { String(decoding: try data, as: UTF8.self) } }

    /// The collected body as a JSON object.
    var json: [String: Any] {
        get throws {
            guard let object = try JSONSerialization.jsonObject(with: data) as? [String: Any] else { throw WrongKind() }
            return object
        }
    }

    /// The header fields that an echoing endpoint received, in order.
    var echoedFields: [[String]] { get throws { try json["headerList"] as? [[String]] ?? [] } }

    /// Returns the values of a field that an echoing endpoint received.
    func echoed(_ name: String) throws -> [String] {
        try echoedFields.filter { $0.first?.lowercased() == name.lowercased() }.map { $0[1] }
    }
}

extension Transport {
    /// Performs an exchange and returns the collected body as text.
    func text(of exchange: Exchange) async throws -> String { try await send(exchange).text }

    /// Returns when the transport's thread has processed everything that was pending. To detect this, the method sends
    /// an exchange: the thread checks all ready sockets and messages before it completes that exchange.
    func catchUp() async throws {
        try await withServer { _ = try await send(Exchange($0.url("/get"))) }
    }

    /// Sends an exchange that never receives a response, and returns when its idle timeout has passed.
    func passIdleTimeout(of seconds: Double) async throws {
        try await withServer { server in
            let silence = Exchange(server.url("/delay/3600")).with { $0.idleTimeout = seconds }
            let error = try await transportError { try await send(silence) }
            #expect(error.code == .timedOut)
        }
    }
}

struct WrongKind: Error {}

/// An error that tests throw intentionally.
struct Intended: Error, Equatable {}

/// Runs code that must throw a ``TransportError`` and returns the error.
func transportError(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> some Any
) async throws -> TransportError {
    try #require(
        await #expect(throws: TransportError.self, sourceLocation: sourceLocation) { _ = try await body() },
        sourceLocation: sourceLocation)
}

/// Runs a test with its own server.
func withServer(_ body: (TestServer) async throws -> Void) async throws {
    let server = try await TestServer.start()
    do {
        try await body(server)
    } catch {
        await server.stop()
        throw error
    }
    await server.stop()
}

/// Runs a test with a server that plays scripts, one per connection.
func withRawServer(_ scripts: [RawServer.Step]..., body: (RawServer) async throws -> Void) async throws {
    let server = try await RawServer.start(scripts: scripts)
    do {
        try await body(server)
    } catch {
        await server.stop()
        throw error
    }
    await server.stop()
}

/// Returns all bytes of a stream.
func collect(_ stream: ResponseBodyStream) async throws -> Data {
    var data = Data()
    for try await chunk in stream { data += chunk }
    return data
}

/// Returns the duration of the body in seconds.
func seconds(_ body: () async throws -> Void) async rethrows -> Double {
    let start = ContinuousClock.now
    try await body()
    return (ContinuousClock.now - start) / .seconds(1)
}
