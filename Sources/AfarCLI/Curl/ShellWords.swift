/// Splits a command line into words like a POSIX shell or bash, without running or expanding anything.
///
/// Text that a shell would run or replace, such as `$NAME`, `|` or `;`, is an error.
struct ShellWords {
    /// A command line that can't be split.
    struct Issue: Error, Equatable { var message: String }

    private let bytes: [UInt8]
    private var position = 0
    private var words: [String] = []
    /// The current word, or nil between words.
    private var word: [UInt8]?

    /// Returns the words of a pasted command.
    ///
    /// If the text uses `^` like a browser's "Copy as cURL (cmd)", the quoting rules of the Windows command prompt apply.
    /// Otherwise, those of a POSIX shell apply, including `$'…'`.
    static func split(_ text: String) throws(Issue) -> [String] {
        let text = withoutPrompt(text)
        if CommandPromptWords.isLikely(text) { return try CommandPromptWords.split(text) }
        var shell = ShellWords(bytes: Array(text.utf8))
        return try shell.split()
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// Removes the prompt "$ " that documentation prints before a command.
    private static func withoutPrompt(_ text: String) -> Substring {
        let text = text.drop { $0.isWhitespace }
        guard text.hasPrefix("$ ") else { return text }
        return text.dropFirst(2).drop { $0.isWhitespace }
    }

    private mutating func split() throws(Issue) -> [String] {
        while let byte = next() {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"): try endWord()
            case UInt8(ascii: "\r") where peek == UInt8(ascii: "\n"): break
            case UInt8(ascii: "\n"):
                try endWord()
                guard isAtEnd else { throw .init(message: Self.secondCommand) }
                return words
            case UInt8(ascii: "#") where word == nil: skipComment()
            case UInt8(ascii: ";") where isAtEnd:
                try endWord()
                return words
            case UInt8(ascii: "\\"): escape()
            case UInt8(ascii: "'"): try singleQuoted()
            case UInt8(ascii: "\""): try doubleQuoted()
            case UInt8(ascii: "$") where peek == UInt8(ascii: "'"):
                position += 1
                try ansiQuoted()
            case UInt8(ascii: "$"): try dollar()
            case UInt8(ascii: "~") where word == nil: throw .init(message: "~ isn't expanded. Write the whole path.")
            case UInt8(ascii: "`"): throw .init(message: Self.substitution("`…`"))
            case UInt8(ascii: "|"), UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: "<"), UInt8(ascii: ">"),
                UInt8(ascii: "("), UInt8(ascii: ")"):
                throw .init(message: Self.control(operatorText(byte)))
            default: append(byte)
            }
        }
        try endWord()
        return words
    }

    // MARK: - Quoting

    private mutating func escape() {
        guard let byte = next() else { return append(UInt8(ascii: "\\")) }
        if byte == UInt8(ascii: "\r"), peek == UInt8(ascii: "\n") {
            position += 1
        } else if byte != UInt8(ascii: "\n") {
            append(byte)
        }
    }

    private mutating func singleQuoted() throws(Issue) {
        beginWord()
        while let byte = next() {
            if byte == UInt8(ascii: "'") { return }
            append(byte)
        }
        throw .init(message: "The closing quote ' is missing.")
    }

    private mutating func doubleQuoted() throws(Issue) {
        beginWord()
        while let byte = next() {
            switch byte {
            case UInt8(ascii: "\""): return
            case UInt8(ascii: "`"): throw .init(message: Self.substitution("`…`"))
            case UInt8(ascii: "$"): try dollar()
            case UInt8(ascii: "\\"):
                guard let escaped = next() else { break }
                if escaped == UInt8(ascii: "\n") { continue }
                if !"$`\"\\".utf8.contains(escaped) { append(byte) }
                append(escaped)
            default: append(byte)
            }
        }
        throw .init(message: "The closing quote \" is missing.")
    }

    /// Reads the rest of `$'…'`, which browsers use for text with line breaks, quotes or exclamation marks.
    private mutating func ansiQuoted() throws(Issue) {
        beginWord()
        while let byte = next() {
            if byte == UInt8(ascii: "'") { return }
            guard byte == UInt8(ascii: "\\"), let escaped = next() else {
                append(byte)
                continue
            }
            switch escaped {
            case UInt8(ascii: "a"): append(7)
            case UInt8(ascii: "b"): append(8)
            case UInt8(ascii: "e"), UInt8(ascii: "E"): append(27)
            case UInt8(ascii: "f"): append(12)
            case UInt8(ascii: "n"): append(10)
            case UInt8(ascii: "r"): append(13)
            case UInt8(ascii: "t"): append(9)
            case UInt8(ascii: "v"): append(11)
            case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "?"): append(escaped)
            case UInt8(ascii: "x"): try append(number: digits(radix: 16, atMost: 2), after: "x")
            case UInt8(ascii: "u"): try append(scalar: surrogatePair(digits(radix: 16, atMost: 4)))
            case UInt8(ascii: "U"): try append(scalar: digits(radix: 16, atMost: 8))
            case UInt8(ascii: "0")...UInt8(ascii: "7"):
                position -= 1
                try append(number: digits(radix: 8, atMost: 3), after: "")
            default:
                append(byte)
                append(escaped)
            }
        }
        throw .init(message: "The closing quote ' is missing.")
    }

    /// Reads a number, or returns nil if no digit follows.
    private mutating func digits(radix: UInt32, atMost limit: Int) -> UInt32? {
        var value: UInt32?
        var count = 0
        while count < limit, let byte = peek, let digit = Character(Unicode.Scalar(byte)).hexDigitValue,
            digit < radix
        {
            value = (value ?? 0) &* radix &+ UInt32(digit)
            position += 1
            count += 1
        }
        return value
    }

    /// Returns the character of a surrogate pair, which browsers write as two `\u` escapes. Other values are returned unchanged.
    private mutating func surrogatePair(_ value: UInt32?) -> UInt32? {
        guard let high = value, (0xD800..<0xDC00).contains(high), peek == UInt8(ascii: "\\") else { return value }
        let start = position
        position += 1
        if next() == UInt8(ascii: "u"), let low = digits(radix: 16, atMost: 4), (0xDC00..<0xE000).contains(low) {
            return 0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)
        }
        position = start
        return value
    }

    private mutating func append(number: UInt32?, after name: String) throws(Issue) {
        guard let number, number & 0xFF != 0 else { throw .init(message: "$'…\\\(name)…' isn't a character.") }
        append(UInt8(number & 0xFF))
    }

    private mutating func append(scalar: UInt32?) throws(Issue) {
        guard let scalar, scalar != 0, let character = Unicode.Scalar(scalar) else {
            throw .init(message: "$'…\\u…' isn't a character.")
        }
        for byte in String(character).utf8 { append(byte) }
    }

    // MARK: - Text that a shell replaces or runs

    /// Appends a dollar sign. Throws an error if a shell would replace the sign and the text after it.
    private mutating func dollar() throws(Issue) {
        let rest = bytes[position...].prefix(40)
        switch rest.first {
        case UInt8(ascii: "("): throw .init(message: Self.substitution("$(…)"))
        case UInt8(ascii: "{"): throw .init(message: Self.variable(Self.name(in: rest.dropFirst(), braces: true)))
        case let byte? where Self.isNameCharacter(byte) || "?$!@*#-".utf8.contains(byte):
            throw .init(message: Self.variable(Self.name(in: rest, braces: false)))
        default: append(UInt8(ascii: "$"))
        }
    }

    private static func name(in bytes: ArraySlice<UInt8>, braces: Bool) -> String {
        let name = bytes.prefix { isNameCharacter($0) }
        let text = String(decoding: name.isEmpty && !braces ? bytes.prefix(1) : name, as: UTF8.self)
        return braces ? "${\(text)}" : "$\(text)"
    }

    private static func isNameCharacter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || Character(Unicode.Scalar(byte)).isASCII && Character(Unicode.Scalar(byte)).isLetter
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private mutating func operatorText(_ byte: UInt8) -> String {
        let text = Character(Unicode.Scalar(byte))
        return peek == byte ? "\(text)\(text)" : "\(text)"
    }

    private static func variable(_ name: String) -> String {
        "\(name) is a variable. Replace it with its value, or put it in single quotes if it is text."
    }

    private static func substitution(_ text: String) -> String {
        "\(text) runs a command. Replace it with the command's output, or put it in single quotes if it is text."
    }

    static func control(_ text: String) -> String {
        let advice =
            switch text {
            case "|": "For a pipe, write it after the quotes of afar curl."
            case "&": "Put a URL with & in quotes."
            case "<", ">": "Redirect afar curl itself, or use -o."
            default: "Paste one command without it."
            }
        return "\(text) outside of quotes is for a shell, and afar runs no shell. \(advice)"
    }

    static let secondCommand =
        "The text has more than one line without \\ at the end of the line before. Paste one command."

    // MARK: - Bytes

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func next() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// Whether only white space and comments follow.
    private var isAtEnd: Bool {
        var rest = bytes[position...]
        while let byte = rest.first {
            guard byte == UInt8(ascii: "#") else {
                guard " \t\r\n".utf8.contains(byte) else { return false }
                rest.removeFirst()
                continue
            }
            rest = rest.drop { $0 != UInt8(ascii: "\n") }
        }
        return true
    }

    private mutating func skipComment() {
        while let byte = peek, byte != UInt8(ascii: "\n") { position += 1 }
    }

    private mutating func beginWord() { if word == nil { word = [] } }

    private mutating func append(_ byte: UInt8) { word == nil ? word = [byte] : word?.append(byte) }

    private mutating func endWord() throws(Issue) {
        guard let bytes = word else { return }
        word = nil
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .init(
                message: "An argument isn't UTF-8 text. Send these bytes from a file, with --data-binary @FILE.")
        }
        words.append(text)
    }
}

