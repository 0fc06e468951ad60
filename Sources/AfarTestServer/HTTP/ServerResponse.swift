public import Foundation

/// The response of a ``TestServer`` route.
public struct ServerResponse: Sendable {
    /// Writes a body in pieces. It runs on the connection's own thread, so it can block.
    public typealias Stream = @Sendable (BodyWriter) throws -> Void

    enum Body: Sendable {
        case data(Data)
        case stream(length: Int?, Stream)
    }

    /// The status code, from 200 to 999.
    public var status: Int
    /// The header fields. `Content-Length` or `Transfer-Encoding`, `Date` and `Connection` are added if needed.
    public var headers: ServerHeaders
    /// The delay before the head is sent, in seconds. It ends early if the client closes the connection or the server stops.
    public var delay: Double = 0
    var body: Body

    /// Creates a response with a body in memory.
    public init(status: Int = 200, headers: ServerHeaders = [:], body: Data = Data()) {
        self.status = status
        self.headers = headers
        self.body = .data(body)
    }

    /// Creates a response whose body is written while it is sent.
    ///
    /// - Parameters:
    ///   - status: The status code. The default is 200.
    ///   - headers: The header fields. The default is none.
    ///   - length: The number of bytes that `write` writes; `nil` sends a chunked body. If `write` writes fewer bytes, the
    ///     connection is closed early, which is useful to test a client.
    ///   - write: Writes the body. Throwing an error closes the connection immediately.
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

    /// Creates a plain text response in UTF-8.
    public static func text(_ text: String, status: Int = 200) -> ServerResponse {
        ServerResponse(
            status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: Data(text.utf8))
    }

    /// Creates a response with a value encoded as JSON, with sorted keys.
    ///
    /// - Throws: `EncodingError`.
    public static func json(_ value: some Encodable, status: Int = 200) throws -> ServerResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try .content("application/json", encoder.encode(value), status: status)
    }

    /// Creates a response with a body and its media type.
    public static func content(_ type: String, _ data: Data, status: Int = 200) -> ServerResponse {
        ServerResponse(status: status, headers: ["Content-Type": type], body: data)
    }

    /// Returns a copy of the response with another header line.
    public func adding(_ name: String, _ value: String) -> ServerResponse {
        var copy = self
        copy.headers.append(name, value)
        return copy
    }
}

/// Writes the body of one response. Don't use it after the closure that received it has returned.
public final class BodyWriter {
    /// The error that the `write` and `wait` methods throw if the client has closed the connection or the server is
    /// stopping.
    public struct ClientDisconnected: Error {}

    private let socket: Socket
    private let isChunked: Bool
    private var head: [UInt8]
    private(set) var count = 0

    init(socket: Socket, head: [UInt8], isChunked: Bool) {
        self.socket = socket
        self.head = head
        self.isChunked = isChunked
    }

    /// Sends bytes immediately. In a chunked body, each call sends one chunk. Blocks while the client doesn't read.
    ///
    /// - Throws: ``ClientDisconnected`` if the client has closed the connection or the server is stopping.
    public func write(_ data: Data) throws {
        try data.withUnsafeBytes { try write(bytes: $0) }
    }

    /// Sends text as UTF-8 immediately.
    ///
    /// - Throws: ``ClientDisconnected`` if the client has closed the connection or the server is stopping.
    public func write(_ text: String) throws {
        try write(Data(text.utf8))
    }

    /// Waits without sending.
    ///
    /// - Parameter seconds: The maximum time to wait.
    /// - Throws: ``ClientDisconnected`` as soon as the client closes the connection or the server stops.
    public func wait(seconds: Double) throws {
        try flush()
        guard socket.waitForPeer(seconds: seconds) == .timedOut else { throw ClientDisconnected() }
    }

    func write(bytes: UnsafeRawBufferPointer) throws {
        guard !bytes.isEmpty else { return }
        count += bytes.count
        // Small writes are combined. Copying large writes would cost more than it saves.
        if isChunked { head += Array((String(bytes.count, radix: 16) + "\r\n").utf8) }
        if bytes.count <= 65_536 {
            head += bytes
        } else {
            try flush()
            try send(bytes)
        }
        if isChunked { head += [13, 10] }
        try flush()
    }

    func finish() throws {
        if isChunked { head += Array("0\r\n\r\n".utf8) }
        try flush()
    }

    private func flush() throws {
        guard !head.isEmpty else { return }
        try head.withUnsafeBytes { try send($0) }
        head.removeAll(keepingCapacity: true)
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws {
        do {
            try socket.write(bytes)
        } catch {
            throw ClientDisconnected()
        }
    }
}

/// The reason phrases of the registered status codes.
package enum StatusText {
    static func phrase(for status: Int) -> String {
        registeredPhrase(for: status) ?? "Status \(status)"
    }

    /// Returns the phrase, or `nil` for an unregistered code.
    package static func registeredPhrase(for status: Int) -> String? {
        phrases[status]
    }

    private static let phrases: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints",
        200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
        205: "Reset Content", 206: "Partial Content", 207: "Multi-Status", 208: "Already Reported", 226: "IM Used",
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        305: "Use Proxy", 307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required",
        408: "Request Timeout", 409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed",
        413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
        417: "Expectation Failed", 421: "Misdirected Request", 422: "Unprocessable Content", 423: "Locked",
        424: "Failed Dependency", 425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required",
        429: "Too Many Requests", 431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported", 506: "Variant Also Negotiates",
        507: "Insufficient Storage", 508: "Loop Detected", 511: "Network Authentication Required",
    ]
}
