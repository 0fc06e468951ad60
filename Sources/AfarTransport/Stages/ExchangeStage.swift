/// What may be done about the requests and responses between a request of a session and its transport: redirects are
/// followed, challenges answered, cookies sent, a network waited for.
///
/// Stages are in an order: a request passes from the first to the last, and a response's head or a failure back. Those that are
/// given to a session come after its own redirects, authentication, cookies and cache, so they see each request that goes out, and
/// before what secures its connection.
public protocol ExchangeStage: Sendable {
    /// Takes part in an exchange that begins with a hop; nil when there is nothing to do for it, which costs nothing.
    func begin(_ hop: Hop) -> (any StageRun)?
}

/// One stage's part in an exchange.
///
/// A head and a failure may be reported where the transport reads the network: what is answered ``Reply/now(_:)`` there
/// is quick, as all transfers of that thread wait for it. Any thread may call, for one exchange one at a time.
public protocol StageRun: Sendable {
    /// A request is about to be sent. It may be changed, answered without the network, or kept.
    func before(_ hop: Hop) -> Reply<RequestAction>

    /// Called when a response's head has arrived. If the answer is ``ResponseAction/pass``, the stage before this one is called next.
    ///
    /// A transport around the transport may send a request several times and return any of the responses, so it may be
    /// called more than once for a hop, and tells nothing yet of what becomes of it.
    func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction>

    /// There is no response.
    func failed(_ error: any Error, of hop: Hop) -> Reply<FailureAction>

    /// The request is over, one way or another. Called once for each that ``before(_:)`` was called for.
    ///
    /// - Parameters:
    ///   - hop: The request that is over.
    ///   - result: What came of the exchange, the body of a streamed response still to come; nil when another request
    ///     is sent in this one's stead.
    func ended(_ hop: Hop, with result: Result<TransportResponse, any Error>?)
}

/// An answer of a stage's.
public enum Reply<Answer: Sendable>: Sendable {
    /// The answer.
    case now(Answer)
    /// It takes time, or somebody else's code. The closure is run in a task of the request's, and only there may it wait.
    case wait(@Sendable () async -> Answer)
}

/// What a stage says to a request that is about to be sent. As of all answers, what is large of it is kept apart, since
/// most say nothing.
public enum RequestAction: Sendable {
    /// It is sent as it is.
    case send
    /// The stages after this one and the transport get another request.
    indirect case change(Exchange)
    /// No need to ask the network.
    indirect case answer(TransportResponse)
    /// It is not sent.
    case fail(any Error)
}

/// What a stage says to a response.
public enum ResponseAction: Sendable {
    /// It is no business of this stage's.
    case pass
    /// Another request is sent in its stead. Nobody sees the response. Only the total timeout sets an end to how often.
    indirect case follow(Exchange, Reason)
    /// Another response is returned in its stead.
    indirect case replace(TransportResponse)
    /// The exchange ends with an error.
    case fail(any Error)

    /// Why another request is sent.
    public enum Reason: Sendable {
        /// The server has led elsewhere.
        indirect case redirect(Redirect)
        /// The server wants to know who is asking.
        case challenge
        /// The server was asked whether a kept response holds, and has spoken of another.
        case validation
    }
}

/// What a stage says to a failure.
public enum FailureAction: Sendable {
    /// It stays a failure, of this error.
    case fail(any Error)
    /// The request is sent once more. Only the total timeout sets an end to how often.
    case again
    /// A response is returned after all.
    indirect case answer(TransportResponse)
}

extension StageRun {
    /// Sends the request as it is.
    public func before(_ hop: Hop) -> Reply<RequestAction> { .now(.send) }

    /// Passes.
    public func head(_ head: ResponseHead, of hop: Hop) -> Reply<ResponseAction> { .now(.pass) }

    /// Leaves it at the error.
    public func failed(_ error: any Error, of hop: Hop) -> Reply<FailureAction> { .now(.fail(error)) }

    /// Does nothing.
    public func ended(_ hop: Hop, with result: Result<TransportResponse, any Error>?) {}
}
