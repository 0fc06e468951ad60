import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

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
