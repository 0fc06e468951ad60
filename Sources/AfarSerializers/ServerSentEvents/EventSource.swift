public import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An asynchronous sequence of server-sent events that reconnects as needed (WHATWG HTML, section 9.2).
///
/// ```swift
/// for try await event in AF.serverSentEvents("https://example.com/feed") {
///     print(event.event, event.data)
/// }
/// ```
///
/// When a connection ends or is lost, the event source connects again after a delay. It sends the ID of the last event so
/// that the server can resume. The loop ends if:
///
/// - Its task is canceled or the loop is exited. The connection is then closed.
/// - The server responds with 204, which means that no more events will follow.
/// - An error occurs that reconnecting can't fix. The error is thrown. Examples are an unexpected status code or content type,
///   a rejected certificate, a server that has never responded over HTTP, an invalid request and an event that is too large.
///
/// Events are read on demand. If the transport supports backpressure, a slow loop therefore slows the server down. Each loop
/// uses a separate connection. If a server sends nothing for longer than the request's idle timeout, the connection is
/// considered lost.
public struct EventSource: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent
    /// The error that ends the sequence.
    public typealias Failure = AFError

    let session: Session
    let interceptor: (any RequestInterceptor)?
    let lastEventID: String
    let maximumEventSize: Int
    let writtenURL: String?
    let makeRequest: @Sendable () throws -> URLRequest
    /// The rules for reconnecting.
    public let reconnection: Reconnection

    /// Creates an iterator that connects when the first event is requested.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Opens a connection.
    ///
    /// - Parameter memory: The state of earlier connections. This connection updates it.
    func connect(remembering memory: EventSourceMemory) -> DataStreamTask.Stream<ServerSentEvent, AFError> {
        let request = EventSourceRequest(memory: memory, writtenURL: writtenURL, makeRequest: makeRequest)
        let parser = EventSourceParser(memory: memory, maximumEventSize: maximumEventSize)
        return session.streamRequest(request, interceptor: interceptor, shouldAutomaticallyResume: true)
            .validateEventStream().streamTask().streamingResponses(parsedUsing: parser)
    }

    /// Suspends before the next connection. Returns `false` if the task was canceled in the meantime.
    func wait(for delay: Duration) async -> Bool {
        do {
            try await session.configuration.timeSource.sleep(for: delay)
            return true
        } catch {
            return false
        }
    }
}

// MARK: - Iteration

extension EventSource {
    /// An iterator with its own connection.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let source: EventSource
        private let memory: EventSourceMemory
        private var connection: DataStreamTask.Stream<ServerSentEvent, AFError>.Iterator?
        /// The number of consecutive connections without an event.
        private var failures = 0
        /// Whether the server has ever responded.
        private var hasResponded = false
        private var isFinished = false

        init(_ source: EventSource) {
            self.source = source
            memory = EventSourceMemory(lastEventID: source.lastEventID)
        }

        /// Returns the next event, or `nil` after the last one.
        ///
        /// - Throws: The error that ends the sequence. Later calls return `nil`.
        public mutating func next() async throws(AFError) -> ServerSentEvent? { try await next(isolation: nil) }

        /// Returns the next event, or `nil` after the last one.
        ///
        /// - Throws: The error that ends the sequence. Later calls return `nil`.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(AFError) -> ServerSentEvent? {
            while !isFinished {
                if connection == nil {
                    failures += 1
                    connection = source.connect(remembering: memory).makeAsyncIterator()
                }
                switch await connection?.next(isolation: actor)?.event {
                case .stream(.success(let event)):
                    failures = 0
                    hasResponded = true
                    return event
                case .stream(.failure(let error)):
                    end()
                    throw error
                case .complete(let completion):
                    connection = nil
                    guard try shouldReconnect(after: completion), await source.wait(for: delay) else { return end() }
                case nil: return end()
                }
            }
            return nil
        }

        @discardableResult
        private mutating func end() -> ServerSentEvent? {
            isFinished = true
            connection = nil
            return nil
        }

        /// Returns whether to connect again.
        private mutating func shouldReconnect(after completion: DataStreamRequest.Completion) throws(AFError) -> Bool {
            hasResponded = hasResponded || completion.response != nil
            if let error = completion.error, !error.isRecoverable(hasResponded: hasResponded) || isLastFailure {
                end()
                throw error
            }
            return !isLastFailure && completion.response?.statusCode != 204
        }

        private var isLastFailure: Bool {
            guard failures > 0, let maximum = source.reconnection.maximumFailures else { return false }
            return failures >= maximum
        }

        private var delay: Duration {
            source.reconnection.delay(after: failures, serverDelay: memory.reconnectionTime, chance: .random(in: 0...1))
        }
    }
}

