public import AfarCore
public import Foundation

/// A parser for the events of a `text/event-stream` response (WHATWG HTML, sections 9.2.5 and 9.2.6).
///
/// Chunk boundaries don't matter. Lines end with CR, LF or CR LF. Invalid UTF-8 becomes U+FFFD. An incomplete event at
/// the end of the stream is discarded.
public struct ServerSentEventParser: DataStreamParser {
    /// The maximum size of an event in bytes.
    public let maximumEventSize: Int
    /// The event ID to send when reconnecting, or an empty string if there is no ID.
    public private(set) var lastEventID: String
    /// The reconnection delay that the server specified, if any. It is limited to one day.
    public private(set) var reconnectionTime: Duration?

    private var line = Data()
    private var event = Fields()
    private var id: String
    private var isFirstLine = true
    /// Whether the last byte was a CR that ended a line. A following LF then belongs to the same terminator.
    private var isAfterCarriageReturn = false
    private var skipping: Skipping?

    /// The fields of an incomplete event.
    private struct Fields {
        var type = Data()
        var data = Data()
        var count: Int { type.count + data.count }
    }

    /// The state while bytes are discarded up to the next empty line.
    private struct Skipping {
        var isLineEmpty = false
    }

    /// Creates a parser.
    ///
    /// - Parameters:
    ///   - lastEventID: The ID of the events that precede the server's first ID. When reconnecting, pass the last ID of the previous
    ///     connection. The default is an empty string.
    ///   - maximumEventSize: The maximum size of an event in bytes. For a larger event, the parser returns a failure with a
    ///     ``ServerSentEventTooLarge``. The default is 1 MiB.
    public init(
        lastEventID: String = "", maximumEventSize: Int = ServerSentEventParser.defaultMaximumEventSize
    ) {
        self.lastEventID = lastEventID
        self.maximumEventSize = maximumEventSize
        id = lastEventID
    }

    /// The default maximum size of an event, 1 MiB.
    public static let defaultMaximumEventSize = 1 << 20

    /// Returns the events that a chunk completes.
    public mutating func parse(_ chunk: Data) -> [Result<ServerSentEvent, AFError>] {
        var results: [Result<ServerSentEvent, AFError>] = []
        var start = chunk.startIndex
        chunk.withUnsafeBytes { bytes in
            for (offset, byte) in bytes.enumerated() {
                let index = chunk.startIndex + offset
                if byte == UInt8(ascii: "\n"), isAfterCarriageReturn {
                    start = index + 1
                } else if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
                    if let failure = keep(chunk[start..<index]) { results.append(.failure(failure)) }
                    if let event = endLine() { results.append(.success(event)) }
                    start = index + 1
                }
                isAfterCarriageReturn = byte == UInt8(ascii: "\r")
            }
        }
        if let failure = keep(chunk[start...]) { results.append(.failure(failure)) }
        return results
    }

    /// Stores a part of a line. Returns an error if the event becomes too large.
    private mutating func keep(_ piece: Data) -> AFError? {
        guard !piece.isEmpty else { return nil }
        guard skipping == nil else {
            skipping?.isLineEmpty = false
            return nil
        }
        guard line.count + event.count + piece.count <= maximumEventSize else {
            line = Data()
            event = Fields()
            skipping = Skipping()
            let error = ServerSentEventTooLarge(limit: maximumEventSize)
            return .responseSerializationFailed(reason: .customSerializationFailed(error: error))
        }
        line += piece
        return nil
    }

    private mutating func endLine() -> ServerSentEvent? {
        if let skipping {
            self.skipping = skipping.isLineEmpty ? nil : Skipping(isLineEmpty: true)
            return nil
        }
        defer { line.removeAll(keepingCapacity: true) }
        if isFirstLine {
            isFirstLine = false
            line = line.withoutByteOrderMark
        }
        guard !line.isEmpty else { return dispatch() }
        guard line.first != UInt8(ascii: ":") else { return nil }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        var value = colon.map { line[($0 + 1)...] } ?? Data()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        take(String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self), value)
        return nil
    }

    private mutating func take(_ field: String, _ value: Data) {
        switch field {
        case "event": event.type = Data(value)
        case "data": event.data += value + [UInt8(ascii: "\n")]
        case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        case "retry": if let milliseconds = Self.milliseconds(in: value) { reconnectionTime = milliseconds }
        default: break
        }
    }

    private mutating func dispatch() -> ServerSentEvent? {
        lastEventID = id
        defer { event = Fields() }
        guard !event.data.isEmpty else { return nil }
        return ServerSentEvent(
            event: event.type.isEmpty ? "message" : String(decoding: event.type, as: UTF8.self),
            data: String(decoding: event.data.dropLast(), as: UTF8.self), id: id)
    }

    /// Returns the duration that ASCII digits specify in milliseconds, limited to one day. Returns `nil` if the data is empty or
    /// contains other bytes.
    private static func milliseconds(in digits: Data) -> Duration? {
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        let day = 86_400_000
        return .milliseconds(digits.reduce(0) { min(day, $0 * 10 + Int($1 - UInt8(ascii: "0"))) })
    }
}

