/// Reads the value of a header field from the front, piece by piece: tokens, quoted strings, parameters, the elements of
/// lists (RFC 9110, sections 5.6 and 11.2). It looks at bytes, so a comma is one whatever combines with it.
///
/// What returns nil or false has taken nothing.
package struct FieldScanner {
    private var rest: Substring.UTF8View

    package init(_ value: some StringProtocol) {
        rest = Substring(value).utf8
    }

    // MARK: Characters

    /// The byte that comes next; nil at the end.
    package var next: UInt8? { rest.first }

    package mutating func skipSpaces() { rest = rest.drop(while: \.isFieldSpace) }

    /// Takes a character if it comes next.
    package mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    // MARK: Words

    /// A token (section 5.6.2).
    package mutating func token() -> String? { taken(while: \.isTokenCharacter) }

    /// What stands in place of parameters in credentials and challenges (section 11.2).
    package mutating func token68() -> String? {
        guard let word = taken(while: \.isToken68Character) else { return nil }
        return word + (taken { $0 == UInt8(ascii: "=") } ?? "")
    }

    /// What a quoted string stands for (section 5.6.4).
    package mutating func quotedString() -> String? {
        var ahead = self
        guard ahead.skip("\"") else { return nil }
        let text = ahead.textUpToQuote()
        guard ahead.skip("\"") else { return nil }
        self = ahead
        return text
    }

    // MARK: Lists

    /// Goes to the next element of a list (section 5.6.1), and tells whether there is one.
    package mutating func skipToElement() -> Bool {
        rest = rest.drop { $0.isFieldSpace || $0 == UInt8(ascii: ",") }
        return !rest.isEmpty
    }

    /// The elements of lists, which may be spread over several fields.
    package static func elements(of values: [String]) -> [String] {
        values.flatMap { value in
            var scanner = FieldScanner(value)
            var elements: [String] = []
            while scanner.skipToElement() { elements.append(scanner.element()) }
            return elements
        }
    }

    /// The element of a list that begins here: all up to the next comma that is in no quoted string.
    package mutating func element() -> String {
        let element = rest
        while let byte = next, byte != UInt8(ascii: ",") {
            rest.removeFirst()
            if byte == UInt8(ascii: "\"") {
                _ = textUpToQuote()
                _ = skip("\"")
            }
        }
        return Self.trimmed(element[..<rest.startIndex])
    }

    // MARK: Parameters

    /// All up to the next semicolon.
    mutating func textUpToParameter() -> String { trimmedText { $0 == UInt8(ascii: ";") } }

    /// The next parameter (section 5.6.6), its name in lower case; nil when no more come.
    ///
    /// It is read as servers write it: a value without quotes is all up to the next semicolon, and quotes may lack their
    /// end. What has no value is passed over.
    package mutating func parameter() -> (name: String, value: String)? {
        while true {
            _ = textUpToParameter()
            guard skip(";") else { return nil }
            let name = trimmedText { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ";") }
            guard skip("=") else { continue }
            skipSpaces()
            if skip("\"") { return (name.asciiLowercased, textUpToQuote()) }
            let value = textUpToParameter()
            if !value.isEmpty { return (name.asciiLowercased, value) }
        }
    }

    // MARK: Pieces

    /// What stands up to the end of a quoted string, whose first quote was taken.
    private mutating func textUpToQuote() -> String {
        var text: [UInt8] = []
        while let byte = next, byte != UInt8(ascii: "\"") {
            rest.removeFirst()
            // A backslash stands before a byte that is meant as it is.
            text.append(byte == UInt8(ascii: "\\") ? rest.popFirst() ?? byte : byte)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func taken(while isWanted: (UInt8) -> Bool) -> String? {
        let taken = rest.prefix(while: isWanted)
        rest = rest[taken.endIndex...]
        return taken.isEmpty ? nil : String(Substring(taken))
    }

    private mutating func trimmedText(upTo ends: (UInt8) -> Bool) -> String {
        let text = rest.prefix { !ends($0) }
        rest = rest[text.endIndex...]
        return Self.trimmed(text)
    }

    private static func trimmed(_ text: Substring.UTF8View) -> String {
        guard let last = text.lastIndex(where: { !$0.isFieldSpace }) else { return "" }
        return String(Substring(text[...last].drop(while: \.isFieldSpace)))
    }
}
