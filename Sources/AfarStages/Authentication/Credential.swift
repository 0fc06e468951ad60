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

/// Decides about a challenge. It receives the exchange's credential, if that is for the origin of the challenge.
package typealias ChallengeHandler =
    @Sendable (ResponseHead, AuthenticationChallenge, Credential?) async -> ChallengeAnswer

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
