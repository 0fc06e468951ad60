import Testing

@testable import AfarTransport

/// Each character class contains exactly the bytes in its standard.
struct ASCIITests {
    private func bytes(where isMember: (UInt8) -> Bool) -> String {
        String(decoding: (UInt8.min...UInt8.max).filter(isMember), as: UTF8.self)
    }

    private let digits = "0123456789"
    private let capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    private let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    @Test func classesAreComplete() {
        #expect(bytes(where: \.isDigit) == digits)
        #expect(bytes(where: \.isLetter) == letters)
        #expect(bytes(where: \.isHexDigit) == digits + "ABCDEFabcdef")
        #expect(bytes(where: \.isFieldSpace) == "\t ")
        #expect(bytes(where: { $0.asciiLowercased != $0 }) == capitals)
        #expect(Set(bytes(where: \.isTokenCharacter)) == Set("!#$%&'*+-.^_`|~" + digits + letters))
        #expect(Set(bytes(where: \.isToken68Character)) == Set("-._~+/" + digits + letters))
    }

    @Test func hexadecimalDigitsHaveValues() {
        for value in 0..<16 {
            for text in [String(value, radix: 16), String(value, radix: 16, uppercase: true)] {
                #expect(text.utf8.first?.hexDigitValue == UInt8(value))
            }
        }
    }

    @Test func onlyASCIIChangesCase() {
        #expect("ÄZ@[`{\u{212A}".asciiLowercased == "Äz@[`{\u{212A}")
    }
}
