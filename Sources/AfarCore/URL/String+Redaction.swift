import Foundation

extension String {
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

    /// This text, which was meant as a URL and perhaps is none, with no user name or password in it.
    ///
    /// In what is no URL nobody can say where a password ends, so everything before the last `@` goes.
    package var redactingUserinfoOfURL: String {
        if let host = URL(string: self)?.host(), !host.isEmpty { return redactingUserinfo }
        guard let at = lastIndex(of: "@") else { return self }
        let scheme = range(of: "://").map { self[..<$0.upperBound] } ?? ""
        return scheme + "***" + self[at...]
    }
}
