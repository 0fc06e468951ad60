/// An authentication challenge that a server offers (RFC 9110, section 11.3).
package struct AuthenticationChallenge: Sendable, Equatable {
    /// The scheme's name in lowercase.
    package let scheme: String
    /// The parameters, with their names in lowercase. If a name occurs twice, the first value counts.
    package private(set) var parameters: [String: String] = [:]
    /// The token68 that some schemes use instead of parameters.
    private(set) var token: String?

    private init(scheme: String) {
        self.scheme = scheme
    }

    /// Returns the challenges in the values of `WWW-Authenticate`, in order. A value can contain several challenges, and commas
    /// separate both challenges and parameters (RFC 9110, section 11.6.1). Parsing a value stops at the first syntax error.
    package static func challenges(in values: [String]) -> [AuthenticationChallenge] {
        values.flatMap { value in
            var scanner = FieldScanner(value)
            var challenges: [AuthenticationChallenge] = []
            while scanner.skipToElement(), let word = scanner.token() {
                if scanner.skipEqualsSign() {
                    // A parameter of the previous challenge.
                    guard !challenges.isEmpty, let text = scanner.quotedString() ?? scanner.token() else { break }
                    challenges[challenges.count - 1].add(text, as: word)
                } else {
                    var challenge = AuthenticationChallenge(scheme: word.lowercased())
                    guard scanner.next.map({ $0.isFieldSpace || $0 == UInt8(ascii: ",") }) ?? true else { break }
                    challenge.token = scanner.onlyToken68()
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

extension FieldScanner {
    /// Skips the equals sign between a parameter's name and its value. Spaces can surround it.
    fileprivate mutating func skipEqualsSign() -> Bool {
        var ahead = self
        ahead.skipSpaces()
        guard ahead.skip("=") else { return false }
        ahead.skipSpaces()
        self = ahead
        return true
    }

    /// Scans a token68, if nothing else precedes the next comma.
    fileprivate mutating func onlyToken68() -> String? {
        var ahead = self
        ahead.skipSpaces()
        guard let token = ahead.token68() else { return nil }
        ahead.skipSpaces()
        guard ahead.next == nil || ahead.next == UInt8(ascii: ",") else { return nil }
        self = ahead
        return token
    }
}
