import Foundation
import Testing

/// Texts that JSON's grammar (RFC 8259) has, and texts that it has not, production by production.
enum Grammar {
    struct Text: Sendable, CustomTestStringConvertible {
        let bytes: Data
        let testDescription: String

        init(_ text: String) { (bytes, testDescription) = (Data(text.utf8), text.debugDescription) }
        init(_ bytes: [UInt8]) { (self.bytes, testDescription) = (Data(bytes), "\(bytes)") }
    }

    // MARK: Section 2: structure and white space

    private static let structures = [
        "[]", "{}", " [] ", "\t[]", "\n[]", "\r[]", "\r\n[]\r\n", "[ ]", "[\t]", "[\n]", "[\r]", "{ }", "{\n}", "[1,2]",
        "[ 1 , 2 ]", "[\t1\n,\r2 ]", "{\"a\":1}", "{ \"a\" : 1 }", "{\n\"a\"\n:\n1\n}", "{\"a\":1,\"b\":2}",
        "{ \"a\" : 1 , \"b\" : 2 }", "[[]]", "[{}]", "{\"a\":[]}", "{\"a\":{}}", "[[],[]]", "[{},{}]", "[[[[[]]]]]",
        "[[1],[2,[3]],{}]", "{\"a\":{\"b\":{\"c\":[{}]}}}", "{\"\":0}", "{\"a\":1,\"a\":2}",
    ]
    private static let noStructures = [
        "", " ", "\n", "[", "]", "{", "}", "[1", "[1,", "[,", "[,1]", "[1,]", "[1,,2]", "[1 2]", "[\"a\" \"b\"]",
        "[1:2]", "[:]",
        "[]]", "[][]", "[] []", "{}{}", "[}", "{]", "[1}", "{\"a\":1]", "{\"a\"}", "{\"a\":}", "{:1}", "{1:1}", "{a:1}",
        "{'a':1}", "{null:1}", "{true:1}", "{[]:1}", "{{}:1}", "{\"a\":1,}", "{,\"a\":1}", "{\"a\":1,,\"b\":2}",
        "{\"a\":1 \"b\":2}", "{\"a\" 1}", "{\"a\"::1}", "{\"a\":1:2}", "{\"a\",1}", "{\"a\":1", "{\"a\":", "{\"a\"",
        "{\"", "{,}",
        "[[]", "[[1]", "{\"a\":[}", "{\"a\":{}", ",", ":", "1,2", "1 2", "[1]x", "x[1]", "/* */[]", "[] // a",
        "[1/**/]", "#\n[]",
        "\u{0B}[]", "\u{0C}[]", "[\u{0C}]", "\u{A0}[]", "\u{2028}[]", "\u{3000}1", "\0", "[]\0", "[\0]", "\u{1}1",
        "(1)", "<1>",
        "[...]", "undefined",
    ]

    // MARK: Section 3: literals

    private static let literals = [
        "true", "false", "null", " true ", "[true]", "[false]", "[null]", "[true,false,null]", "{\"a\":null}", "true\n",
    ]
    private static let noLiterals = [
        "True", "TRUE", "tru", "truee", "true1", "t", "fals", "False", "falsey", "nul", "Null", "nil", "none", "nulll",
        "[tru]",
        "[truefalse]", "[true false]", "[nul,1]", "truE", "NaN", "Infinity", "-Infinity", "[NaN]", "[-Infinity]",
        "true\"\"",
        "null[]",
    ]

    // MARK: Section 6: numbers

