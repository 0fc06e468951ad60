import Testing

@testable import AfarCore

struct TerminalTextTests {
    @Test func controlCharactersBecomeVisible() {
        #expect(TerminalText.safe("a\u{1B}[2Jb\u{9B}c\u{7F}\tä\n") == "a\\u001B[2Jb\\u009Bc\\u007F\tä\n")
        #expect(TerminalText.safe("a\r\nb\rc\r") == "a\nb\\u000Dc\\u000D")
        #expect(TerminalText.safe("a\u{202E}b") == "a\\u202Eb")
    }

    @Test func aLineIsOne() {
        #expect(TerminalText.line("a\nb\r\n\nc") == "a b c")
    }

    @Test func binaryIsTold() {
        #expect(TerminalText.isBinary("a\0"))
        #expect(TerminalText.isBinary("\u{FFFD}PNG"))
        #expect(!TerminalText.isBinary("a\tb\r\n\u{1B}[0m"))
    }
}
