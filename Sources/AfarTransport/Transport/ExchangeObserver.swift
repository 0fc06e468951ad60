/// A type that observes an exchange from inside the transport.
///
/// The methods are called synchronously, in order and one at a time, on the thread that reads from the network. They must be
/// quick and must never run a user's closure: record the event and return.
public protocol ExchangeObserver: AnyObject, Sendable {
    /// Called when an informational (1xx) response has arrived.
    func exchangeDidReceiveInformational(_ head: ResponseHead)
    /// Called when the final response's head has arrived.
    func exchangeDidReceiveHead(_ head: ResponseHead)
    /// Called when bytes of the body were sent, with the total so far and the expected total (nil if unknown).
    func exchangeDidSend(bytes: Int64, expected: Int64?)
    /// Called when decoded bytes of the body have arrived, with the total so far and the total expected from `Content-Length`
    /// (nil if unknown, as for a body that is decoded).
    func exchangeDidReceive(bytes: Int64, expected: Int64?)
    /// Called when a redirect is about to be followed. The head and body of its response are not reported.
    func exchangeWillFollow(_ redirect: Redirect)
    /// Called when a response requested credentials, and the request is about to be sent again with them. The rest of that
    /// response is not reported.
    func exchangeWillAnswerChallenge(in head: ResponseHead)
    /// Called when there is no network and the exchange waits for one (``SessionConfiguration/waitsForConnectivity``). Called
    /// once for each wait.
    func exchangeIsWaitingForConnectivity()
}

extension ExchangeObserver {
    /// The default implementation ignores the event.
    public func exchangeDidReceiveInformational(_ head: ResponseHead) {}
    /// The default implementation ignores the event.
    public func exchangeDidReceiveHead(_ head: ResponseHead) {}
    /// The default implementation ignores the event.
    public func exchangeDidSend(bytes: Int64, expected: Int64?) {}
    /// The default implementation ignores the event.
    public func exchangeDidReceive(bytes: Int64, expected: Int64?) {}
    /// The default implementation ignores the event.
    public func exchangeWillFollow(_ redirect: Redirect) {}
    /// The default implementation ignores the event.
    public func exchangeWillAnswerChallenge(in head: ResponseHead) {}
    /// The default implementation ignores the event.
    public func exchangeIsWaitingForConnectivity() {}
}
