import Foundation

extension String {
    /// This text without the user names, passwords and tokens of the URLs in it.
    package var redactingSecrets: String { redactingUserinfo.redactingSecretParameters }

    /// This text with the values hidden of those parameters, in queries and fragments, whose names tell of secrets, as `access_token=` does.
    private var redactingSecretParameters: String {
        guard contains("="), contains(where: { "?#".contains($0) }) else { return self }
        var rest = self[...]
        var redacted = ""
        while let equals = rest.firstIndex(of: "=") {
            let before = rest[..<equals]
            redacted += rest[...equals]
            rest = rest[rest.index(after: equals)...]
            guard let start = before.lastIndex(where: { "?&#".contains($0) }) else { continue }
            let name = String(before[before.index(after: start)...])
            guard !name.contains(where: \.isWhitespace), HTTPHeader.isSecret(name.replacing("_", with: "-"))
            else { continue }
            redacted += "***"
            rest = rest.drop { !$0.isWhitespace && !"&#\"'<>".contains($0) }
        }
        return redacted + rest
    }

    /// This text with the user name and password taken out of every URL in it.
    package var redactingUserinfo: String {
        guard contains("@"), contains("://") else { return self }
        var rest = self[...]
        var redacted = ""
        while let separator = rest.range(of: "://") {
            redacted += rest[..<separator.upperBound]
            rest = rest[separator.upperBound...]
            let authority = rest.prefix { !$0.isWhitespace && !"/?#\"<>".contains($0) }
            if let at = authority.lastIndex(of: "@") {
                redacted += "***"
                rest = rest[at...]
            }
        }
        return redacted + rest
    }

    /// This text, which was meant as a URL and perhaps is none, with no user name, password or token in it.
    ///
    /// In what is no URL nobody can say where a password ends, so everything before the last `@` goes.
    package var redactingSecretsOfURL: String {
        if let host = URL(string: self)?.host(), !host.isEmpty { return redactingSecrets }
        guard let at = lastIndex(of: "@") else { return redactingSecretParameters }
        let scheme = range(of: "://").map { self[..<$0.upperBound] } ?? ""
        return (scheme + "***" + self[at...]).redactingSecretParameters
    }
}
