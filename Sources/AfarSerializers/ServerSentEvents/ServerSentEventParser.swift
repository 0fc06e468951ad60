public import AfarCore
public import Foundation

/// Makes events of a stream of type `text/event-stream`, wherever its chunks end (WHATWG HTML, sections 9.2.5 and 9.2.6).
///
/// Lines end with CR, LF or CR LF. The text is UTF-8; what is none becomes U+FFFD. An event that the stream's end cuts off
/// is no event.
public struct ServerSentEventParser: DataStreamParser {
    /// The bytes that an event may have.
    public let maximumEventSize: Int
    /// The ID to name to the server when the connection is made again; empty when there is none.
    public private(set) var lastEventID: String
    /// How long the server wants clients to wait before they connect again, if it has said so: at most a day.
    public private(set) var reconnectionTime: Duration?

    private var line = Data()
    private var event = Fields()
    private var id: String
    private var isFirstLine = true
    /// Whether a CR has just ended a line, so that an LF belongs to it.
    private var isAfterCarriageReturn = false
    private var passing: Passing?

    /// What has come of an event so far.
    private struct Fields {
        var type = Data()
        var data = Data()
        var count: Int { type.count + data.count }
    }

    /// What comes up to the next empty line is passed over.
    private struct Passing {
        var isLineEmpty = false
    }

    /// Makes a parser.
    ///
    /// - Parameters:
    ///   - lastEventID: The ID that events have until the server sends one: the last one of the connection before. The
    ///     default is empty.
    ///   - maximumEventSize: The bytes that an event may have; a larger one fails with ``ServerSentEventTooLarge``. The
    ///     default is 1 MiB.
    public init(
        lastEventID: String = "", maximumEventSize: Int = ServerSentEventParser.defaultMaximumEventSize
    ) {
        self.lastEventID = lastEventID
        self.maximumEventSize = maximumEventSize
        id = lastEventID
    }

    /// 1 MiB.
    public static let defaultMaximumEventSize = 1 << 20

    /// The events that a chunk completes.
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

    /// Keeps a piece of a line, unless the event becomes too large with it.
    private mutating func keep(_ piece: Data) -> AFError? {
        guard !piece.isEmpty else { return nil }
        guard passing == nil else {
            passing?.isLineEmpty = false
            return nil
        }
        guard line.count + event.count + piece.count <= maximumEventSize else {
            line = Data()
            event = Fields()
            passing = Passing()
            let error = ServerSentEventTooLarge(limit: maximumEventSize)
            return .responseSerializationFailed(reason: .customSerializationFailed(error: error))
        }
        line += piece
        return nil
    }

    private mutating func endLine() -> ServerSentEvent? {
        if let passing {
            self.passing = passing.isLineEmpty ? nil : Passing(isLineEmpty: true)
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

    /// The time that ASCII digits stand for, at most a day; nil when there are others, or none.
    private static func milliseconds(in digits: Data) -> Duration? {
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        let day = 86_400_000
        return .milliseconds(digits.reduce(0) { min(day, $0 * 10 + Int($1 - UInt8(ascii: "0"))) })
    }
}

extension DataStreamParser where Self == ServerSentEventParser {
    /// Makes events of a stream of type `text/event-stream`.
    public static var serverSentEvents: ServerSentEventParser { ServerSentEventParser() }

    /// Makes events of a stream of type `text/event-stream`.
    ///
    /// - Parameter maximumEventSize: The bytes that an event may have.
    public static func serverSentEvents(maximumEventSize: Int) -> ServerSentEventParser {
        ServerSentEventParser(maximumEventSize: maximumEventSize)
    }
}

// MARK: - Events and errors

/// An event that a server sent (WHATWG HTML, section 9.2).
public struct ServerSentEvent: Hashable, Sendable {
    /// The event's type; `message` unless the server says otherwise.
    public var event: String
    /// The event's data. Lines are joined with LF.
    public var data: String
    /// The stream's last event ID as of this event: this event's own, else the one that was last sent before; empty when
    /// there was none.
    public var id: String

    /// Makes an event.
    public init(event: String = "message", data: String, id: String = "") {
        self.event = event
        self.data = data
        self.id = id
    }

    /// Decodes a value from the event's data.
    ///
    /// - Parameters:
    ///   - type: What to decode.
    ///   - decoder: Decodes. The default is a `JSONDecoder`.
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

/// An event in a stream has more bytes than allowed. It was passed over and not kept; the events after it can be read.
///
/// It is the `underlyingError` of an ``AFError/responseSerializationFailed(reason:)``.
public struct ServerSentEventTooLarge: Error, LocalizedError, CustomStringConvertible, Sendable {
    /// The bytes that an event may have.
    public let limit: Int

    /// What was wrong, and what can be done.
    public var description: String {
        "An event of the stream has more than \(limit) bytes. Ask for a larger maximum event size if that is no mistake."
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

// MARK: - Requests

extension DataStreamRequest {
    /// Adds a handler that gets the events of this one response. Give the request the header
    /// `Accept: text/event-stream`.
    ///
    /// The status code must be 200, or 204 for no events, and the content type `text/event-stream`, else the request fails
    /// before anything is read. An event that is too large is an error that carries a ``ServerSentEventTooLarge``; it ends
    /// the request if ``DataStreamRequest/automaticallyCancelOnStreamError`` says so. Nothing is connected again after the
    /// end:
    /// ``AfarCore/Session/serverSentEvents(_:method:headers:lastEventID:reconnection:maximumEventSize:interceptor:requestModifier:)``
    /// does that.
    ///
    /// - Parameters:
    ///   - queue: Where the handler is called. The default is the main queue.
    ///   - maximumEventSize: The bytes that an event may have. The default is 1 MiB.
    ///   - stream: Called for each event or error, and once at the end.
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

    /// Requires a stream of events, or none (WHATWG HTML, section 9.2.3).
    @discardableResult
    func validateEventStream() -> Self {
        validate(statusCode: [200, 204]).validate(contentType: ["text/event-stream"])
    }
}

extension DataStreamTask {
    /// The events of this one response, with what
    /// ``DataStreamRequest/responseStreamServerSentEvents(on:maximumEventSize:stream:)`` requires of it. The request starts
    /// with the iteration, if handlers start requests here.
    ///
    /// - Parameters:
    ///   - shouldAutomaticallyCancel: Whether leaving the loop early, or cancelling its task, cancels the request. The
    ///     default is true.
    ///   - maximumEventSize: The bytes that an event may have. The default is 1 MiB.
    ///   - bufferingPolicy: Which events are kept for a loop that falls behind. The default, nil, is to keep none and hold
    ///     the server back.
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
