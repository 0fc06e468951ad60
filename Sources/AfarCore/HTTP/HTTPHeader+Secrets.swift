extension HTTPHeader {
    private static let secretNames: Set = ["authorization", "proxy-authorization", "cookie", "set-cookie"]
    /// Parts of the names under which services send keys of their own: X-Api-Key, X-Auth-Token, Client-Secret.
    private static let secretParts = ["api-key", "apikey", "token", "secret", "password", "signature"]

    /// Whether a header of this name holds credentials, as far as its name tells.
    package static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        return secretNames.contains(name) || secretParts.contains(where: name.contains)
    }
}
