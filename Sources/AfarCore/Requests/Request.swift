public import Foundation
public import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// An object that represents a request, from its creation to the delivery of its response.
///
/// A ``Session`` creates requests. You can use all members from any thread. This class contains the members that all kinds of
/// requests share. `RequestPipeline` determines the order of a request's steps.
public class Request: @unchecked Sendable {
    // Sendable: the lock of `mutable` protects all state.

    /// A closure that changes a `URLRequest` immediately after it was created from the caller's values.
    public typealias RequestModifier = @Sendable (inout URLRequest) throws -> Void

    let session: SessionState
    /// The transport and stages of the request, from its session or from a `TransportOverride`.
    let stack: TransportStack
    let sink: any ResponseSink
    /// The body, if it is separate from the `URLRequest`.
    let uploadBody: UploadBody?
    /// The value that creates the `URLRequest` for each attempt.
    public let convertible: any URLRequestConvertible
    /// Whether the `URLRequest` can be created without running user code.
    let isPlain: Bool
    /// Whether to count bytes from the start. The progress of a long transfer can be requested while the transfer is running.
    private let countsBytes: Bool
    /// A Boolean value that indicates whether the first handler starts the request. If it is nil, the request uses
    /// ``Session/startRequestsImmediately``.
    public let shouldAutomaticallyResume: Bool?
    let mutable: InlineLocked<RequestState>
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

    /// Ends the event streams of a request that was never started.
    deinit {
        for finish in mutable.withLock({ $0.handlers.abandon() }) { finish() }
    }

    /// Discards the state of the last attempt.
    func prepareForAttempt() {
        if countsBytes { countBytes() }
        // Releases the caller's values outside the lock.
        let (sending, receiving, _) = mutable.withLock { state in
            state.endTask()
            return (
                state.observers?.sending, state.observers?.receiving,
                Swift.exchange(&state.attempt, with: AttemptState())
            )
        }
        sending?.reset()
        receiving?.reset()
        sink.begin()
    }

    func receive(_ response: TransportResponse) throws {
        receiveHead(of: response)
        try sink.receive(response, for: self)
    }

    /// Stores the head of a response that a transport returned, unless the transport has already reported the head.
    func receiveHead(of response: TransportResponse) {
        if let work = receiveHead(response.head) { run(work) }
    }

    var completionError: AFError? { sink.completionError(for: error) }

    /// Removes the body's file if necessary, and stops the deadline timer. Also releases the closures that won't be called
    /// again, because they can retain the request. Called after the request has finished. Can be called more than once.
    func cleanUp() {
        mutable.release { state in
            state.deadline?.timer.cancel()
            return (
                Swift.exchange(&state.settings.headListeners, with: []),
                Swift.exchange(&state.settings.validators, with: []), state.observers?.sending?.takeHandler(),
                state.observers?.receiving?.takeHandler(), state.task.take(), state.inlineRunner.take()
            )
        }
        sink.end()
        uploadBody?.cleanUp()
    }

    /// Records the error of the attempt. Must be called before the monitors are notified of the failure.
    ///
    /// - Returns: The request's error. It differs from `failure` if the request was canceled or ended by its session.
    @discardableResult
    func fail(with failure: AFError) -> AFError {
        // Releases the caller's values outside the lock.
        let (end, _) = mutable.withLock { ($0.end, Swift.exchange(&$0.attempt.failure, with: failure)) }
        return end ?? failure
    }

    var inlineRunner: AnyDeferred? { mutable.withLock { $0.inlineRunner } }

    /// Cancels the request. It fails with ``AFError/explicitlyCancelled`` and its handlers are called. Does nothing if the
    /// request has finished.
    @discardableResult
    public func cancel() -> Self {
        cancel(because: .explicitlyCancelled)
        return self
    }
}

extension Request: Hashable {
    /// Returns whether two values are the same request.
    public static func == (lhs: Request, rhs: Request) -> Bool { lhs === rhs }

    /// Hashes the request's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

// Properties of the session. Alamofire's requests also have `underlyingQueue`, `serializationQueue` and `eventMonitor`.
extension Request {
    /// The session's ``Session/rootQueue``.
    public var underlyingQueue: DispatchQueue { session.queues.root }

    /// The session's ``Session/serializationQueue``.
    public var serializationQueue: DispatchQueue { session.queues.exposedSerialization }

    /// The header fields that the session adds to each request. A request's own field of the same name takes precedence.
    public var defaultFields: HTTPFields { (try? stack.options.get())?.defaultFields.fields ?? HTTPFields() }

    /// The names of additional sensitive headers in the session's configuration. ``Redaction`` recognizes the other sensitive
    /// headers.
    public var sensitiveHeaders: Set<String> { session.configuration.sensitiveHeaders }

    /// The configuration of the session that created the request.
    public var sessionConfiguration: SessionConfiguration { session.configuration }

    /// The monitor that receives this request's events. It forwards them to the session's monitors, then to the monitors from
    /// ``eventMonitor(_:)-(EventMonitor)``.
    public var eventMonitor: (any EventMonitor)? {
        mutable.withLock { $0.observers?.monitor } ?? session.listeners
    }
}
