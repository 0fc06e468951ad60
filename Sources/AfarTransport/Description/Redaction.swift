/// Hides credentials in text that is shown to people. In headers, URLs and text that contains URLs, it replaces them with `***`.
///
/// All comparisons are of bytes. For Swift, an `@` with a combining accent is a different `Character`; for a server, it is an
/// `@`.
public struct Redaction: Sendable {
    /// Hides all credentials that are recognized by name or position.
    public static let standard = Redaction()

    static let mask = "***"

    private let showsSecrets: Bool
    private let sensitiveHeaders: SensitiveHeaders

    private static let schemes: Set = ["basic", "bearer", "digest", "negotiate", "ntlm"]
    /// Authentication schemes whose tokens servers send too.
    private static let tokenSchemes: Set = ["bearer", "negotiate", "ntlm"]
    private static let headersOfOneURL: Set = ["location", "content-location", "referer"]

    /// Creates a redaction.
    ///
    /// - Parameters:
    ///   - showsSecrets: Whether to hide nothing. The default is false.
    ///   - sensitiveHeaders: Names of additional sensitive headers, besides those with sensitive names.
    public init(showsSecrets: Bool = false, sensitiveHeaders: Set<String> = []) {
        self.showsSecrets = showsSecrets
        self.sensitiveHeaders = SensitiveHeaders(sensitiveHeaders)
    }

    /// Returns a header's value for display. For credentials, only the scheme is kept. In other values, URLs and tokens after a
    /// scheme are redacted.
    public func value(_ value: String, of name: String) -> String {
        guard !showsSecrets else { return value }
        guard sensitiveHeaders.contains(name) else {
            return Self.headersOfOneURL.contains(name.asciiLowercased) ? url(value) : text(hidingTokens(in: value))
        }
        guard let space = value.utf8.firstIndex(of: UInt8(ascii: " ")) else { return Self.mask }
        let scheme = value[..<space]
        return Self.schemes.contains(scheme.lowercased()) ? "\(scheme) \(Self.mask)" : Self.mask
    }

    /// Hides list elements that consist of a scheme and a token, such as `Negotiate YII=`.
    private func hidingTokens(in value: String) -> String {
        let elements = FieldScanner.elements(of: [value])
        let shown = elements.map { element in
            var scanner = FieldScanner(element)
            guard let scheme = scanner.token(), Self.tokenSchemes.contains(scheme.asciiLowercased) else {
                return element
            }
            scanner.skipSpaces()
            guard scanner.token68() != nil, scanner.next == nil else { return element }
            return "\(scheme) \(Self.mask)"
        }
        return shown == elements ? value : shown.joined(separator: ", ")
    }

    /// Returns a user name and password for display.
    package func credential(_ credential: String) -> String { showsSecrets ? credential : Self.mask }

    /// Returns text that is, or was meant to be, a URL, without its user name and password, and without the values of parameters
    /// with sensitive names in its path, query and fragment.
    ///
    /// In an invalid URL, the end of a password is unclear, so everything before the last `@` is hidden.
    public func url(_ url: String) -> String {
        guard !showsSecrets, Self.mayHaveSecrets(url) else { return url }
        return String(decoding: Self.redactedURL(Array(url.utf8)[...]), as: UTF8.self)
    }

    /// Returns text with each URL in it redacted as by ``url(_:)``. White space, `"`, `<` and `>` end a URL. An apostrophe
    /// doesn't, because a password can contain one.
    public func text(_ text: String) -> String {
        guard !showsSecrets, Self.mayHaveSecrets(text) else { return text }
        return String(decoding: Self.redactedText(Array(text.utf8)[...]), as: UTF8.self)
    }

    /// Returns text on one line, with URLs redacted as by ``text(_:)`` and terminal control characters made visible.
    package func line(_ text: String) -> String { TerminalText.line(self.text(text)) }

    private static func mayHaveSecrets(_ text: String) -> Bool {
        text.utf8.contains { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "%") }
    }
}

extension Redaction {
    /// Parts of credential names, without characters other than letters and digits.
    private static let sensitiveParts = [
        "authorization", "cookie", "token", "secret", "password", "passwd", "passphrase", "passcode", "credential",
        "signature", "bearer", "apikey", "accesskey", "authkey", "privatekey", "signingkey", "subscriptionkey",
        "sessionid", "sessid", "secwebsocketprotocol",
    ].map { Array($0.utf8) }

    /// Words that indicate a credential only as a separate word of a name, as in `X-Auth-Key` and `user.pwd`.
    private static let sensitiveWords = Set(
        ["auth", "dpop", "jwt", "key", "otp", "pass", "pw", "pwd", "session", "sid", "sig"].map { Array($0.utf8) })

    /// Names that look like credential names but aren't.
    private static let harmlessNames: Set = [
        "access-control-allow-credentials", "idempotency-key", "sec-websocket-key", "surrogate-key",
    ]

    /// Whether the name of a header or parameter indicates a credential.
    public static func isSensitive(_ name: String) -> Bool { isSensitive(Array(name.utf8)[...]) }

    static func isSensitive(_ name: ArraySlice<UInt8>) -> Bool {
        var joined: [UInt8] = []
        var word: [UInt8] = []
        var hasSensitiveWord = false
        func endWord() {
            while let last = word.last, last.isDigit { word.removeLast() }
            hasSensitiveWord = hasSensitiveWord || sensitiveWords.contains(word)
            word.removeAll(keepingCapacity: true)
        }
        for (index, byte) in zip(name.indices, name) {
            let previous = index > name.startIndex ? name[name.index(before: index)] : 0
            let next = name.index(after: index) < name.endIndex ? name[name.index(after: index)] : 0
            let isUppercase = isUppercase(byte)
            guard isUppercase || isLowercase(byte) || byte.isDigit else {
                endWord()
                continue
            }
            // "apiKey", "s3Key", "DBPass"
            if isUppercase,
                isLowercase(previous) || previous.isDigit || (Self.isUppercase(previous) && isLowercase(next))
            {
                endWord()
            }
            joined.append(isUppercase ? byte | 0x20 : byte)
            word.append(isUppercase ? byte | 0x20 : byte)
        }
        endWord()
        guard hasSensitiveWord || hasSensitivePart(joined) else { return false }
        return !harmlessNames.contains(String(decoding: name, as: UTF8.self).lowercased())
    }

    private static func hasSensitivePart(_ name: [UInt8]) -> Bool {
        name.indices.contains { start in
            sensitiveParts.contains { $0[0] == name[start] && name[start...].starts(with: $0) }
        }
    }

    private static func isUppercase(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
    private static func isLowercase(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
}