    private static let numbers = [
        "0", "-0", "1", "-1", "9", "10", "123456789", "-123456789", "0.0", "-0.0", "0.5", "-0.5", "1.5", "10.25",
        "0.000001", "1e0",
        "1E0", "1e5", "1E5", "1e+5", "1E+5", "1e-5", "1E-5", "0e0", "0E+0", "-0e-0", "1.5e3", "1.5E-3", "0.1e1", "1e05",
        "1e00",
        "9223372036854775807", "-9223372036854775808", "18446744073709551615", "18446744073709551616",
        "123456789012345678901234567890", "0.1234567890123456789012345678901234567890", "1e308", "4.9e-324", "1e-400",
        "[0]", "[-1]",
        "[1.5e-3,2]", " 7 ", "{\"a\":-0.5e+10}",
        "1000000000000000000000000000000000000000000000000000000000000000000000000000000",
    ]
    private static let noNumbers = [
        "-", "+1", "+0", "01", "-01", "00", "-00", "0x1", "0b1", "0o7", "1.", "-1.", ".5", "-.5", "1.e5", ".", "1e",
        "1E", "1e+",
        "1e-", "e5", "1e5.5", "1.5.5", "1e5e5", "--1", "-+1", "+-1", "1-", "1+", "1-1", "1_000", "1,000", "1 000",
        "1.0f", "1L", "1n",
        "0.", "- 1", "-a", "1a", "[01]", "[1.]", "[.5]", "[-]", "[+1]", "[1e]", "[0x1]", "\u{0661}", "\u{FF11}",
        "1\u{660}",
        "-Infinity", "1e\u{B9}", "[1\u{0}]", "0e", "0.e1", "-e1", "2.e3",
    ]

    // MARK: Section 7: strings

    private static let strings = [
        "\"\"", "\"a\"", "\" \"", "\"abc\"", "\"\\\"\"", "\"\\\\\"", "\"\\/\"", "\"/\"", "\"\\b\"", "\"\\f\"",
        "\"\\n\"", "\"\\r\"",
        "\"\\t\"", "\"\\u0000\"", "\"\\u0041\"", "\"\\u00e9\"", "\"\\u00E9\"", "\"\\uFFFF\"", "\"\\ud83d\\ude00\"",
        "\"\\uD83D\\uDE00\"", "\"\\\\u0041\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\u{7F}\"", "\"\u{80}\"", "\"é\"",
        "\"\u{2028}\"",
        "\"\u{2029}\"", "\"\u{FFFF}\"", "\"😀\"", "\"\u{10FFFF}\"", "\"'\"", "\"[]{},:\"", "\"//\"", "[\"a\"]",
        "[\"\\\"\",\"\\\\\"]",
        "{\"\\u0061\":1}", "{\"é\":\"ü\"}", "\"\\\\\\\\\"", "\"a\\u0062c\"", "\"\u{FEFF}\"",
    ]
    private static let noStrings = [
        "\"", "\"a", "a\"", "'a'", "`a`", "\"\\\"", "\"\\", "\"\\a\"", "\"\\v\"", "\"\\0\"", "\"\\'\"", "\"\\x41\"",
        "\"\\U0041\"",
        "\"\\u\"", "\"\\u0\"", "\"\\u00\"", "\"\\u004\"", "\"\\u004g\"", "\"\\u 041\"", "\"\\u+041\"", "\"\\u{41}\"",
        "\"\\ \"",
        "\"\\\n\"", "\"\n\"", "\"\r\"", "\"\t\"", "\"\0\"", "\"\u{1}\"", "\"\u{1F}\"", "[\"a]", "[\"a\"\"b\"]",
        "\"a\"\"b\"", "\"a\"b",
        "\"a\" \"b\"", "[\"a\\\"]", "{\"a\":\"\n\"}", "{\"a\n\":1}", "{\"\\x\":1}", "\\\"a\\\"", "\\u0022a\\u0022",
        "\"\\é\"",
        "[\"\\u00A\"]", "\u{201C}a\u{201D}",
    ]

    // MARK: Section 8.1: encoding

    private static let noEncodings: [[UInt8]] = [
        [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xC3, 0x22], [0x22, 0x80, 0x22], [0x22, 0xE2, 0x82, 0x22],
        [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22],
        [0x22, 0xF8, 0x88, 0x80, 0x80, 0x80, 0x22],
        [0x22, 0xE0, 0x80, 0xAF, 0x22], [0x22, 0xF0, 0x80, 0x80, 0x80, 0x22], [0x5B, 0xFF, 0x5D], [0x31, 0xE9],
        [0x7B, 0x22, 0xE9, 0x22, 0x3A, 0x31, 0x7D], [0x22, 0x61, 0xC3],
    ]

    /// What every parser must accept, if it is not beyond its limits (section 9).
    static let accepted = (structures + literals + numbers + strings).map(Text.init)

    /// What is no JSON.
    static let refused = (noStructures + noLiterals + noNumbers + noStrings).map(Text.init) + noEncodings.map(Text.init)
}
