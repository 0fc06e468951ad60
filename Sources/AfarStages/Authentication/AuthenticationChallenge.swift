/// One way of proving who is asking that a server offers (RFC 9110, section 11.3).
package struct AuthenticationChallenge: Sendable, Equatable {
    /// The scheme's name in lower case.
    package let scheme: String
    /// The parameters, their names in lower case. Of a name that comes twice the first one counts.
    package private(set) var parameters: [String: String] = [:]
    /// What stands in place of parameters in some schemes.
    private(set) var token: String?

    private init(scheme: String) {
        self.scheme = scheme
    }

    /// The challenges in the values of `WWW-Authenticate`, in order. A value may hold several, and the same comma stands
    /// between two of them and between two parameters (RFC 9110, section 11.6.1). What cannot be read ends its value.
    package static func challenges(in values: [String]) -> [AuthenticationChallenge] {
        values.flatMap { value in
            var scanner = FieldScanner(value)
            var challenges: [AuthenticationChallenge] = []
            while scanner.skipToElement(), let word = scanner.token() {
                if scanner.skipEqualsSign() {
                    // A parameter of the challenge before.
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
    /// Takes the sign between a parameter's name and its value, which may have spaces around it.
    fileprivate mutating func skipEqualsSign() -> Bool {
        var ahead = self
        ahead.skipSpaces()
        guard ahead.skip("=") else { return false }
        ahead.skipSpaces()
        self = ahead
        return true
    }

    /// What stands in place of parameters: nothing but that comes before the next comma.
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
