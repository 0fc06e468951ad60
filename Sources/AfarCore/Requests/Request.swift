public import Foundation
package import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A request in its whole life: made, adapted, sent, perhaps retried, answered, and delivered to its handlers.
///
/// Requests are made by a ``Session``. All members may be used from any thread. This class holds what all kinds of
/// requests share; `RequestPipeline` says what happens in which order.
public class Request: @unchecked Sendable {
    // Sendable because everything that changes is behind `mutable`'s lock.

    /// Changes a `URLRequest` just after it was made from the caller's values.
    public typealias RequestModifier = @Sendable (inout URLRequest) throws -> Void

    let session: SessionState
    /// The way that it goes: its session's, or what takes the place of that.
    let stack: TransportStack
    /// Where the responses go.
    let sink: any ResponseSink
    /// The body, where it is apart from the `URLRequest`.
    let uploadBody: UploadBody?
    /// Makes the `URLRequest`, anew for each attempt.
    public let convertible: any URLRequestConvertible
    /// Whether no user code takes part in making the `URLRequest`.
    let isPlain: Bool
    /// Whether the transfer may take long enough that somebody asks for progress when it runs already.
    private let countsBytes: Bool
    /// Whether the first handler starts the request; nil leaves it to ``Session/startRequestsImmediately``.
    public let shouldAutomaticallyResume: Bool?
    let mutable: InlineLocked<RequestState>
    /// Whether the request has monitors of its own.
    let isMonitored = Atomic(false)

    init(
        convertible: any URLRequestConvertible,
        uploadBody: UploadBody? = nil,
        sink: any ResponseSink,
        session: SessionState,
        interceptor: (any RequestInterceptor)?,
        shouldAutomaticallyResume: Bool?,
        isPlain: Bool = false,
        countsBytes: Bool = false
    ) {
        self.countsBytes = countsBytes
        self.isPlain = isPlain
        self.convertible = convertible
        self.uploadBody = uploadBody
        self.sink = sink
        self.session = session
        stack = TransportOverride.current?.stack(for: session) ?? session.stack
        self.shouldAutomaticallyResume = shouldAutomaticallyResume
        mutable = InlineLocked(RequestState(interceptor: interceptor))
    }

    /// What awaits news of a request that was never started ends with it.
    deinit {
        for finish in mutable.withLock({ $0.handlers.abandon() }) { finish() }
    }

    // MARK: For the pipeline

    /// Forgets what the last attempt brought.
    func prepareForAttempt() {
        if countsBytes { countBytes() }
        // Values of the caller's are not released under the lock.
        let (sending, receiving, _) = mutable.withLock { state in
            state.endTask()
            return (
                state.observers?.sending, state.observers?.receiving,
                Swift.exchange(&state.attempt, with: AttemptState())
            )
        }
        sending?.forget()
        receiving?.forget()
        sink.begin()
    }

    /// Keeps what a response brought.
    func receive(_ response: TransportResponse) throws {
        receiveHead(of: response)
        try sink.receive(response, for: self)
    }

    /// Keeps the head of a response that a transport returned without having announced it.
    func receiveHead(of response: TransportResponse) {
        if let asking = receiveHead(response.head) { run(asking) }
    }

    /// The error that the end is reported with.
    var completionError: AFError? { sink.completionError(for: error) }

    /// The request is over: what was made for it alone goes, and whoever will not be called any more, since they may hold
    /// the request. May be called more than once.
    func cleanUp() {
        mutable.release { state in
            state.deadlineTimer?.cancel()
            return (
                Swift.exchange(&state.settings.headListeners, with: []),
                Swift.exchange(&state.settings.validators, with: []), state.observers?.sending?.takeHandler(),
                state.observers?.receiving?.takeHandler(), state.task.take(), state.inlineRunner.take()
            )
        }
        sink.end()
        uploadBody?.cleanUp()
    }

    /// Records why the attempt failed. Call it before the monitors are notified of the failure.
    ///
    /// - Returns: The request's error, which is another one if the request was ended from outside.
    @discardableResult
    func fail(with failure: AFError) -> AFError {
        // Values of the caller's are not released under the lock.
        let (end, _) = mutable.withLock { ($0.end, Swift.exchange(&$0.attempt.failure, with: failure)) }
        return end ?? failure
    }

    /// Who waits for the response.
    var inlineRunner: (any InlineJobRunner)? { mutable.withLock { $0.inlineRunner } }

    /// Ends the request for good: its error is ``AFError/explicitlyCancelled`` and its handlers are called. Does nothing
    /// to one that is finished.
    @discardableResult
    public func cancel() -> Self {
        cancel(because: .explicitlyCancelled)
        return self
    }
}

extension Request: Hashable {
    /// A request is equal to itself only.
    public static func == (lhs: Request, rhs: Request) -> Bool { lhs === rhs }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

// What Alamofire's requests are handed by their session.
extension Request {
    /// The session's ``Session/rootQueue``.
    public var underlyingQueue: DispatchQueue { session.queues.root }

    /// The session's ``Session/serializationQueue``.
    public var serializationQueue: DispatchQueue { session.queues.shownSerialization }

    /// The header fields that go with every request which has none of the same name.
    package var defaultFields: HTTPFields { (try? stack.options.get())?.defaultFields.fields ?? HTTPFields() }

    /// The names of headers that its session calls sensitive, beside those that are so by their names.
    package var sensitiveHeaders: Set<String> { session.configuration.sensitiveHeaders }

    /// Who is notified of this request's events: the session's monitors, and then those of
    /// ``eventMonitor(_:)-(EventMonitor)``.
    public var eventMonitor: (any EventMonitor)? {
        mutable.withLock { $0.observers?.monitor } ?? session.listeners
    }
}
