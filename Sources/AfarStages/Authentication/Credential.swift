/// A user name and a password, and the origin that they apply to.
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
    /// The origin of the credential. The description never contains the user name or the password.
    package var description: String { "credential for \(origin.text)" }

    /// An empty mirror, so that code that prints an exchange never prints a password.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The answer to a challenge.
package enum ChallengeAnswer: Sendable {
    /// Answers the challenge with these values.
    case credential(user: String, password: String)
    /// Answers the challenge with the exchange's credential or that of the session's provider, if one exists.
    case standard
    /// Doesn't answer this challenge, and continues with the next weaker challenge of the response, if any.
    case reject
    /// Answers no challenge: the exchange ends with this response.
    case none
    /// Cancels the exchange.
    case cancel
}

/// Decides on a challenge. It receives the exchange's credential if that is for the origin of the challenge.
package typealias ChallengeHandler =
    @Sendable (ResponseHead, AuthenticationChallenge, Credential?) async -> ChallengeAnswer

/// The challenge that a hop's request answers, and the credential that it uses.
struct AnsweredChallenge: Sendable, CustomReflectable {
    let challenge: AuthenticationChallenge
    let user: String
    let password: String
    /// Whether this repeats an answer because the server required it.
    let isRenewal: Bool

    /// An empty mirror, so that code that prints an exchange never prints a password.
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
