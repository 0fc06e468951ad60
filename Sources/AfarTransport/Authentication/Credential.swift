/// A user name and a password, and the origin that they are for.
package struct Credential: Sendable {
    let user: String
    let password: String
    let origin: Origin

    package init(user: String, password: String, origin: Origin) {
        self.user = user
        self.password = password
        self.origin = origin
    }
}

/// Where an exchange's credential stands in its context; nil when there is none.
package enum CredentialKey: ExchangeContextKey {
    package static let defaultValue: Credential? = nil
}

/// What is done about a challenge.
package enum ChallengeAnswer: Sendable {
    /// It is answered with this.
    case credential(user: String, password: String)
    /// It is not: the response that has it is the last one.
    case none
    /// The exchange is ended.
    case cancel
}

/// Where an exchange has who is asked about each challenge to it, before its credential is used; nil when nobody is.
package enum ChallengeHandlerKey: ExchangeContextKey {
    /// It is told the exchange's credential, if that is for the origin that asks.
    package typealias Handler = @Sendable (ResponseHead, AuthenticationChallenge, Credential?) async -> ChallengeAnswer

    package static let defaultValue: Handler? = nil
}
