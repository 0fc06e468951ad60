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
