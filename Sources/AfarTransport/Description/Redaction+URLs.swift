/// How credentials are found in URLs, and URLs in text.
extension Redaction {
    private typealias Bytes = ArraySlice<UInt8>

    /// How many times over a URL in a URL may be percent-encoded to be looked into.
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

    /// Where the secrets are in a text that is a URL or has some in it.
    ///
    /// - Parameter encoded: How many times over it was percent-encoded.
    private static func secrets(in url: Bytes, encoded: Int = 0) -> [Range<Int>] {
        userinfo(in: url) + parameters(in: url, encoded: encoded)
    }

    /// Ranges may overlap; a mask stands for those that do.
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

    /// What stands between two slashes and the last `@` before the path. More slashes, and backslashes, are two slashes to
    /// many.
    private static func userinfo(in text: Bytes) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var rest = text
        while let slash = rest.firstIndex(where: isSlash) {
            let end = rest[slash...].firstIndex { !isSlash($0) } ?? rest.endIndex
            rest = rest[end...]
            guard end - slash > 1 else { continue }
            let authority = rest.prefix { !endsAuthority($0) }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")), at > authority.startIndex { found.append(end..<at) }
            rest = rest[authority.endIndex...]
        }
        return found
    }

    /// Where the authority begins, or what stands for it, in a text of which it is not clear where that ends; nil where it
    /// is clear.
    private static func unclearAuthority(of url: Bytes) -> Int? {
        // A part of a URL that begins with its path has none.
        if let first = url.first, endsAuthority(first), !url.dropFirst().starts(with: "/".utf8) { return nil }
        let scheme = url.prefix { isLetterOrDigit($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
        let slashes = url[scheme.endIndex...].starts(with: "://".utf8) ? 3 : scheme.isEmpty ? 2 : 0
        guard slashes > 0, url[scheme.endIndex...].prefix(slashes).suffix(2).elementsEqual("//".utf8) else {
            return url.startIndex
        }
        let authority = url[(scheme.endIndex + slashes)...].prefix { !endsAuthority($0) }
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        return isHost(host) && url.allSatisfy(isURLByte) ? nil : authority.startIndex
    }

    /// Whether this can be a host with a port or without.
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
        // What has no digits after its colon may be a user name with a password that begins with a slash.
        let isPort = port.count > 1 && port.first == UInt8(ascii: ":") && port.dropFirst().allSatisfy(\.isDigit)
        return !name.isEmpty && (port.isEmpty || isPort)
    }

    // MARK: Parameters

    /// The values of parameters whose names tell of credentials, or which are URLs with credentials themselves.
    ///
    /// Parameters follow `?`, `&`, `#` or `;`. A value goes on to the next `&` or `#`: a semicolon may be part of it.
    private static func parameters(in url: Bytes, encoded: Int) -> [Range<Int>] {
        let path = url.prefix { !beginsParameter($0) }
        var found = urls(inPath: path, encoded: encoded)
        var rest = url[path.endIndex...]
        var isInPath = true
        while let separator = rest.popFirst() {
            isInPath = isInPath && separator == UInt8(ascii: ";")
            let parameter = rest.prefix { !beginsParameter($0) }
            let (name, value) = divided(parameter)
            let isNamed = name.endIndex < value.startIndex && isSensitive(decoded(name)[...])
            guard isNamed || isSensitiveURL(value, encoded) else {
                rest = rest[value.endIndex...]
                continue
            }
            rest = rest[value.startIndex...].drop { byte in
                byte != UInt8(ascii: "&") && byte != UInt8(ascii: "#") && !(isInPath && endsAuthority(byte))
            }
            found.append(value.startIndex..<rest.startIndex)
            // What follows in the path may have more.
            let path = rest.prefix { !beginsParameter($0) }
            found += urls(inPath: path, encoded: encoded)
            rest = rest[path.endIndex...]
        }
        return found
    }

    /// A parameter's name and value. The sign between them may be encoded; where there is none all is value.
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

    /// Whether this, decoded once more, has a URL with credentials in it.
    private static func isSensitiveURL(_ text: Bytes, _ encoded: Int) -> Bool {
        guard encoded < deepestEncoding, text.contains(UInt8(ascii: "%")) else { return false }
        let decoded = decoded(text)
        return decoded.count < text.count && !secrets(in: decoded[...], encoded: encoded + 1).isEmpty
    }

    // MARK: Bytes

    /// Percent-encoding undone. What is no escape stays.
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

    /// What may follow a URL in a sentence, and shows nothing of a credential that it ends.
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

    private static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }

    private static func beginsParameter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "?") || byte == UInt8(ascii: "&") || byte == UInt8(ascii: "#") || byte == UInt8(ascii: ";")
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool { byte.isDigit || byte.isLetter }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "%"), 0x80...:
            true
        default: isLetterOrDigit(byte)
        }
    }
}
