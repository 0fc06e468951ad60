public import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The events of a server over as many connections as it takes, to await (WHATWG HTML, section 9.2).
///
/// ```swift
/// for try await event in AF.serverSentEvents("https://example.com/feed") {
///     print(event.event, event.data)
/// }
/// ```
///
/// When a connection ends or is lost, the next one is made after a while, with the ID of the last event, so that the server
/// can go on from there. The loop ends when
/// - its task is cancelled or the loop is left: the connection is closed;
/// - the server answers 204, which means that there is no more;
/// - something happens that another connection would not mend, which is thrown: another status code, another content
///   type, a certificate that is refused, a server that has never spoken HTTP, a request that cannot be sent, an event
///   that is too large.
///
/// The next event is read when the loop asks for it, so a slow loop holds the server back, where the transport can do that.
/// Each iteration is a connection of its own. A server that is silent for longer than the request's idle timeout counts as
/// lost.
public struct EventSource: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent
    /// What ends the events.
    public typealias Failure = AFError

    let session: Session
    let interceptor: (any RequestInterceptor)?
    let lastEventID: String
    let maximumEventSize: Int
    let writtenURL: String?
    let makeRequest: @Sendable () throws -> URLRequest
    /// When to connect again.
    public let reconnection: Reconnection
    /// Waits before the next connection.
    package var pause: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// Begins an iteration, which connects when the first event is asked for.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Makes a connection.
    ///
    /// - Parameter memory: What earlier connections have left; this one adds to it.
    func connect(remembering memory: EventSourceMemory) -> DataStreamTask.Stream<ServerSentEvent, AFError> {
        let request = EventSourceRequest(memory: memory, writtenURL: writtenURL, makeRequest: makeRequest)
        let parser = EventSourceParser(memory: memory, maximumEventSize: maximumEventSize)
        return session.streamRequest(request, interceptor: interceptor, shouldAutomaticallyResume: true)
            .validateEventStream().streamTask().streamingResponses(parsedUsing: parser)
    }

    /// Waits before the next connection; false when the task was cancelled meanwhile.
    func hasWaited(_ delay: Duration) async -> Bool {
        do {
            try await pause(delay)
            return true
        } catch {
            return false
        }
    }
}

// MARK: - Iteration

extension EventSource {
    /// One iteration, with a connection of its own.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let source: EventSource
        private let memory: EventSourceMemory
        private var connection: DataStreamTask.Stream<ServerSentEvent, AFError>.Iterator?
        /// How many connections in a row have brought no event.
        private var failures = 0
        /// Whether the server has answered at all.
        private var hasAnswered = false
        private var isOver = false

        init(_ source: EventSource) {
            self.source = source
            memory = EventSourceMemory(lastEventID: source.lastEventID)
        }

        /// The next event, or nil when there will be none.
        ///
        /// - Throws: What ends the events; it is nil from then on.
        public mutating func next() async throws(AFError) -> ServerSentEvent? { try await next(isolation: nil) }

        /// The next event, or nil when there will be none.
        ///
        /// - Throws: What ends the events; it is nil from then on.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(AFError) -> ServerSentEvent? {
            while !isOver {
                if connection == nil {
                    failures += 1
                    connection = source.connect(remembering: memory).makeAsyncIterator()
                }
                switch await connection?.next(isolation: actor)?.event {
                case .stream(.success(let event)):
                    failures = 0
                    hasAnswered = true
                    return event
                case .stream(.failure(let error)):
                    end()
                    throw error
                case .complete(let completion):
                    connection = nil
                    guard try mayReconnect(after: completion), await source.hasWaited(delay) else { return end() }
                case nil: return end()
                }
            }
            return nil
        }

        @discardableResult
        private mutating func end() -> ServerSentEvent? {
            isOver = true
            connection = nil
            return nil
        }

        /// Whether there may be another connection.
        private mutating func mayReconnect(after completion: DataStreamRequest.Completion) throws(AFError) -> Bool {
            hasAnswered = hasAnswered || completion.response != nil
            if let error = completion.error, !error.mayBeMendedByConnecting(again: hasAnswered) || isLastFailure {
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
            source.reconnection.delay(after: failures, told: memory.reconnectionTime, chance: .random(in: 0...1))
        }
    }
}

extension AFError {
    /// Whether the network has failed, and may not the next time.
    ///
    /// - Parameter hasAnswered: Whether the server has answered before.
    fileprivate func mayBeMendedByConnecting(again hasAnswered: Bool) -> Bool {
        guard case .sessionTaskFailed(let error as URLError) = self else { return false }
        switch error.code {
        case .serverCertificateHasBadDate, .serverCertificateNotYetValid: return false
        // A server that has answered before has broken down; another one speaks no HTTP, or no TLS.
        case .badServerResponse, .secureConnectionFailed: return hasAnswered
        default: return RetryPolicy.defaultRetryableURLErrorCodes.contains(error.code)
        }
    }
}