extension AFError {
    /// Returns whether the error is a network failure that another connection can fix.
    ///
    /// - Parameter hasResponded: Whether the server has responded before.
    fileprivate func isRecoverable(hasResponded: Bool) -> Bool {
        guard case .sessionTaskFailed(let error as URLError) = self else { return false }
        switch error.code {
        case .serverCertificateHasBadDate, .serverCertificateNotYetValid: return false
        // A server that has never responded probably doesn't support HTTP or TLS. Otherwise, the problem is probably temporary.
        case .badServerResponse, .secureConnectionFailed: return hasResponded
        default: return RetryPolicy.defaultRetryableURLErrorCodes.contains(error.code)
        }
    }
}

// MARK: - Reconnection

extension EventSource {
    /// The rules for reconnecting.
    ///
    /// After a connection with events, the delay is the server's `retry` value or, if it hasn't sent one, ``delay``. The delay
    /// increases after each connection without an event, up to ``maximumDelay``.
    public struct Reconnection: Sendable {
        /// The initial delay, until the server sends another delay. The default is 3 seconds.
        public var delay: Duration
        /// The maximum delay after connections without an event. The server can specify a longer delay. The default is one
        /// minute.
        public var maximumDelay: Duration
        /// The factor by which the delay increases after each consecutive connection without an event. The default is
        /// 2.
        public var multiplier: Double
        /// The maximum random fraction, from 0 to 1, that is added to an increased delay. It prevents clients from
        /// reconnecting at the same time. The default is 0.2.
        public var jitter: Double
        /// The maximum number of consecutive connections without an event, or `nil` for no limit, which is the default.
        ///
        /// When the limit is reached, the sequence throws the error of the last connection, or ends if that connection had no
        /// error.
        public var maximumFailures: Int?

        /// Creates rules for reconnecting.
        public init(
            delay: Duration = .seconds(3),
            maximumDelay: Duration = .seconds(60),
            multiplier: Double = 2,
            jitter: Double = 0.2,
            maximumFailures: Int? = nil
        ) {
            self.delay = delay
            self.maximumDelay = maximumDelay
            self.multiplier = multiplier
            self.jitter = jitter
            self.maximumFailures = maximumFailures
        }

        /// Returns the delay before the next connection.
        ///
        /// - Parameters:
        ///   - failures: The number of consecutive connections without an event.
        ///   - serverDelay: The delay that the server specified.
        ///   - chance: A random number from 0 to 1.
        func delay(after failures: Int, serverDelay: Duration?, chance: Double) -> Duration {
            let usual = Self.longest.limiting(serverDelay ?? delay)
            guard failures > 0 else { return usual }
            let growth = Swift.max(1, Swift.min(multiplier.powered(failures - 1), 1e6))
            let limit = Swift.max(Self.longest.limiting(maximumDelay), usual)
            let grown = Swift.min(Swift.max(usual, Self.shortestGrown) * growth, limit)
            return grown * (1 + Swift.min(Swift.max(0, jitter), 1) * chance)
        }

        /// The upper limit of delays, one year. It prevents overflow in calculations.
        private static let longest = Duration.seconds(31_536_000)
        /// The minimum delay to multiply after a connection without an event. It ensures a pause between failed connections
        /// even if the initial delay is zero.
        private static let shortestGrown = Duration.milliseconds(100)
    }
}

extension Duration {
    fileprivate func limiting(_ other: Duration) -> Duration { min(max(other, .zero), self) }
}

extension Double {
    fileprivate func powered(_ exponent: Int) -> Double {
        (0..<min(exponent, 64)).reduce(1) { power, _ in power * self }
    }
}

// MARK: - Sessions