/// Splits a command line of the Windows command prompt, as browsers write it in "Copy as cURL (cmd)".
struct CommandPromptWords {
    /// Returns whether a text seems to be quoted for the Windows command prompt.
    static func isLikely(_ text: Substring) -> Bool {
        guard let first = text.utf8.first(where: { "'\"^".utf8.contains($0) }) else { return false }
        if first == UInt8(ascii: "^") { return true }
        guard first == UInt8(ascii: "\"") else { return false }
        if text.contains(caretsAroundQuote) || text.contains("^&") && hasCaretsInQuotes(text) { return true }
        let lines = text.split(whereSeparator: \.isNewline).dropLast()
        return lines.contains { $0.hasSuffix("^") } && !lines.contains { $0.hasSuffix("\\") }
    }

    /// Returns the words. Applies the command prompt's rules for carets and quotes, and then the C runtime's rules for quotes
    /// and backslashes.
    ///
    /// Earlier versions of Chrome also wrote carets inside of quotes. The command prompt doesn't remove those carets, but they aren't part of
    /// the text.
    static func split(_ text: Substring) throws(ShellWords.Issue) -> [String] {
        let hasCaretsInQuotes = hasCaretsInQuotes(text)
        // The arguments of later versions begin with ^".
        if !hasCaretsInQuotes, text.contains(caretsAroundQuote), !text.contains(" ^\"") {
            throw .init(message: mixedCarets)
        }
        return words(
            try withoutCarets(Array(text.utf8), quotesProtect: !hasCaretsInQuotes),
            areBackslashesDoubled: hasCaretsInQuotes)
    }

