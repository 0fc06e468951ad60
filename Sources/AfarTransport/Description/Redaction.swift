/// Hides credentials in text that is shown to people. Replaces them with `***` in headers, in URLs, and in text that contains URLs.
///
/// A redaction compares bytes, not `Character`s. In Swift, an `@` with a combining accent isn't equal to `@`, but servers read it as `@`.
public struct Redaction: Sendable {
    /// Hides all credentials that are recognized by name or position.
    public static let standard = Redaction()

    static let mask = "***"

    private let showsSecrets: Bool
    private let sensitiveHeaders: SensitiveHeaders

    private static let schemes: Set = ["basic", "bearer", "digest", "negotiate", "ntlm"]
    /// Authentication schemes in which both clients and servers send tokens.
    private static let tokenSchemes: Set = ["bearer", "negotiate", "ntlm"]
    private static let headersOfOneURL: Set = ["location", "content-location", "referer"]

    /// Creates a redaction.
    ///
    /// - Parameters:
    ///   - showsSecrets: Whether to leave credentials visible. The default is false.
    ///   - sensitiveHeaders: Additional headers to treat as sensitive. Headers that Afar recognizes by their names are always
    ///     included.
    public init(showsSecrets: Bool = false, sensitiveHeaders: Set<String> = []) {
        self.showsSecrets = showsSecrets
        self.sensitiveHeaders = SensitiveHeaders(sensitiveHeaders)
    }

    /// Returns a header's value for display. If the header is sensitive, hides everything except a known authentication scheme. In any
    /// other header, hides tokens that follow a scheme, and redacts URLs.
    public func value(_ value: String, of name: String) -> String {
        guard !showsSecrets else { return value }
        guard sensitiveHeaders.contains(name) else {
            return Self.headersOfOneURL.contains(name.asciiLowercased) ? url(value) : text(hidingTokens(in: value))
        }
        guard let space = value.utf8.firstIndex(of: UInt8(ascii: " ")) else { return Self.mask }
        let scheme = value[..<space]
        return Self.schemes.contains(scheme.lowercased()) ? "\(scheme) \(Self.mask)" : Self.mask
    }

    /// Hides the tokens in list elements that consist of a scheme and a token, such as `Negotiate YII=`.
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

    /// Returns a URL for display. Hides the user name, the password, and the values of parameters with sensitive names in the path, query
    /// and fragment.
    ///
    /// The text can be an invalid URL. If it is unclear where its password ends, everything before the last `@` is hidden.
    public func url(_ url: String) -> String {
        guard !showsSecrets, Self.canContainSecrets(url) else { return url }
        return String(decoding: Self.redactedURL(Array(url.utf8)[...]), as: UTF8.self)
    }

    /// Returns text in which each URL is redacted as in ``url(_:)``. White space, `"`, `<` and `>` end a URL. An apostrophe doesn't end a
    /// URL, because a password can contain one.
    public func text(_ text: String) -> String {
        guard !showsSecrets, Self.canContainSecrets(text) else { return text }
        return String(decoding: Self.redactedText(Array(text.utf8)[...]), as: UTF8.self)
    }

    /// Returns text as a single line. URLs are redacted as in ``text(_:)``, and terminal control characters are made visible.
    package func line(_ text: String) -> String { TerminalText.line(self.text(text)) }

    private static func canContainSecrets(_ text: String) -> Bool {
        text.utf8.contains { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "%") }
    }
}

extension Redaction {
    /// Parts of credential names. Names are compared without separators, so the parts contain only letters and digits.
    private static let sensitiveParts = [
        "authorization", "cookie", "token", "secret", "password", "passwd", "passphrase", "passcode", "credential",
        "signature", "bearer", "apikey", "accesskey", "authkey", "privatekey", "signingkey", "subscriptionkey",
        "sessionid", "sessid", "secwebsocketprotocol", "assertion", "codeverifier", "devicecode",
    ].map { Array($0.utf8) }

    /// Words that indicate a credential only if they are a separate word of the name, as in `X-Auth-Key` and `user.pwd`.
    private static let sensitiveWords = Set(
        ["auth", "dpop", "jwt", "key", "otp", "pass", "pw", "pwd", "session", "sid", "sig"].map { Array($0.utf8) })

    /// Names that look like credential names but aren't.
    private static let harmlessNames: Set = [
        "access-control-allow-credentials", "idempotency-key", "sec-websocket-key", "surrogate-key",
    ]

    /// Returns a Boolean value that indicates whether the name of a header or parameter suggests a credential.
    public static func isSensitive(_ name: String) -> Bool { isSensitive(Array(name.utf8)[...]) }

    /// Returns a Boolean value that indicates whether the name of a parameter in a query or form suggests a credential. Besides the
    /// names that are sensitive anywhere, this includes `code`, the authorization code of OAuth (RFC 6749, section 4.1.2).
    public static func isSensitiveParameter(_ name: String) -> Bool { isSensitiveParameter(Array(name.utf8)[...]) }