// MARK: - Reconnection

extension EventSource {
    /// When to connect again.
    ///
    /// After a connection that brought an event, the time to wait is what the server has asked for (`retry`), else
    /// ``delay``. After each one that brought none it is longer, up to ``maximumDelay``.
    public struct Reconnection: Sendable {
        /// How long to wait, until the server asks for another time. The default is 3 seconds.
        public var delay: Duration
        /// What the wait grows to while connections bring no events; the server may ask for more. The default is a minute.
        public var maximumDelay: Duration
        /// By what the wait grows with each connection in a row that brought no event. The default is 2.
        public var multiplier: Double
        /// The part of a grown wait, from 0 to 1, by which it is made longer at random, so that not all clients of a server
        /// come back at once. The default is 0.2.
        public var jitter: Double
        /// How many connections in a row may bring no event. What has ended the last one is thrown then; the loop ends
        /// without an error if there was none. The default, nil, is any number.
        public var maximumFailures: Int?

        /// Makes the rules.
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

        /// How long to wait.
        ///
        /// - Parameters:
        ///   - failures: How many connections in a row have brought no event.
        ///   - told: What the server has asked for.
        ///   - chance: From 0 to 1.
        func delay(after failures: Int, told: Duration?, chance: Double) -> Duration {
            let usual = Self.longest.limiting(told ?? delay)
            guard failures > 0 else { return usual }
            let growth = Swift.max(1, Swift.min(multiplier.powered(failures - 1), 1e6))
            let limit = Swift.max(Self.longest.limiting(maximumDelay), usual)
            let grown = Swift.min(Swift.max(usual, Self.shortestGrown) * growth, limit)
            return grown * (1 + Swift.min(Swift.max(0, jitter), 1) * chance)
        }

        /// A year: nobody waits longer, and it can be reckoned with.
        private static let longest = Duration.seconds(31_536_000)
        /// What grows when the time to wait is none, so that a server that says nothing is not asked without a pause.
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
    /// The events of a server, to await: connected when a loop begins, and again after each connection's end.
    ///
    /// `Accept: text/event-stream` and `Cache-Control: no-cache` are sent unless the headers say otherwise.
    ///
    /// - Parameters:
    ///   - convertible: The URL.
    ///   - method: The method. The default is GET.
    ///   - headers: Headers to add to the session's.
    ///   - lastEventID: The ID of the last event that was received before, for the server to go on from there. The default
    ///     is empty: there is none.
    ///   - reconnection: When to connect again.
    ///   - maximumEventSize: The bytes that an event may have; a larger one ends the events with
    ///     ``ServerSentEventTooLarge``. The default is 1 MiB.
    ///   - interceptor: Adapts and retries the request of each connection.
    ///   - requestModifier: Changes each `URLRequest`, for example its `timeoutInterval` for a server that may be silent
    ///     for long.
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

    /// The events that a server sends as the answer to a request, to await: sent when a loop begins, and again after each
    /// connection's end.
    ///
    /// `Accept: text/event-stream` and `Cache-Control: no-cache` are sent unless the headers say otherwise.
    ///
    /// - Parameters:
    ///   - convertible: Makes the request of each connection.
    ///   - lastEventID: The ID of the last event that was received before, for the server to go on from there. The default
    ///     is empty: there is none.
    ///   - reconnection: When to connect again.
    ///   - maximumEventSize: The bytes that an event may have; a larger one ends the events with
    ///     ``ServerSentEventTooLarge``. The default is 1 MiB.
    ///   - interceptor: Adapts and retries the request of each connection.
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

// MARK: - One connection after another

/// What outlives the connections of an ``EventSource``.
final class EventSourceMemory: Sendable {
    private struct State {
        var lastEventID: String
        var reconnectionTime: Duration?
    }

    /// The bytes that an ID may have. Servers take few KiB of headers.
    private static let maximumIDLength = 4096

    private let state: Locked<State>

    init(lastEventID: String) { state = Locked(State(lastEventID: lastEventID)) }

    var lastEventID: String { state.withLock { $0.lastEventID } }
    /// How long the server wants its clients to wait, if it has said so.
    var reconnectionTime: Duration? { state.withLock { $0.reconnectionTime } }

    /// Remembers the last ID that a header can carry, so that the server goes on after that one.
    ///
    /// - Parameter ids: What the server has sent, in its order.
    func learn(ids: [String], reconnectionTime: Duration?) {
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

/// Makes the request of each attempt, with the ID of the event that was last by then.
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

/// Makes events of one body, and remembers what the next connection needs to know.
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
        memory.learn(ids: ids, reconnectionTime: parser.reconnectionTime)
        return results
    }
}
