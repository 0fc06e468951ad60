import Testing

@testable import AfarCLI

struct TerminalQueryTests {
    @Test(arguments: [
        ("\u{1B}[?62;4;22c", true), ("\u{1B}[?65;1;9;4c", true), ("\u{1B}[?62;22c", false), ("\u{1B}[?4;6c", false),
        ("\u{1B}[?62;44c", false), ("", false), ("\u{1B}[?62;4", false), ("62;4c", false),
    ])
    func sixelSupportIsDetected(answer: String, hasSixels: Bool) {
        #expect(TerminalQuery.namesSixels(answer) == hasSixels)
    }
}
