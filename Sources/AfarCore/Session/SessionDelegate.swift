#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A session's event hub: it knows which requests are running, and tells whoever set a closure what happens to them.
///
/// The closures are called one at a time on the session's ``Session/rootQueue``, beside what the session does anyway. Set
/// them before the session starts requests. Nothing is made or called for an event without a closure. Give each session
/// a delegate of its own.
open class SessionDelegate: @unchecked Sendable {
    // Sendable because the closures are to be set before use, and the rest is behind a lock.

    /// A response's head arrived.
    public var requestDidReceiveResponse: (@Sendable (_ request: Request, _ response: HTTPURLResponse) -> Void)?
    /// Bytes of a request's body were sent: in all so far, and expected in all (nil when unknown).
    public var requestDidSendBody: (@Sendable (_ request: Request, _ bytes: Int64, _ expected: Int64?) -> Void)?
    /// Bytes of a response's body arrived: in all so far, and expected in all (nil when unknown).
    public var requestDidReceiveBody: (@Sendable (_ request: Request, _ bytes: Int64, _ expected: Int64?) -> Void)?
    /// An attempt is over and was measured.
    public var requestDidGatherMetrics: (@Sendable (_ request: Request, _ metrics: TaskMetrics) -> Void)?
    /// An attempt is over; an error is what the network, or a validator, said.
    public var requestDidCompleteAttempt: (@Sendable (_ request: Request, _ error: AFError?) -> Void)?
    /// The request is over and its handlers have been released.
    public var requestDidFinish: (@Sendable (_ request: Request) -> Void)?

    private let running = Locked<[ObjectIdentifier: Request]>([:])

    /// Makes a delegate that listens to nothing.
    public init() {}

    /// The requests that have been started and are not over.
    public var runningRequests: [Request] { running.withLock { Array($0.values) } }

    // MARK: For the pipeline

    func didStart(_ request: Request) {
        running.withLock { $0[ObjectIdentifier(request)] = request }
    }

    func didFinish(_ request: Request) {
        running.withLock { $0[ObjectIdentifier(request)] = nil }
        if let requestDidFinish { request.context.rootQueue.async { requestDidFinish(request) } }
    }

    func didCompleteAttempt(of request: Request, error: AFError?) {
        let queue = request.context.rootQueue
        if let requestDidGatherMetrics, let metrics = request.metrics {
            queue.async { requestDidGatherMetrics(request, metrics) }
        }
        if let requestDidCompleteAttempt { queue.async { requestDidCompleteAttempt(request, error) } }
    }

    func endRequests(of context: SessionContext, with error: AFError) {
        for request in runningRequests where request.context === context { request.end(with: error) }
    }

    /// Who listens to an exchange of this request; nil when nobody does.
    func observer(of request: Request) -> (any ExchangeObserver)? {
        guard
            requestDidReceiveResponse != nil || requestDidSendBody != nil || requestDidReceiveBody != nil
                || request.showsProgress
        else { return nil }
        return ExchangeEvents(request: request, delegate: self)
    }
}

/// Carries an exchange's events from the transport to its request's progress and the delegate's closures.
private final class ExchangeEvents: ExchangeObserver {
    private let request: Request
    private let delegate: SessionDelegate

    init(request: Request, delegate: SessionDelegate) {
        self.request = request
        self.delegate = delegate
    }

    func exchangeDidReceiveHead(_ head: ResponseHead) {
        guard let closure = delegate.requestDidReceiveResponse else { return }
        request.context.rootQueue.async { [request] in
            if let response = head.httpURLResponse { closure(request, response) }
        }
    }

    func exchangeWillFollow(_ redirect: Redirect) { request.didFollow(redirect) }

    func exchangeDidSend(bytes: Int64, expected: Int64?) {
        request.didSend(bytes: bytes, expected: expected)
        guard let closure = delegate.requestDidSendBody else { return }
        request.context.rootQueue.async { [request] in closure(request, bytes, expected) }
    }

    func exchangeDidReceive(bytes: Int64, expected: Int64?) {
        request.didReceive(bytes: bytes, expected: expected)
        guard let closure = delegate.requestDidReceiveBody else { return }
        request.context.rootQueue.async { [request] in closure(request, bytes, expected) }
    }
}
