/// One way of proving who is asking that a server offers (RFC 9110, section 11.3).
package struct AuthenticationChallenge: Sendable, Equatable {
    /// The scheme's name in lower case.
    package let scheme: String
    /// The parameters, their names in lower case. Of a name that comes twice the first one counts.
    private(set) var parameters: [String: String] = [:]
    /// What stands in place of parameters in some schemes.
    private(set) var token: String?

    private init(scheme: String) {
        self.scheme = scheme
    }

    /// The challenges in the values of `WWW-Authenticate`, in order. A value may hold several, and the same comma stands
    /// between two of them and between two parameters (RFC 9110, section 11.6.1). What cannot be read ends its value.
    package static func challenges(in values: [String]) -> [AuthenticationChallenge] {
        values.flatMap { value in
            var scanner = Scanner(value)
            var challenges: [AuthenticationChallenge] = []
            while scanner.skipCommas(), let word = scanner.token() {
                if scanner.equals() {
                    // A parameter of the challenge before.
                    guard !challenges.isEmpty, let text = scanner.value() else { break }
                    challenges[challenges.count - 1].add(text, as: word)
                } else {
                    var challenge = AuthenticationChallenge(scheme: word.lowercased())
                    guard scanner.isAtSpaceOrEnd else { break }
                    challenge.token = scanner.token68()
                    challenges.append(challenge)
                }
            }
            return challenges
        }
    }

    private mutating func add(_ value: String, as name: String) {
        let name = name.lowercased()
        if parameters[name] == nil { parameters[name] = value }
    }
}

/// Reads the pieces of a challenge.
private struct Scanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    /// Whether a scheme may end here.
    var isAtSpaceOrEnd: Bool {
        rest.first.map { Self.isSpace($0) || $0 == UInt8(ascii: ",") } ?? true
    }

    private mutating func skipSpaces() { rest = rest.drop(while: Self.isSpace) }

    /// Returns whether anything follows.
    mutating func skipCommas() -> Bool {
        rest = rest.drop { Self.isSpace($0) || $0 == UInt8(ascii: ",") }
        return !rest.isEmpty
    }

    mutating func token() -> String? {
        let token = rest.prefix { byte in String(UnicodeScalar(byte)).isHTTPToken }
        guard !token.isEmpty else { return nil }
        rest = rest[token.endIndex...]
        return String(Substring(token))
    }

    /// Whether a `=` stands here that a value follows: it may have spaces around it.
    mutating func equals() -> Bool {
        let spaced = rest.drop(while: Self.isSpace)
        guard spaced.first == UInt8(ascii: "=") else { return false }
        rest = spaced.dropFirst()
        skipSpaces()
        return true
    }

    /// A token or a quoted string (RFC 9110, section 5.6.4).
    mutating func value() -> String? {
        guard rest.first == UInt8(ascii: "\"") else { return token() }
        rest = rest.dropFirst()
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            guard byte != UInt8(ascii: "\\") else {
                guard let escaped = rest.popFirst() else { return nil }
                text.append(escaped)
                continue
            }
            text.append(byte)
        }
        return nil
    }

    /// What stands in place of parameters, up to a comma or the end.
    mutating func token68() -> String? {
        let spaced = rest.drop(while: Self.isSpace)
        let word = spaced.prefix(while: Self.isTokenByte)
        let padding = spaced[word.endIndex...].prefix { $0 == UInt8(ascii: "=") }
        let after = spaced[padding.endIndex...].drop(while: Self.isSpace)
        guard !word.isEmpty, after.isEmpty || after.first == UInt8(ascii: ",") else { return nil }
        rest = after
        return String(Substring(spaced[..<padding.endIndex]))
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// RFC 9110, section 11.2.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}
