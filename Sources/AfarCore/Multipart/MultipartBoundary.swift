/// What stands between the parts of a form.
struct MultipartBoundary {
    let text: String

    /// A boundary given by a caller, unless it is none by RFC 2046, section 5.1.1: 1 to 70 characters of a certain set,
    /// the last no space.
    init?(_ text: String) {
        guard (1...70).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed), text.utf8.last != 0x20 else {
            return nil
        }
        self.text = text
    }

    private init(random text: String) { self.text = text }

    /// One that nobody can guess, so that nobody can have it in a part.
    static func random() -> MultipartBoundary {
        let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
        return MultipartBoundary(random: "afar.boundary.\(digits.joined())")
    }

    /// The boundary as the value of a header's parameter: in quotes where RFC 2045, section 5.1, asks for them.
    var parameterValue: String { text.isHTTPToken ? text : "\"\(text)\"" }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "'()+_,-./:=? ".utf8.contains(byte)
    }
}