    private static let caretsAroundQuote = #"^\^""#

    private static let mixedCarets =
        "Some special characters inside of quotes have carets, and others don't. Copy the command as cURL (bash)."

    /// Returns whether all special characters inside of quotes have carets. A quotation mark with a caret doesn't end the quoted text.
    private static func hasCaretsInQuotes(_ text: Substring) -> Bool {
        var (isQuoted, isEscaped, hasCarets) = (false, false, false)
        for byte in text.utf8 {
            let isSpecial = byte < 0x80 && !plainCharacters.contains(byte)
            if isEscaped {
                isEscaped = false
                hasCarets = hasCarets || isQuoted && isSpecial
            } else if byte == UInt8(ascii: "^") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if isQuoted, isSpecial {
                return false
            }
        }
        return hasCarets && !isQuoted
    }

    /// The characters that Chrome writes without a caret.
    private static let plainCharacters = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-:=+~'/.,?;()*` \t\r\n".utf8)

    private static func withoutCarets(_ bytes: [UInt8], quotesProtect: Bool) throws(ShellWords.Issue) -> [UInt8] {
        var result: [UInt8] = []
        var (index, isQuoted) = (0, false)
        func isLineBreak(_ index: Int) -> Int {
            guard index < bytes.count else { return 0 }
            if bytes[index] == UInt8(ascii: "\n") { return 1 }
            let isPair = bytes[index] == UInt8(ascii: "\r") && index + 1 < bytes.count && bytes[index + 1] == 10
            return isPair ? 2 : 0
        }
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "^") where !isQuoted && isLineBreak(index) > 0:
                // A caret continues the line. The character after the line break is unchanged, even if it is a line break.
                index += isLineBreak(index)
                let length = isLineBreak(index)
                if length > 0 {
                    result.append(UInt8(ascii: "\n"))
                    index += length
                }
            case UInt8(ascii: "^") where !isQuoted:
                if index < bytes.count { result.append(bytes[index]) }
                index += 1
            case UInt8(ascii: "\""):
                if quotesProtect { isQuoted.toggle() }
                result.append(byte)
            case UInt8(ascii: "\r"), UInt8(ascii: "\n"):
                guard bytes[index...].allSatisfy({ " \t\r\n".utf8.contains($0) }) else {
                    throw .init(message: "The text has more than one line without ^ at the end. Paste one command.")
                }
                return result
            case UInt8(ascii: "|"), UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"):
                guard isQuoted else { throw .init(message: ShellWords.control(String(Unicode.Scalar(byte)))) }
                result.append(byte)
            default: result.append(byte)
            }
        }
        return result
    }

    /// - Parameter areBackslashesDoubled: Whether two backslashes are one, also if no quotation mark follows.
    private static func words(_ bytes: [UInt8], areBackslashesDoubled: Bool) -> [String] {
        var words: [String] = []
        var word: [UInt8]?
        var (backslashes, isQuoted) = (0, false)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\\") {
                backslashes += 1
                continue
            }
            let isQuote = byte == UInt8(ascii: "\"")
            if backslashes > 0 {
                word = word ?? []
                let other = areBackslashesDoubled ? (backslashes + 1) / 2 : backslashes
                word?.append(
                    contentsOf: repeatElement(UInt8(ascii: "\\"), count: isQuote ? backslashes / 2 : other))
            }
            let isEscaped = isQuote && backslashes % 2 == 1
            backslashes = 0
            if isQuote, !isEscaped {
                word = word ?? []
                // Two quotes inside of quotes are one character.
                if isQuoted, index < bytes.count, bytes[index] == byte {
                    word?.append(byte)
                    index += 1
                } else {
                    isQuoted.toggle()
                }
            } else if !isQuoted, " \t\n".utf8.contains(byte) {
                if let bytes = word { words.append(String(decoding: bytes, as: UTF8.self)) }
                word = nil
            } else {
                word == nil ? word = [byte] : word?.append(byte)
            }
        }
        if backslashes > 0 { word = (word ?? []) + Array(repeating: UInt8(ascii: "\\"), count: backslashes) }
        if let bytes = word { words.append(String(decoding: bytes, as: UTF8.self)) }
        return words
    }
}
