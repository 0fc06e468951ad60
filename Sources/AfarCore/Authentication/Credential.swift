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
