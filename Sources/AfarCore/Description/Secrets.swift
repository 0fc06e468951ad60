/// Decides what a person at the next desk may see.
package struct Secrets: Sendable {
    private let areShown: Bool

    private static let mask = "***"
    private static let schemes: Set = ["basic", "bearer", "digest", "negotiate", "ntlm"]

    package init(areShown: Bool) { self.areShown = areShown }

    /// A header's value. Of credentials the scheme stays.
    package func value(_ value: String, of name: String) -> String {
        guard !areShown else { return value }
        guard HTTPHeader.isSecret(name) else { return value.redactingSecrets }
        let scheme = value.prefix { $0 != " " }
        let isKnown = scheme.count < value.count && Self.schemes.contains(scheme.lowercased())
        return isKnown ? "\(scheme) \(Self.mask)" : Self.mask
    }

    /// A user name and a password.
    package func credential(_ credential: String) -> String { areShown ? credential : Self.mask }

    /// A URL, whose user name and password are hidden.
    package func url(_ url: String) -> String { areShown ? url : url.redactingSecretsOfURL }
}
