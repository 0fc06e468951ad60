/// Character classes for the bytes of header fields and URLs, with the names of RFC 5234, appendix B.1.
extension UInt8 {
    /// DIGIT.
    @inlinable package var isDigit: Bool { (0x30...0x39).contains(self) }

    /// ALPHA.
    @inlinable package var isLetter: Bool { (0x61...0x7A).contains(self | 0x20) }

    /// HEXDIG, uppercase or lowercase.
    @inlinable package var isHexDigit: Bool { hexDigitValue != nil }

    /// The value of an uppercase or lowercase hexadecimal digit; nil for any other byte.
    @inlinable package var hexDigitValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46, 0x61...0x66: (self | 0x20) - 0x57
        default: nil
        }
    }

    /// A to Z.
    @inlinable package var isCapital: Bool { (0x41...0x5A).contains(self) }

    /// a to z.
    var isSmallLetter: Bool { (0x61...0x7A).contains(self) }

    /// A to Z in lowercase; any other byte unchanged.
    @inlinable package var asciiLowercased: UInt8 { isCapital ? self | 0x20 : self }

    /// A space or a tab, the white space of RFC 9110, section 5.6.3.
    @inlinable package var isFieldSpace: Bool { self == 0x20 || self == 0x09 }

    /// Whether the byte can occur in the host and port of a URL. Bytes that end the authority, or separate user information from the host,
    /// can't.
    package var isAllowedInAuthority: Bool {
        switch self {
        case 0...0x20, 0x7F, UInt8(ascii: "@"), UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "?"),
            UInt8(ascii: "#"):
            false
        default: true
        }
    }

    /// A byte that ends the authority of a URL (RFC 3986, section 3.2).
    var endsAuthority: Bool { self == UInt8(ascii: "/") || self == UInt8(ascii: "?") || self == UInt8(ascii: "#") }

    /// A byte that can occur in the name of a host.
    @inlinable package var isHostCharacter: Bool {
        switch self {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: isLetter || isDigit
        }
    }

    /// A character of a token (RFC 9110, section 5.6.2).
    package var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: isLetter || isDigit
        }
    }

    /// A character of a `token68` before its padding (RFC 9110, section 11.2).
    var isToken68Character: Bool {
        switch self {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "+"),
            UInt8(ascii: "/"):
            true
        default: isLetter || isDigit
        }
    }
}

extension String {
    /// The string with A to Z in lowercase and everything else unchanged. Unicode's rules would turn the Kelvin sign into a k.
    package var asciiLowercased: String {
        if allBytes({ !$0.isCapital }) { return self }
        return String(decoding: utf8.map(\.asciiLowercased), as: UTF8.self)
    }

    /// Whether the string is a token (RFC 9110, section 5.6.2). Methods and names of header fields are tokens.
    package var isHTTPToken: Bool { !isEmpty && allBytes(\.isTokenCharacter) }

    /// Whether all bytes of the string's UTF-8 satisfy a predicate. Faster than `utf8.allSatisfy`, which decodes an index at each
    /// step.
    @inlinable package func allBytes(_ predicate: (UInt8) -> Bool) -> Bool {
        var text = self
        return text.withUTF8 { $0.allSatisfy(predicate) }
    }
}