extension Session {
    /// Returns a sequence of a server's events. The sequence connects when a loop begins, and reconnects when a
    /// connection ends.
    ///
    /// The headers `Accept: text/event-stream` and `Cache-Control: no-cache` are sent unless `headers` overrides them.
    ///
    /// - Parameters:
    ///   - convertible: The URL.
    ///   - method: The HTTP method. The default is GET.
    ///   - headers: The headers to add to those of the session.
    ///   - lastEventID: The ID of the last event that was received earlier. The server can resume after this event. The default
    ///     is an empty string, which means no ID.
    ///   - reconnection: The rules for reconnecting.
    ///   - maximumEventSize: The maximum size of an event in bytes. A larger event ends the sequence with
    ///     ``ServerSentEventTooLarge``. The default is 1 MiB.
    ///   - interceptor: The interceptor that adapts and retries the request of each connection.
    ///   - requestModifier: A closure that modifies each `URLRequest`, for example its `timeoutInterval` for a server
    ///     that can be silent for a long time.
    @preconcurrency
    public func serverSentEvents(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        headers: HTTPHeaders? = nil,
        lastEventID: String = "",
        reconnection: EventSource.Reconnection = EventSource.Reconnection(),
        maximumEventSize: Int = ServerSentEventParser.defaultMaximumEventSize,
        interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> EventSource {
        EventSource(
            session: self, interceptor: interceptor, lastEventID: lastEventID, maximumEventSize: maximumEventSize,
            writtenURL: requestModifier == nil ? convertible as? String : nil,
            makeRequest: {
                var request = try URLRequest(url: convertible, method: method, headers: headers)
                try requestModifier?(&request)
                return request
            },
            reconnection: reconnection)
    }

    /// Returns a sequence of the events in the response to a request. The request is sent when a loop begins and again
    /// after each connection.
    ///
    /// The headers `Accept: text/event-stream` and `Cache-Control: no-cache` are sent unless the request overrides
    /// them.
    ///
    /// - Parameters:
    ///   - convertible: The value that creates the request of each connection.
    ///   - lastEventID: The ID of the last event that was received earlier. The server can resume after this event. The default
    ///     is an empty string, which means no ID.
    ///   - reconnection: The rules for reconnecting.
    ///   - maximumEventSize: The maximum size of an event in bytes. A larger event ends the sequence with
    ///     ``ServerSentEventTooLarge``. The default is 1 MiB.
    ///   - interceptor: The interceptor that adapts and retries the request of each connection.
    public func serverSentEvents(
        _ convertible: any URLRequestConvertible,
        lastEventID: String = "",
        reconnection: EventSource.Reconnection = EventSource.Reconnection(),
        maximumEventSize: Int = ServerSentEventParser.defaultMaximumEventSize,
        interceptor: (any RequestInterceptor)? = nil
    ) -> EventSource {
        EventSource(
            session: self, interceptor: interceptor, lastEventID: lastEventID, maximumEventSize: maximumEventSize,
            writtenURL: convertible.writtenURL, makeRequest: { try convertible.asURLRequest() },
            reconnection: reconnection)
    }
}

// MARK: - Connection state

/// The state that the connections of an ``EventSource`` share.
final class EventSourceMemory: Sendable {
    private struct State {
        var lastEventID: String
        var reconnectionTime: Duration?
    }

    /// The maximum length of an ID in bytes. Servers only accept a few KiB of headers.
    private static let maximumIDLength = 4096

    private let state: Locked<State>

    init(lastEventID: String) { state = Locked(State(lastEventID: lastEventID)) }

    var lastEventID: String { state.withLock { $0.lastEventID } }
    /// The reconnection delay that the server specified, if any.
    var reconnectionTime: Duration? { state.withLock { $0.reconnectionTime } }

    /// Stores the server's reconnection delay and the last ID that can be sent in a header.
    ///
    /// - Parameter ids: The IDs that the server sent, in order.
    func store(ids: [String], reconnectionTime: Duration?) {
        let id = ids.last(where: Self.isSendable)
        state.withLock { state in
            state.lastEventID = id ?? state.lastEventID
            state.reconnectionTime = reconnectionTime ?? state.reconnectionTime
        }
    }

    private static func isSendable(_ id: String) -> Bool {
        id.utf8.count <= maximumIDLength && (try? HTTPHeader(name: "Last-Event-ID", value: id).validate()) != nil
    }
}

/// Creates the request of each attempt with the ID of the latest event.
struct EventSourceRequest: WrittenURLConvertible {
    let memory: EventSourceMemory
    let writtenURL: String?
    let makeRequest: @Sendable () throws -> URLRequest

    func asURLRequest() throws -> URLRequest {
        var request = try makeRequest()
        if request.headers["Accept"] == nil { request.headers.update(.accept("text/event-stream")) }
        if request.headers["Cache-Control"] == nil { request.headers.update(name: "Cache-Control", value: "no-cache") }
        let id = memory.lastEventID
        if !id.isEmpty { request.headers.update(name: "Last-Event-ID", value: id) }
        return request
    }
}

/// Parses the events of one response and stores the values that the next connection needs.
struct EventSourceParser: DataStreamParser {
    let memory: EventSourceMemory
    let maximumEventSize: Int
    private var parser: ServerSentEventParser?

    init(memory: EventSourceMemory, maximumEventSize: Int) {
        self.memory = memory
        self.maximumEventSize = maximumEventSize
    }

    mutating func parse(_ chunk: Data) -> [Result<ServerSentEvent, AFError>] {
        var parser =
            parser.take()
            ?? ServerSentEventParser(lastEventID: memory.lastEventID, maximumEventSize: maximumEventSize)
        defer { self.parser = parser }
        let results = parser.parse(chunk)
        let ids = results.compactMap { try? $0.get().id } + [parser.lastEventID]
        memory.store(ids: ids, reconnectionTime: parser.reconnectionTime)
        return results
    }
}
