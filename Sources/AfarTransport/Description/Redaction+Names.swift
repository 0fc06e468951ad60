extension Redaction {
    /// What the names of credentials have in them, with everything left out that is no letter or digit.
    private static let sensitiveParts = [
        "authorization", "cookie", "token", "secret", "password", "passwd", "passphrase", "passcode", "credential",
        "signature", "bearer", "apikey", "accesskey", "authkey", "privatekey", "signingkey", "subscriptionkey",
        "sessionid", "sessid", "secwebsocketprotocol",
    ].map { Array($0.utf8) }

    /// Words of names, such as `X-Auth-Key` and `user.pwd`, that only mean a credential when they stand alone.
    private static let sensitiveWords = Set(
        ["auth", "dpop", "jwt", "key", "otp", "pass", "pw", "pwd", "session", "sid", "sig"].map { Array($0.utf8) })

    /// Names that are made like those of credentials.
    private static let harmlessNames: Set = [
        "access-control-allow-credentials", "idempotency-key", "sec-websocket-key", "surrogate-key",
    ]

    /// Whether a header or a parameter of this name holds a credential, as far as its name tells.
    package static func isSensitive(_ name: String) -> Bool { isSensitive(Array(name.utf8)[...]) }

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
