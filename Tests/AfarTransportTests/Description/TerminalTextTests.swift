import Testing

@testable import AfarTransport

struct TerminalTextTests {
    @Test func controlCharactersBecomeVisible() {
        #expect(TerminalText.safe("a\u{1B}[2Jb\u{9B}c\u{7F}\tä\n") == "a\\u001B[2Jb\\u009Bc\\u007F\tä\n")
        #expect(TerminalText.safe("a\r\nb\rc\r") == "a\nb\\u000Dc\\u000D")
        #expect(TerminalText.safe("a\u{202E}b") == "a\\u202Eb")
        #expect(TerminalText.safe("\u{E0041}") == "\\U000E0041")
    }

    @Test(
        arguments: [
            0x00, 0x1B, 0x7F, 0x9B, 0x034F, 0x061C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202E,
            0x2060,
            0x2064, 0x2066, 0x2069, 0x3164, 0xFEFF, 0xFFF9, 0x1D173, 0xE0001, 0xE0041, 0xE007F, 0xE0100,
        ] as [UInt32])
    func controlAndInvisibleCharactersAreEscaped(value: UInt32) throws {
        let text = "a\(try #require(Unicode.Scalar(value)))b"
        #expect(!TerminalText.isSafe(text))
        #expect(TerminalText.safe(text).utf8.allSatisfy { (0x20...0x7E).contains($0) })
        #expect(TerminalText.line(text).utf8.allSatisfy { (0x20...0x7E).contains($0) })
    }

    @Test(arguments: [
        "", "plain ASCII\n\tand tabs", "Grüße, café\u{301}", "日本語テキスト", "عربي", "می\u{200C}خواهم", "नमस्ते",
        "👩\u{200D}👩\u{200D}👧",
        "❤\u{FE0F}", "Donau\u{AD}dampf", "1️⃣", "\u{10FFFF}\u{FFFD}",
    ])
    func readableTextIsUnchanged(text: String) {
        #expect(TerminalText.isSafe(text))
        #expect(TerminalText.safe(text) == text)
    }

    @Test func aLineHasNoLineBreaks() {
        #expect(TerminalText.line("a\nb\r\n\nc") == "a b c")
        #expect(TerminalText.line("a\u{2028}b\u{85}c\u{0B}\u{0C}d") == "a b c d")
    }

    @Test func binaryDataIsDetected() {
        #expect(TerminalText.isBinary("a\0"))
        #expect(TerminalText.isBinary("\u{FFFD}PNG"))
        #expect(!TerminalText.isBinary("a\tb\r\n\u{1B}[0m"))
    }
}
