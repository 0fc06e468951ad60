/// A reader for the tokens of an expression (XPath 1.0, section 3.7). The compiler selects which token to read because
/// that depends on the context.
struct XPathReader {
    let bytes: [UInt8]
    private(set) var place = 0

    init(_ expression: String) { bytes = Array(expression.utf8) }

    var isAtEnd: Bool { place == bytes.count }

    var isAtSpace: Bool { !isAtEnd && bytes[place].isXMLSpace }

    mutating func skipSpace() {
        while isAtSpace { place += 1 }
    }

    /// Reads a symbol and the white space before it, if it comes next.
    mutating func skip(_ symbol: StaticString) -> Bool {
        skipSpace()
        guard isNext(symbol) else { return false }
        place += symbol.utf8CodeUnitCount
        return true
    }

    /// Returns whether a symbol comes next, immediately or after white space.
    func isNext(_ symbol: StaticString, afterSpace: Bool = false) -> Bool {
        var start = place
        while afterSpace, start < bytes.count, bytes[start].isXMLSpace { start += 1 }
        return symbol.withUTF8Buffer { bytes[start...].starts(with: $0) }
    }

    /// Reads a name without a colon, if one comes next.
    mutating func name() -> String? {
        skipSpace()
        let start = place
        while place < bytes.count, bytes[place].isInName { place += 1 }
        let name = String(decoding: bytes[start..<place], as: UTF8.self)
        if XMLName.isValid(name) { return name }
        place = start
        return nil
    }

    /// Reads an operator that is a name, if it comes next.
    mutating func skip(operator word: String) -> Bool {
        let start = place
        if name() == word { return true }
        place = start
        return false
    }

    /// Reads a number, if one comes next: digits with a point, and an exponent, which libxml2 and most other
    /// implementations accept.
    mutating func number() -> Double? {
        skipSpace()
        let start = place
        skipDigits()
        var count = place - start
        if isNext(".") {
            place += 1
            skipDigits()
            count = place - start - 1
        }
        guard count > 0 else {
            place = start
            return nil
        }
        let mantissa = place
        if isNext("e") || isNext("E") {
            place += 1
            if isNext("+") || isNext("-") { place += 1 }
            let digits = place
            skipDigits()
            if place == digits { place = mantissa }
        }
        return XML.XPathResult.number(in: String(decoding: bytes[start..<place], as: UTF8.self))
    }

    /// Reads a quoted text, if one comes next.
    mutating func literal() throws(XML.Error) -> [UInt8]? {
        skipSpace()
        guard isNext("'") || isNext("\"") else { return nil }
        let quote = bytes[place]
        guard let end = bytes[(place + 1)...].firstIndex(of: quote) else {
            place = bytes.count
            throw failure("Unfinished text")
        }
        defer { place = end + 1 }
        return Array(bytes[(place + 1)..<end])
    }

    /// Returns an error at the current or another position.
    func failure(_ words: String, at other: Int? = nil) -> XML.Error {
        XML.Error(
            .invalidXPath, "\(words) in the XPath expression “\(String(decoding: bytes, as: UTF8.self))”",
            byteOffset: other ?? place)
    }

    private mutating func skipDigits() {
        while place < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[place]) { place += 1 }
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
