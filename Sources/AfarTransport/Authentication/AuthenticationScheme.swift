/// A way of proving who is asking. ``AuthenticationStage`` takes the first of those it knows that the server offers.
protocol AuthenticationScheme: Sendable {
    /// The scheme's name in lower case, as in a challenge.
    var name: String { get }

    /// Puts what answers a challenge into the exchange that is sent next.
    ///
    /// - Throws: ``TransportError/Code-swift.struct/invalidCredential`` when this scheme cannot carry the credential.
    func answer(
        _ challenge: AuthenticationChallenge, user: String, password: String, in exchange: inout Exchange
    ) throws(TransportError)
}
