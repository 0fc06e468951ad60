/// A way of proving who is asking (RFC 9110, section 11). ``AuthenticationStage`` takes the first of those it knows that the
/// server offers and that is one for the credential.
protocol AuthenticationScheme: Sendable {
    /// Whether a challenge is one of this scheme, and demands nothing that is unknown here.
    func accepts(_ challenge: AuthenticationChallenge) -> Bool

    /// Whether a credential is one for this scheme.
    func accepts(user: String, password: String) -> Bool

    /// Whether answering takes long: the request's body has to be read for it.
    func readsBody(for challenge: AuthenticationChallenge) -> Bool

    /// Whether a challenge that comes after an answer only wants the same credential once more.
    func renews(_ answered: AuthenticationChallenge, by challenge: AuthenticationChallenge) -> Bool

    /// Puts what answers a challenge into the exchange that is sent next.
    ///
    /// - Throws: ``TransportError/Code-swift.struct/invalidCredential`` when this scheme cannot carry the credential.
    func answer(
        _ challenge: AuthenticationChallenge, user: String, password: String, in exchange: inout Exchange
    ) throws(TransportError)
}

extension AuthenticationScheme {
    func accepts(user: String, password: String) -> Bool { true }

    func readsBody(for challenge: AuthenticationChallenge) -> Bool { false }

    func renews(_ answered: AuthenticationChallenge, by challenge: AuthenticationChallenge) -> Bool { false }
}

extension TransportError {
    /// The error for a credential that a scheme cannot carry. The message must not have any of it.
    package static func invalidCredential(_ message: String, url: String?) -> TransportError {
        TransportError(.invalidCredential, phase: .queued, url: url, message: message)
    }

    /// Refuses credentials with control characters (RFC 7617, section 2): in a header they would end a line, and in C a text.
    static func checkControlCharacters(user: String, password: String, url: String?) throws(TransportError) {
        guard !user.hasControlCharacters, !password.hasControlCharacters else {
            throw .invalidCredential("the user name or the password has control characters", url: url)
        }
    }
}

extension String {
    /// Whether there is a character of Unicode's category Cc.
    var hasControlCharacters: Bool { unicodeScalars.contains { $0.properties.generalCategory == .control } }
}