    private static func isSensitiveParameter(_ name: ArraySlice<UInt8>) -> Bool {
        name.lazy.map(\.asciiLowercased).elementsEqual("code".utf8) || isSensitive(name)
    }

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
            guard byte.isLetter || byte.isDigit else {
                endWord()
                continue
            }
            // Splits "apiKey", "s3Key" and "DBPass".
            if byte.isCapital, previous.isSmallLetter || previous.isDigit || (previous.isCapital && next.isSmallLetter)
            {
                endWord()
            }
            joined.append(byte.asciiLowercased)
            word.append(byte.asciiLowercased)
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
}

// MARK: - Sensitive headers

/// The headers that hold credentials: headers with sensitive names, and explicitly listed headers. These headers are hidden in descriptions
/// and dropped on redirects to another origin.
package struct SensitiveHeaders: Sendable {
    /// The explicitly listed names, in lowercase.
    private let names: Set<String>

    /// Creates the set of sensitive headers.
    ///
    /// - Parameter names: Names of additional sensitive headers, besides those with sensitive names. Case doesn't matter.
    package init(_ names: Set<String> = []) {
        self.names = Set(names.map(\.asciiLowercased))
    }

    package func contains(_ name: String) -> Bool {
        Redaction.isSensitive(name) || names.contains(name.asciiLowercased)
    }
}

// MARK: - URLs

/// Finds credentials in URLs, and URLs in text.
extension Redaction {
    private typealias Bytes = ArraySlice<UInt8>

    /// The maximum number of percent-encoding layers around a nested URL. URLs with more layers aren't inspected.
    private static let deepestEncoding = 3

    static func redactedURL(_ url: ArraySlice<UInt8>) -> [UInt8] {
        var secrets = secrets(in: url)
        if let start = unclearAuthority(of: url), let at = url[start...].lastIndex(of: UInt8(ascii: "@")) {
            secrets.append(start..<at)
        }
        return masking(secrets, in: url)
    }

    static func redactedText(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var found: [Range<Int>] = []
        var rest = text
        while !rest.isEmpty {
            let word = rest.prefix { !endsWord($0) }
            let end = word.lastIndex { !isPunctuation($0) }.map { $0 + 1 } ?? word.startIndex
            found += secrets(in: word[..<end])
            rest = rest[word.endIndex...].dropFirst()
        }
        return masking(found, in: text)
    }

    /// Returns the ranges of the secrets in a URL or in text that contains URLs.
    ///
    /// - Parameter encoded: The number of percent-encoding layers that have been removed.
    private static func secrets(in url: Bytes, encoded: Int = 0) -> [Range<Int>] {
        userinfo(in: url) + parameters(in: url, encoded: encoded)
    }

