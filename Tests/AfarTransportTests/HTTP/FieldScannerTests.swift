import Testing

@testable import AfarTransport

/// Parsing of header fields (RFC 9110, sections 5.6 and 11.2).
struct FieldScannerTests {
    /// Returns the parameters as text.
    private func parameters(_ value: String) -> [String] {
        var scanner = FieldScanner(value)
        var parameters: [String] = []
        while let parameter = scanner.parameter() { parameters.append("\(parameter.name)|\(parameter.value)") }
        return parameters
    }

    private func elements(_ value: String) -> [String] {
        var scanner = FieldScanner(value)
        var elements: [String] = []
        while scanner.skipToElement() { elements.append(scanner.element()) }
        return elements
    }

    @Test(arguments: [
        ("abc;d", "abc"), ("!#$%&'*+-.^_`|~09azAZ=", "!#$%&'*+-.^_`|~09azAZ"), ("a\u{301}", "a"), ("GET /", "GET"),
    ])
    func aTokenEndsBeforeAnInvalidCharacter(value: String, token: String) {
        var scanner = FieldScanner(value)
        #expect(scanner.token() == token)
        #expect(scanner.next == value.utf8.dropFirst(token.utf8.count).first)
    }

    @Test(arguments: ["", " a", "\"a\"", "=", ",", "é", "(a)", "/", "\u{7F}", "\0"])
    func anInvalidFirstCharacterIsNotConsumed(value: String) {
        var scanner = FieldScanner(value)
        #expect(scanner.token() == nil)
        #expect(scanner.next == value.utf8.first)
    }

    @Test(arguments: [("YII/+=,", "YII/+="), ("a==b", "a=="), ("-._~+/ x", "-._~+/"), ("abc", "abc")])
    func aToken68IncludesItsPadding(value: String, token: String) {
        var scanner = FieldScanner(value)
        #expect(scanner.token68() == token)
    }

    @Test(arguments: ["", "=", "==", "!", "\"a\"", "é"])
    func paddingAloneIsNotAToken68(value: String) {
        var scanner = FieldScanner(value)
        #expect(scanner.token68() == nil)
    }

    @Test(arguments: [
        (#""""#, ""), (#""a b""#, "a b"), (#""a\"b\\c\d""#, #"a"b\cd"#), (#""a;b,c=d" e"#, "a;b,c=d"),
        ("\"\u{301}x\"", "\u{301}x"), ("\"grün\"", "grün"), ("\"x\"\u{301}", "x"),
    ])
    func aQuotedStringIsUnquoted(value: String, text: String) {
        var scanner = FieldScanner(value)
        #expect(scanner.quotedString() == text)
    }

    @Test(arguments: ["", "a", "\"", #""open"#, #""open\"#, #""open\""#, "'a'"])
    func invalidQuotedStringsAreNotConsumed(value: String) {
        var scanner = FieldScanner(value)
        #expect(scanner.quotedString() == nil)
        #expect(scanner.next == value.utf8.first)
    }

    // MARK: Lists

    @Test func quotedCommasDoNotSeparateElements() {
        #expect(elements(#"a, "b, \", c" ,,\#td;e="f,g", "#) == ["a", #""b, \", c""#, #"d;e="f,g""#])
        #expect(elements(" , ,") == [])
        #expect(elements("a,\u{301}b") == ["a", "\u{301}b"])
        #expect(elements(#"a, "open, b"#) == ["a", #""open, b"#])
    }

    // MARK: Parameters

    @Test func parametersAreParsedPerTheStandard() {
        #expect(parameters(#"text/html; Charset=utf-8;x="a;b\"c"; y="""#) == ["charset|utf-8", #"x|a;b"c"#, "y|"])
        #expect(parameters("attachment") == [])
        #expect(parameters("a;\u{301}b=c") == ["\u{301}b|c"])
    }

    @Test func parametersAreParsedLeniently() {
        #expect(parameters("a; b = c d ; e=f, g") == ["b|c d", "e|f, g"])
        #expect(parameters(#"a; b="open; c=d"#) == ["b|open; c=d"])
        #expect(parameters(#"a; b="open\"#) == [#"b|open\"#])
        #expect(parameters(#"a; b="c"x; d=e"#) == ["b|c", "d|e"])
        #expect(parameters("; b; =; c=; ; d=e;") == ["d|e"])
        #expect(parameters("; \u{212A}=kelvin") == ["\u{212A}|kelvin"])
    }

    @Test func manyElementsAreParsedQuickly() {
        #expect(parameters(String(repeating: ";a=b", count: 100_000)).count == 100_000)
        #expect(elements(String(repeating: "a,", count: 100_000)).count == 100_000)
        #expect(elements(String(repeating: "\"", count: 100_001)).count == 1)
    }
}
