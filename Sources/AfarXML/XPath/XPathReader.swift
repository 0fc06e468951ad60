/// Reads an expression's tokens (XPath 1.0, section 3.7). Which token comes next depends on what may stand there, which is the
/// compiler's to say.
struct XPathReader {
    let bytes: [UInt8]
    private(set) var place = 0

    init(_ expression: String) { bytes = Array(expression.utf8) }

    var isAtEnd: Bool { place == bytes.count }

    var isAtSpace: Bool { !isAtEnd && bytes[place].isXMLSpace }

    mutating func skipSpace() {
        while isAtSpace { place += 1 }
    }

    /// Reads a symbol with the white space before it, if it comes next.
    mutating func skip(_ symbol: StaticString) -> Bool {
        skipSpace()
        guard isNext(symbol) else { return false }
        place += symbol.utf8CodeUnitCount
        return true
    }

    /// Whether a symbol comes next, after white space or at once.
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

    /// Reads one of the operators that are names, if it comes next.
    mutating func skip(operator word: String) -> Bool {
        let start = place
        if name() == word { return true }
        place = start
        return false
    }

    /// Reads a number, if one comes next: digits with a point, and an exponent besides, which libxml2 and most others take.
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

    /// Reads a text in quotes, if one comes next.
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

    /// The error for what stands here, or at another place.
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
    /// Whether this may be part of a name, as far as one byte tells.
    fileprivate var isInName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), 0x80...:
            true
        default: false
        }
    }
}
