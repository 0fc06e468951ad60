/// A user name and a password, and the origin that they are for.
struct Credential: Sendable {
    let user: String
    let password: String
    let origin: Origin
}

/// Where an exchange's credential stands in its context; nil when there is none.
enum CredentialKey: ExchangeContextKey {
    static let defaultValue: Credential? = nil
}

/// What is done about a challenge.
enum ChallengeAnswer: Sendable {
    /// It is answered with this.
    case credential(user: String, password: String)
    /// It is not: the response that has it is the last one.
    case none
    /// The exchange is ended.
    case cancel
}

/// Where an exchange has who is asked about each challenge to it, before its credential is used; nil when nobody is.
enum ChallengeHandlerKey: ExchangeContextKey {
    /// It is told the exchange's credential, if that is for the origin that asks.
    typealias Handler = @Sendable (ResponseHead, AuthenticationChallenge, Credential?) async -> ChallengeAnswer

    static let defaultValue: Handler? = nil
}
