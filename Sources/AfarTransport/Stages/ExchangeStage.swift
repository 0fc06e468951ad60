/// A type that can change, answer or observe requests and responses between a session and its transport.
///
/// For example, stages follow redirects, answer challenges, send cookies or wait for a network. A request passes from the first
/// stage to the last, and the response's head or a failure passes from the last stage to the first. Custom stages come after
/// the session's own stages for redirects, authentication, cookies and cache, so custom stages handle every request that is
/// sent. Custom stages come before the stage that secures the connection.
public protocol ExchangeStage: Sendable {
    /// Returns a ``StageRun`` that processes the exchange beginning with this hop. Returns nil if the exchange doesn't need the
    /// stage, so that the stage adds no cost.
    func begin(_ hop: Hop) -> (any StageRun)?
}

/// The part of a stage that processes one exchange.
///
/// The methods can be called on any thread, but only one at a time for each exchange. Heads and failures can be reported on the thread that
/// reads from the network. Return ``Reply/now(_:)`` only if you can compute the answer quickly, because all transfers of that thread wait
/// for it.
public protocol StageRun: Sendable {
    /// Called when a request is about to be sent. The stage can change it, answer it without the network, or fail it.
    func before(_ hop: Hop) -> Reply<RequestAction>

    /// Called when a response's head has arrived. If the answer is ``ResponseAction/pass``, the previous stage is called next.
    ///
    /// This method can be called more than once for a hop. A transport that wraps another one can send a request several times
    /// and return any of the responses. The session doesn't necessarily receive the response that has this head.
    func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction>

    /// Called when a request has failed without a response.
    func failed(_ error: any Error, of hop: Hop) -> Reply<FailureAction>

    /// Called exactly once for each ``before(_:)``, however the request ends.
    ///
    /// - Parameters:
    ///   - hop: The request that ended.
    ///   - result: The result of the exchange; nil if another request is sent instead. The body of a streamed response hasn't arrived yet.
    func ended(_ hop: Hop, with result: Result<TransportResponse, any Error>?)
}

/// A stage's answer, given immediately or asynchronously.
public enum Reply<Answer: Sendable>: Sendable {
    /// The answer.
    case now(Answer)
    /// A closure that returns the answer, for a stage that must suspend or call user code. Stages can suspend only in this closure, which
    /// runs in one of the request's tasks.
    case wait(@Sendable () async -> Answer)
}

/// A stage's action for a request that is about to be sent.
///
/// Large payloads are indirect, because most actions have no payload.
public enum RequestAction: Sendable {
    /// Sends the request unchanged.
    case send
    /// Passes a different request to the following stages and the transport.
    indirect case change(Exchange)
    /// Returns a response without using the network.
    indirect case answer(TransportResponse)
    /// Fails the request without sending it.
    case fail(any Error)
}

/// A stage's action for a response.
public enum ResponseAction: Sendable {
    /// The stage ignores this response.
    case pass
    /// Sends another request instead. The response is discarded. Only the total timeout limits how often this can happen.
    indirect case follow(Exchange, Reason)
    /// Returns another response instead.
    indirect case replace(TransportResponse)
    /// Ends the exchange with an error.
    case fail(any Error)

    /// The reason for sending another request.
    public enum Reason: Sendable {
        /// The server redirected the request.
        indirect case redirect(Redirect)
        /// The server requires authentication.
        case challenge
        /// The response to a conditional request doesn't match the stored response, so the request is sent again without conditions.
        case validation
    }
}

/// A stage's action for a failed request.
public enum FailureAction: Sendable {
    /// Fails with this error.
    case fail(any Error)
    /// Sends the request again. Only the total timeout limits how often this can happen.
    case again
    /// Returns a response instead of the failure.
    indirect case answer(TransportResponse)
}

extension StageRun {
    /// The default implementation sends the request unchanged.
    public func before(_ hop: Hop) -> Reply<RequestAction> { .now(.send) }

    /// The default implementation ignores the response.
    public func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> { .now(.pass) }

    /// The default implementation keeps the error.
    public func failed(_ error: any Error, of hop: Hop) -> Reply<FailureAction> { .now(.fail(error)) }

    /// The default implementation does nothing.
    public func ended(_ hop: Hop, with result: Result<TransportResponse, any Error>?) {}
}
