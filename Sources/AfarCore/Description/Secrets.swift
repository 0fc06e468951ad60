/// Decides what a person at the next desk may see.
package struct Secrets: Sendable {
    private let areShown: Bool
    /// Headers beside those whose names tell, in lower case.
    private let secretHeaders: Set<String>

    private static let mask = "***"
    private static let schemes: Set = ["basic", "bearer", "digest", "negotiate", "ntlm"]

    /// - Parameter secretHeaders: The names of headers that are secret beside those whose names tell.
    package init(areShown: Bool, secretHeaders: Set<String> = []) {
        self.areShown = areShown
        self.secretHeaders = Set(secretHeaders.map { $0.lowercased() })
    }

    /// A header's value. Of credentials the scheme stays.
    package func value(_ value: String, of name: String) -> String {
        guard !areShown else { return value }
        guard HTTPHeader.isSecret(name) || secretHeaders.contains(name.lowercased()) else {
            return value.redactingSecrets
        }
        let scheme = value.prefix { $0 != " " }
        let isKnown = scheme.count < value.count && Self.schemes.contains(scheme.lowercased())
        return isKnown ? "\(scheme) \(Self.mask)" : Self.mask
    }

    /// A user name and a password.
    package func credential(_ credential: String) -> String { areShown ? credential : Self.mask }

    /// A URL, whose user name and password are hidden.
    package func url(_ url: String) -> String { areShown ? url : url.redactingSecretsOfURL }
}
