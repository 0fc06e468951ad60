public import Foundation

/// The answer of a ``TestServer``'s route.
public struct ServerResponse: Sendable {
    /// Writes a body bit by bit. It runs on the connection's own thread, so it may block.
    public typealias Stream = @Sendable (BodyWriter) throws -> Void

    enum Body: Sendable {
        case data(Data)
        case stream(length: Int?, Stream)
    }

    /// The status code, 200 to 999.
    public var status: Int
    /// The header fields; `Content-Length` or `Transfer-Encoding`, `Date` and `Connection` are added as needed.
    public var headers: ServerHeaders
    /// Seconds that pass before the head is sent; the wait ends when the client leaves or the server stops.
    public var delay: Double = 0
    var body: Body

    /// Makes a response whose body is at hand.
    public init(status: Int = 200, headers: ServerHeaders = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = .data(body)
    }

    /// Makes a response whose body is written while it is sent.
    ///
    /// - Parameters:
    ///   - status: The status code. The default is 200.
    ///   - headers: Its headers. The default is none.
    ///   - length: The number of bytes `write` will write; `nil` sends the body chunked. A body that turns out shorter
    ///     ends the connection early, as a client's test may want.
    ///   - write: Writes the body. An error thrown ends the connection at once.
    public init(
        status: Int = 200,
        headers: ServerHeaders = [:],
        length: Int? = nil,
        write: @escaping Stream
    ) {
        self.status = status
        self.headers = headers
        self.body = .stream(length: length, write)
    }

    /// Plain text in UTF-8.
    public static func text(_ text: String, status: Int = 200) -> ServerResponse {
        ServerResponse(
            status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: Data(text.utf8))
    }

    /// A value encoded as JSON, keys sorted.
    ///
    /// - Throws: `EncodingError`.
    public static func json(_ value: some Encodable, status: Int = 200) throws -> ServerResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try .content("application/json", encoder.encode(value), status: status)
    }

    /// Bytes of some media type.
    public static func content(_ type: String, _ data: Data, status: Int = 200) -> ServerResponse {
        ServerResponse(status: status, headers: ["Content-Type": type], body: data)
    }

    /// This response with one more header line.
    public func adding(_ name: String, _ value: String) -> ServerResponse {
        var copy = self
        copy.headers.append(name, value)
        return copy
    }
}