extension DataStreamParser where Self == ServerSentEventParser {
    /// A parser for the events of a `text/event-stream` response.
    public static var serverSentEvents: ServerSentEventParser { ServerSentEventParser() }

    /// Returns a parser for the events of a `text/event-stream` response.
    ///
    /// - Parameter maximumEventSize: The maximum size of an event in bytes.
    public static func serverSentEvents(maximumEventSize: Int) -> ServerSentEventParser {
        ServerSentEventParser(maximumEventSize: maximumEventSize)
    }
}

/// A server-sent event (WHATWG HTML, section 9.2).
public struct ServerSentEvent: Hashable, Sendable {
    /// The type of the event. The default is `message`.
    public var event: String
    /// The data of the event. Multiple lines are joined with LF.
    public var data: String
    /// The event's own ID or, if the event has no ID, the latest earlier ID of the stream. Empty if the server has sent no ID.
    public var id: String

    /// Creates an event.
    public init(event: String = "message", data: String, id: String = "") {
        self.event = event
        self.data = data
        self.id = id
    }

    /// Decodes a value from the event's data.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - decoder: The decoder to use. The default is a `JSONDecoder`.
    /// - Throws: ``AFError/ResponseSerializationFailureReason/decodingFailed(error:)``.
    public func decode<T: Decodable>(
        _ type: T.Type = T.self, using decoder: any DataDecoder = JSONDecoder()
    ) throws(AFError) -> T {
        do {
            return try decoder.decodeChecked(type, from: Data(data.utf8), of: nil)
        } catch {
            throw .responseSerializationFailed(reason: .decodingFailed(error: error))
        }
    }
}

/// An error for an event that exceeds the maximum size. The event was discarded, and later events can still be read.
///
/// This error is the `underlyingError` of an ``AFError/responseSerializationFailed(reason:)``.
public struct ServerSentEventTooLarge: Error, LocalizedError, CustomStringConvertible, Sendable {
    /// The maximum size of an event in bytes.
    public let limit: Int

    /// A description of the problem and a solution.
    public var description: String {
        "An event of the stream has more than \(limit) bytes. If this is expected, increase the maximum event size."
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension DataStreamRequest {
    /// Adds a handler for the events of a single response. The request needs the header `Accept: text/event-stream`.
    ///
    /// The status code must be 200, or 204 for no events, and the content type must be `text/event-stream`. Otherwise, the
    /// request fails before the body is read. For an event that is too large, the handler receives an error with a
    /// ``ServerSentEventTooLarge``. The error ends the request if ``DataStreamRequest/automaticallyCancelOnStreamError`` is
    /// `true`.
    ///
    /// This method doesn't reconnect. To reconnect, use
    /// ``AfarCore/Session/serverSentEvents(_:method:headers:lastEventID:reconnection:maximumEventSize:interceptor:requestModifier:)``.
    ///
    /// - Parameters:
    ///   - queue: The queue on which to call the handler. The default is the main queue.
    ///   - maximumEventSize: The maximum size of an event in bytes. The default is 1 MiB.
    ///   - stream: The handler to call for each event or error and once at the end.
    @preconcurrency
    @discardableResult
    public func responseStreamServerSentEvents(
        on queue: DispatchQueue = .main,
        maximumEventSize: Int = ServerSentEventParser.defaultMaximumEventSize,
        stream: @escaping Handler<ServerSentEvent, AFError>
    ) -> Self {
        validateEventStream().responseStream(
            using: .serverSentEvents(maximumEventSize: maximumEventSize), on: queue, stream: stream)
    }

    /// Requires an event stream or a response without content (WHATWG HTML, section 9.2.3).
    @discardableResult
    func validateEventStream() -> Self {
        validate(statusCode: [200, 204]).validate(contentType: ["text/event-stream"])
    }
}

extension DataStreamTask {
    /// Returns a sequence of the events of a single response. The response must meet the requirements of
    /// ``DataStreamRequest/responseStreamServerSentEvents(on:maximumEventSize:stream:)``. Iterating starts the request, unless
    /// requests must be started explicitly.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early or canceling its task cancels the request. The
    ///     default is `true`.
    ///   - maximumEventSize: The maximum size of an event in bytes. The default is 1 MiB.
    ///   - bufferingPolicy: How events are buffered for a slow loop. The default, `nil`, buffers no events and slows the server
    ///     down instead.
    public func streamingServerSentEvents(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        maximumEventSize: Int = ServerSentEventParser.defaultMaximumEventSize,
        bufferingPolicy: Stream<ServerSentEvent, AFError>.BufferingPolicy? = nil
    ) -> Stream<ServerSentEvent, AFError> {
        request.validateEventStream()
        return streamingResponses(
            parsedUsing: .serverSentEvents(maximumEventSize: maximumEventSize),
            automaticallyCancelling: shouldAutomaticallyCancel, bufferingPolicy: bufferingPolicy)
    }
}
