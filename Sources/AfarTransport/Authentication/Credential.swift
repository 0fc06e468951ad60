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

extension Credential: CustomStringConvertible, CustomReflectable {
    /// Whom it is for. Nothing of the credential stands in a description.
    package var description: String { "credential for \(origin.text)" }

    /// Nothing: what prints an exchange in full must not print a password.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Where an exchange's credential stands in its context; nil when there is none.
package enum CredentialKey: ExchangeContextKey {
    package static let defaultValue: Credential? = nil
}

/// What is done about a challenge.
package enum ChallengeAnswer: Sendable {
    /// It is answered with this.
    case credential(user: String, password: String)
    /// It is answered with the exchange's own credential or that of the session's provider, if there is one.
    case standard
    /// It is not. The next weaker challenge of the response, if there is one, is asked about.
    case reject
    /// None is: the response that has it is the last one.
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

/// How a hop's request answers a challenge; nil when it answers none.
struct AnsweredChallenge: Sendable, CustomReflectable {
    let challenge: AuthenticationChallenge
    let user: String
    let password: String
    /// Whether it repeats an answer, because the server wanted that.
    let isRenewal: Bool

    /// Nothing: what prints an exchange in full must not print a password.
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Where ``AuthenticationStage`` finds what it has answered.
enum AnsweredChallengeKey: ExchangeContextKey {
    static let defaultValue: AnsweredChallenge? = nil
}
