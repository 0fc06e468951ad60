/// Decides what a person at the next desk may see.
package struct Secrets: Sendable {
    private let areShown: Bool

    private static let mask = "***"
    private static let names: Set = ["authorization", "proxy-authorization", "cookie", "set-cookie"]
    /// Parts of the names under which services send keys of their own: X-Api-Key, X-Auth-Token, Client-Secret.
    private static let nameParts = ["api-key", "apikey", "token", "secret", "password"]
    private static let schemes: Set = ["basic", "bearer", "digest", "negotiate", "ntlm"]

    package init(areShown: Bool) { self.areShown = areShown }

    /// A header's value. Of credentials the scheme stays.
    package func value(_ value: String, of name: String) -> String {
        guard !areShown else { return value }
        let name = name.lowercased()
        guard Self.names.contains(name) || Self.nameParts.contains(where: name.contains) else {
            return value.redactingUserinfo
        }
        let scheme = value.prefix { $0 != " " }
        let isKnown = scheme.count < value.count && Self.schemes.contains(scheme.lowercased())
        return isKnown ? "\(scheme) \(Self.mask)" : Self.mask
    }

    /// A URL, whose user name and password are hidden.
    package func url(_ url: String) -> String { areShown ? url : url.redactingUserinfoOfURL }
}
