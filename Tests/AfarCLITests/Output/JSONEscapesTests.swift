import Foundation
import Testing

@testable import AfarCLI

struct JSONEscapesTests {
    private func readable(_ text: String) -> String? {
        JSONText.indented(text, style: Style(isPretty: true, isColored: false))
    }

    @Test func printableCharactersAreShown() {
        #expect(readable(#""\u00e9\u65e5\u672c \ud83d\ude00 \u0041""#) == "\"é日本 😀 A\"")
        #expect(readable(#"{"\u00fc":"\u00FC"}"#) == "{\n  \"ü\": \"ü\"\n}")
    }

    /// Controls, quotation marks, direction marks, invisible characters, spaces that look alike, private characters, and halves of
    /// surrogate pairs.
    @Test(arguments: [
        "0000", "0007", "000a", "001b", "0022", "005c", "007f", "009b", "00a0", "00ad", "061c", "200b", "200d", "200f",
        "2028", "202e", "2066", "3000", "3164", "e000", "fe0f", "feff", "fff9", "ffff", "d800", "dc00", "d83d\\u0041",
        "dc00\\ud800", "db40\\udc41",
    ])
    func otherCharactersStayEscaped(digits: String) {
        let text = "\"a\\u\(digits)b\""
        let shown = readable(text)?.replacing("d83dA", with: "d83d\\u0041")
        #expect(shown == text)
    }

    @Test func escapedBackslashesDontBeginEscapes() {
        #expect(readable(#""\\u00e9\\\u00e9\/\n""#) == #""\\u00e9\\é\/\n""#)
    }

    @Test func charactersThatTerminalsInterpretBecomeEscapes() {
        #expect(readable("\"\u{9B}31m\u{202E}\u{7F}\u{E0041}\"") == #""\u009B31m\u202E\u007F\uDB40\uDC41""#)
    }

    @Test func theValueStaysTheSame() throws {
        let scalars =
            (0...0xFFFF).compactMap { Unicode.Scalar($0) }
            + [0x1F600, 0xE0041, 0x10FFFF].compactMap { Unicode.Scalar($0) }
        let escaped =
            "[\""
            + scalars.map { scalar in
                String(scalar).utf16.map { String(format: "\\u%04x", Int($0)) }.joined()
            }
            .joined() + "\"]"
        let shown = try #require(readable(escaped))
        #expect(
            try JSONDecoder().decode([String].self, from: Data(shown.utf8))[0].unicodeScalars.elementsEqual(scalars))
        #expect(!shown.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || (0x7F...0x9F).contains($0.value) })
    }

    @Test func hostileTextTakesLinearTime() {
        let many = String(repeating: "\\ud83d", count: 500_000)
        #expect(readable("\"\(many)\"") == "\"\(many)\"")
        #expect(readable("\"\(String(repeating: "\\\\", count: 1_000_000))") == nil)
        #expect(readable(String(repeating: "{\"a\":", count: 1_000_000)) == nil)
    }
}
