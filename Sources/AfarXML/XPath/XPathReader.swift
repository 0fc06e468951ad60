/// A reader for the tokens of an expression (XPath 1.0, section 3.7). The compiler selects which token to read,
/// because the choice depends on the context.
struct XPathReader {
    let bytes: [UInt8]
    private(set) var position = 0

    init(_ expression: String) { bytes = Array(expression.utf8) }

    var isAtEnd: Bool { position == bytes.count }

    var isAtSpace: Bool { !isAtEnd && bytes[position].isXMLSpace }

    mutating func skipSpace() {
        while isAtSpace { position += 1 }
    }

    /// Skips white space, and a symbol if it comes next. Returns whether the symbol came next.
    mutating func skip(_ symbol: StaticString) -> Bool {
        skipSpace()
        guard isNext(symbol) else { return false }
        position += symbol.utf8CodeUnitCount
        return true
    }

    /// Returns whether a symbol comes next: immediately or, if `afterSpace` is true, after any white space.
    func isNext(_ symbol: StaticString, afterSpace: Bool = false) -> Bool {
        var start = position
        while afterSpace, start < bytes.count, bytes[start].isXMLSpace { start += 1 }
        return symbol.withUTF8Buffer { bytes[start...].starts(with: $0) }
    }

    /// Reads a name without a colon, if one comes next.
    mutating func name() -> String? {
        skipSpace()
        let start = position
        while position < bytes.count, bytes[position].isInName { position += 1 }
        let name = String(decoding: bytes[start..<position], as: UTF8.self)
        if XMLName.isValid(name) { return name }
        position = start
        return nil
    }

    /// Skips an operator that is a name, such as `and`, if it comes next. Returns whether it came next.
    mutating func skip(operator word: String) -> Bool {
        let start = position
        if name() == word { return true }
        position = start
        return false
    }

    /// Reads a number, if one comes next: digits, optionally with a point and an exponent. XPath 1.0 has no exponents,
    /// but libxml2 and most other implementations accept them.
    mutating func number() -> Double? {
        skipSpace()
        let start = position
        skipDigits()
        var count = position - start
        if isNext(".") {
            position += 1
            skipDigits()
            count = position - start - 1
        }
        guard count > 0 else {
            position = start
            return nil
        }
        let mantissa = position
        if isNext("e") || isNext("E") {
            position += 1
            if isNext("+") || isNext("-") { position += 1 }
            let digits = position
            skipDigits()
            if position == digits { position = mantissa }
        }
        return XML.XPathResult.number(in: String(decoding: bytes[start..<position], as: UTF8.self))
    }

    /// Reads a quoted string, if one comes next.
    mutating func literal() throws(XML.Error) -> [UInt8]? {
        skipSpace()
        guard isNext("'") || isNext("\"") else { return nil }
        let quote = bytes[position]
        guard let end = bytes[(position + 1)...].firstIndex(of: quote) else {
            position = bytes.count
            throw failure("Unfinished text")
        }
        defer { position = end + 1 }
        return Array(bytes[(position + 1)..<end])
    }

    /// Returns an error at the given position or, without one, at the current position.
    func failure(_ words: String, at other: Int? = nil) -> XML.Error {
        XML.Error(
            .invalidXPath, "\(words) in the XPath expression “\(String(decoding: bytes, as: UTF8.self))”",
            byteOffset: other ?? position)
    }

    private mutating func skipDigits() {
        while position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) {
            position += 1
        }
    }
}

extension UInt8 {
    /// Whether the byte can be part of a name.
    fileprivate var isInName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), 0x80...:
            true
        default: false
        }
    }
}
