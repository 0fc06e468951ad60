import Testing

@testable import AfarCLI

struct JSONTextTests {
    private func indented(_ text: String) -> String? { JSONText.indented(text, style: .plain) }

    @Test func orderNumbersAndEscapesArePreserved() {
        #expect(
            indented(#"{"z":1.50,"a":[1e400,-0,"\u00e9é\/"],"z":{}, "e": [ ]}"#) == #"""
                {
                  "z": 1.50,
                  "a": [
                    1e400,
                    -0,
                    "\u00e9é\/"
                  ],
                  "z": {},
                  "e": []
                }
                """#)
        #expect(indented(" 7 ") == "7")
        for number in ["0", "-0", "10.05", "1e9", "1E+09", "0.1e-2", "true", "null"] {
            #expect(indented(number) == number)
        }
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", "[1 2]", "{\"a\"}", "{a:1}", "01", "1.", "+1", "nul", "\"\n\"", "\"\\x\"", "\"\\u12g4\"",
        "\"open",
        "1 2", "[1]]", "{\"a\":1,}", "NaN", "-", "1e", "00", ".5", "truer", "1true", "1e+",
    ])
    func invalidJSONIsNotIndented(text: String) {
        #expect(indented(text) == nil)
    }

    @Test func depthIsLimited() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(indented(nested(JSONText.depthLimit)) != nil)
        #expect(indented(nested(JSONText.depthLimit + 1)) == nil)
        #expect(indented(nested(1_000_000)) == nil)
    }

    @Test func stringsAreQuoted() {
        #expect(JSONText.string("a\"\\\n\u{1}é") == #""a\"\\\n\u0001é""#)
        #expect(JSONText.isValid(JSONText.string("\u{0}\t\r\u{7F}")))
        #expect(
            JSONText.string("\u{9B}\u{2028}\u{202E}\u{2067}\u{FEFF}\u{E0041}")
                == #""\u009B\u2028\u202E\u2067\uFEFF\uDB40\uDC41""#)
        #expect(JSONText.string("é👩‍💻") == "\"é👩‍💻\"")
    }
}
