/// Observes an exchange from inside the transport.
///
/// The methods are called one at a time and in order, synchronously, wherever the transport reads the network. So they
/// must be quick and must never run a user's closure; note what happened and leave.
public protocol ExchangeObserver: AnyObject, Sendable {
    /// An informational (1xx) response arrived.
    func exchangeDidReceiveInformational(_ head: ResponseHead)
    /// The final response's head arrived.
    func exchangeDidReceiveHead(_ head: ResponseHead)
    /// Body bytes were sent: in all so far, and expected in all (nil when unknown).
    func exchangeDidSend(bytes: Int64, expected: Int64?)
    /// Decoded body bytes arrived: in all so far, and expected in all by Content-Length (nil when unknown, as
    /// for a body that is decoded).
    func exchangeDidReceive(bytes: Int64, expected: Int64?)
    /// A redirect is followed now. Its response's head and body are not reported.
    func exchangeWillFollow(_ redirect: Redirect)
    /// A response asked for credentials, and the request is sent again with them now. The rest of that response is not
    /// reported.
    func exchangeWillAnswerChallenge(in head: ResponseHead)
    /// There is no network, and the exchange waits for one (``SessionConfiguration/waitsForConnectivity``). Called once for
    /// each wait.
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