    /// Replaces the ranges with masks. Ranges can overlap; overlapping ranges share one mask.
    private static func masking(_ secrets: [Range<Int>], in text: Bytes) -> [UInt8] {
        var shown: [UInt8] = []
        shown.reserveCapacity(text.count)
        var end = text.startIndex - 1
        for secret in secrets.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if secret.lowerBound > end {
                shown += text[max(end, text.startIndex)..<secret.lowerBound]
                shown += mask.utf8
            }
            end = max(end, secret.upperBound)
        }
        return shown + text[max(end, text.startIndex)...]
    }

    // MARK: User names and passwords

    /// Returns the ranges of user names and passwords. Each range begins after `//` and ends at the last `@` before the path. Many parsers
    /// read backslashes as slashes, and accept more than two slashes.
    private static func userinfo(in text: Bytes) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var rest = text
        while let slash = rest.firstIndex(where: isSlash) {
            let end = rest[slash...].firstIndex { !isSlash($0) } ?? rest.endIndex
            rest = rest[end...]
            guard end - slash > 1 else { continue }
            let authority = rest.prefix { !$0.endsAuthority }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")), at > authority.startIndex { found.append(end..<at) }
            rest = rest[authority.endIndex...]
        }
        return found
    }

    /// Returns the start of the authority if it is unclear where the authority ends, otherwise nil. If the text has no `//`, all of
    /// it could be an authority, so this returns the start of the text. If the text begins with a path, this returns nil.
    private static func unclearAuthority(of url: Bytes) -> Int? {
        // No authority: the reference begins with its path.
        if let first = url.first, first.endsAuthority, !url.dropFirst().starts(with: "/".utf8) { return nil }
        let scheme = url.prefix { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
        let slashes = url[scheme.endIndex...].starts(with: "://".utf8) ? 3 : scheme.isEmpty ? 2 : 0
        guard slashes > 0, url[scheme.endIndex...].prefix(slashes).suffix(2).elementsEqual("//".utf8) else {
            return url.startIndex
        }
        let authority = url[(scheme.endIndex + slashes)...].prefix { !$0.endsAuthority }
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        return isHost(host) && url.allSatisfy(isURLByte) ? nil : authority.startIndex
    }

    /// Whether the text can be a host, with or without a port.
    private static func isHost(_ text: Bytes) -> Bool {
        let name: Bytes
        if text.first == UInt8(ascii: "[") {
            guard let close = text.firstIndex(of: UInt8(ascii: "]")) else { return false }
            name = text[...close]
        } else {
            name = text.prefix { $0 != UInt8(ascii: ":") }
            guard name.allSatisfy(isHostByte) else { return false }
        }
        let port = text[name.endIndex...]
        // If no digits follow the colon, the text can be a user name, and the password can begin with a slash.
        let isPort = port.count > 1 && port.first == UInt8(ascii: ":") && port.dropFirst().allSatisfy(\.isDigit)
        return !name.isEmpty && (port.isEmpty || isPort)
    }

    // MARK: Parameters

    /// Returns the values of parameters that have sensitive names or contain URLs with credentials.
    ///
    /// Parameters follow `?`, `&`, `#` or `;`. A value continues to the next `&` or `#`, because it can contain a semicolon.
    private static func parameters(in url: Bytes, encoded: Int) -> [Range<Int>] {
        let path = url.prefix { !beginsParameter($0) }
        var found = urls(inPath: path, encoded: encoded)
        var rest = url[path.endIndex...]
        var isInPath = true
        while let separator = rest.popFirst() {
            isInPath = isInPath && separator == UInt8(ascii: ";")
            let parameter = rest.prefix { !beginsParameter($0) }
            let (name, value) = divided(parameter)
            let isNamed = name.endIndex < value.startIndex && isSensitiveParameter(decoded(name)[...])
            guard isNamed || isSensitiveURL(value, encoded) else {
                rest = rest[value.endIndex...]
                continue
            }
            rest = rest[value.startIndex...].drop { byte in
                byte != UInt8(ascii: "&") && byte != UInt8(ascii: "#") && !(isInPath && byte.endsAuthority)
            }
            found.append(value.startIndex..<rest.startIndex)
            let path = rest.prefix { !beginsParameter($0) }
            found += urls(inPath: path, encoded: encoded)
            rest = rest[path.endIndex...]
        }
        return found
    }

    /// Splits a parameter into name and value. The `=` can be percent-encoded. Without it, the whole parameter is the value.
    private static func divided(_ parameter: Bytes) -> (name: Bytes, value: Bytes) {
        var rest = parameter
        while let index = rest.firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "%") }) {
            let name = parameter[..<index]
            rest = rest[index...].dropFirst()
            if parameter[index] == UInt8(ascii: "=") { return (name, rest) }
            if rest.starts(with: "3D".utf8) || rest.starts(with: "3d".utf8) { return (name, rest.dropFirst(2)) }
        }
        return (parameter.prefix(0), parameter)
    }

    private static func urls(inPath path: Bytes, encoded: Int) -> [Range<Int>] {
        guard path.contains(UInt8(ascii: "%")) else { return [] }
        return path.split(separator: UInt8(ascii: "/")).filter { isSensitiveURL($0, encoded) }.map(\.indices)
    }

    /// Whether the text contains a URL with credentials after one more percent-decoding.
    private static func isSensitiveURL(_ text: Bytes, _ encoded: Int) -> Bool {
        guard encoded < deepestEncoding, text.contains(UInt8(ascii: "%")) else { return false }
        let decoded = decoded(text)
        return decoded.count < text.count && !secrets(in: decoded[...], encoded: encoded + 1).isEmpty
    }

    // MARK: Bytes

    /// Decodes percent-encoded bytes. Invalid escapes stay unchanged.
    private static func decoded(_ text: Bytes) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, let high = rest[rest.startIndex].hexDigitValue,
                let low = rest[rest.startIndex + 1].hexDigitValue
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    /// Whether the byte is punctuation that can follow a URL in a sentence. Showing it reveals nothing, even if it is actually
    /// the last character of a credential.
    private static func isPunctuation(_ byte: UInt8) -> Bool {
        switch Unicode.Scalar(byte) {
        case ".", ",", ":", ";", "!", "?", "'", ")", "]", "}": true
        default: false
        }
    }

    private static func endsWord(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
    }

    private static func isURLByte(_ byte: UInt8) -> Bool {
        switch Unicode.Scalar(byte) {
        case "\u{0}"..." ", "\"", "<", ">", "\\", "^", "`", "{", "|", "}", "\u{7F}": false
        default: true
        }
    }

    private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }

    private static func beginsParameter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "?") || byte == UInt8(ascii: "&") || byte == UInt8(ascii: "#") || byte == UInt8(ascii: ";")
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "%"), 0x80...:
            true
        default: byte.isLetter || byte.isDigit
        }
    }
}
