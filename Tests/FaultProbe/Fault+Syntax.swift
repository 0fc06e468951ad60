import AfarTestServer
import Foundation

extension Fault {
    private static func answers(
        _ family: String, _ expectation: Expectation = .fails, _ urlSession: Foundation? = nil,
        _ answers: [(String, String)]
    ) -> [Fault] {
        answers.map { name, text in
            Fault(
                family: family, name: name, script: [.respond(text), .close], expectation: expectation,
                urlSession: urlSession)
        }
    }

    private static let rest = "Content-Length: 2\r\n\r\nok"
    private static let lenient = "libcurl accepts it, as browsers do, without misreading anything"

    static let statusLines: [Fault] =
        answers(
            "Status lines", .fails, .accepts("Foundation has its own rules for status lines"),
            [
                ("not HTTP", "SSH-2.0-OpenSSH_9.2\r\n"), ("an empty line", "\r\n\(rest)"),
                ("binary", "\u{0}\u{1}\u{2}\u{3}\r\n\r\n"), ("HTTP/0.9", "just text"),
                ("no number", "HTTP/1.1 OK\r\n\(rest)"), ("a status of words", "HTTP/1.1 two OK\r\n\(rest)"),
                ("a status of two digits", "HTTP/1.1 20 OK\r\n\(rest)"),
                ("a status of four digits", "HTTP/1.1 2000 OK\r\n\(rest)"),
                ("a negative status", "HTTP/1.1 -200 OK\r\n\(rest)"), ("a status of 0", "HTTP/1.1 000 No\r\n\(rest)"),
                ("a status of 99", "HTTP/1.1 099 No\r\n\(rest)"),
                ("a status beyond numbers", "HTTP/1.1 99999999999999999999 No\r\n\(rest)"),

                ("version 1", "HTTP/1 200 OK\r\n\(rest)"),
                ("another protocol", "ICY 200 OK\r\n\(rest)"), ("lower case", "http/1.1 200 OK\r\n\(rest)"),
                ("a leading space", " HTTP/1.1 200 OK\r\n\(rest)"), ("a letter before", "XHTTP/1.1 200 OK\r\n\(rest)"),
                ("no space", "HTTP/1.1200 OK\r\n\(rest)"), ("no slash", "HTTP 1.1 200 OK\r\n\(rest)"),
                ("a status with a letter", "HTTP/1.1 20x OK\r\n\(rest)"),
                ("an unsolicited 101", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
                ("a long reason", "HTTP/1.1 200 \(String(repeating: "x", count: 300_000))\r\n\(rest)"),
            ])
        + answers(
            "Status lines", .either(lenient), .accepts(lenient),
            [
                ("no reason", "HTTP/1.1 200\r\n\(rest)"), ("an empty reason", "HTTP/1.1 200 \r\n\(rest)"),
                ("two spaces", "HTTP/1.1  200 OK\r\n\(rest)"), ("a tab", "HTTP/1.1\t200 OK\r\n\(rest)"),
                ("version 2.0", "HTTP/2.0 200 OK\r\n\(rest)"), ("version 3.7", "HTTP/3.7 200 OK\r\n\(rest)"),
                ("version x", "HTTP/x.y 200 OK\r\n\(rest)"),
                ("version 1.2", "HTTP/1.2 200 OK\r\n\(rest)"), ("version 1.0", "HTTP/1.0 200 OK\r\n\(rest)"),
                ("a status of 999", "HTTP/1.1 999 Odd\r\n\(rest)"),
                ("a reason of control characters", "HTTP/1.1 200 \u{1B}[31mred\r\n\(rest)"),
                ("a reason in Latin 1", "HTTP/1.1 200 \u{FF}\r\n\(rest)"),
            ])

    static let headerFields: [Fault] =
        answers(
            "Header fields", .either("an invalid line is ignored or rejected"), .accepts(lenient),
            [
                ("no colon", "HTTP/1.1 200 OK\r\nnot a field\r\n\(rest)"),
                ("no name", "HTTP/1.1 200 OK\r\n: value\r\n\(rest)"),
                ("a space in the name", "HTTP/1.1 200 OK\r\nX Y: value\r\n\(rest)"),
                ("a space before the colon", "HTTP/1.1 200 OK\r\nX-Y : value\r\n\(rest)"),
                ("a control character in the name", "HTTP/1.1 200 OK\r\nX\u{1}Y: value\r\n\(rest)"),
                ("a non-ASCII name", "HTTP/1.1 200 OK\r\nXä: value\r\n\(rest)"),
                ("a control character in the value", "HTTP/1.1 200 OK\r\nX: a\u{1}b\r\n\(rest)"),
                ("an escape sequence in the value", "HTTP/1.1 200 OK\r\nX: \u{1B}]0;x\u{7}\r\n\(rest)"),
                ("a folded line", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\(rest)"),
                ("a folded line at the beginning", "HTTP/1.1 200 OK\r\n folded\r\n\(rest)"),
                ("a value that isn't UTF-8", "HTTP/1.1 200 OK\r\nX: \u{FF}\u{FE}\r\n\(rest)"),
                ("a long value", "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 90_000))\r\n\(rest)"),
                ("a long name", "HTTP/1.1 200 OK\r\n\(String(repeating: "x", count: 90_000)): v\r\n\(rest)"),
                ("an invalid content type", "HTTP/1.1 200 OK\r\nContent-Type: ;;;=\r\n\(rest)"),
                ("an invalid cookie", "HTTP/1.1 200 OK\r\nSet-Cookie: ;;=;\r\n\(rest)"),
                ("an invalid date", "HTTP/1.1 200 OK\r\nDate: yesterday\r\nExpires: never\r\n\(rest)"),
                ("an unknown coding", "HTTP/1.1 200 OK\r\nContent-Encoding: none-such\r\n\(rest)"),
                (
                    "twenty codings",
                    "HTTP/1.1 200 OK\r\nContent-Encoding: \(String(repeating: "gzip, ", count: 20))gzip\r\n\(rest)"
                ),
                ("an invalid challenge", "HTTP/1.1 401 No\r\nWWW-Authenticate: ,,=,\r\n\(rest)"),
                ("an invalid Retry-After", "HTTP/1.1 503 No\r\nRetry-After: -5 apples\r\n\(rest)"),
            ])
        + [
            Fault(
                family: "Header fields", name: "a NUL in a value",
                script: [.respond("HTTP/1.1 200 OK\r\nX: a\u{0}b\r\n\(rest)"), .close], expectation: .fails,
                urlSession: .accepts(lenient)),
            Fault(
                family: "Header fields", name: "a NUL in a name",
                script: [.respond("HTTP/1.1 200 OK\r\nX\u{0}: ab\r\n\(rest)"), .close], expectation: .fails,
                urlSession: .accepts(lenient)),
        ]

    static let lineEndings: [Fault] = answers(
        "Line endings", .either("RFC 9112, section 2.2, allows a recipient to treat a line feed as a line break"),
        .accepts("as libcurl"),
        [
            ("line feeds alone", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok"),
            ("carriage returns alone", "HTTP/1.1 200 OK\rContent-Length: 2\r\rok"),
            ("two carriage returns", "HTTP/1.1 200 OK\r\r\nContent-Length: 2\r\r\n\r\r\nok"),
            ("a carriage return in a value", "HTTP/1.1 200 OK\r\nX: a\rb\r\n\(rest)"),
            ("a line feed first", "\nHTTP/1.1 200 OK\r\n\(rest)"),
            ("blank lines first", "\r\n\r\nHTTP/1.1 200 OK\r\n\(rest)"),
            ("a mixed end of the head", "HTTP/1.1 200 OK\r\nContent-Length: 2\n\r\nok"),
            ("line feed, then both", "HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\nok"),
            ("both, then line feed", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\nok"),
            ("form feeds", "HTTP/1.1 200 OK\u{C}Content-Length: 2\u{C}\u{C}ok"),
        ])

    static let lengths: [Fault] =
        answers(
            "Lengths", .fails, .accepts("Foundation doesn't detect conflicting lengths"),
            [
                ("two that differ", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 2\r\n\r\nokok"),
                ("a list that differs", "HTTP/1.1 200 OK\r\nContent-Length: 2, 4\r\n\r\nokok"),
                ("negative", "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok"),
                ("with a sign", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok"),
                ("words", "HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok"),
                ("hexadecimal", "HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok"),
                ("a number and words", "HTTP/1.1 200 OK\r\nContent-Length: 2x\r\n\r\nok"),
                ("a fraction", "HTTP/1.1 200 OK\r\nContent-Length: 2.0\r\n\r\nok"),
                ("empty", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nok"),
                ("beyond 64 bits", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok"),
                ("2⁶³", "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\nok"),
                ("2³² + 2", "HTTP/1.1 200 OK\r\nContent-Length: 4294967298\r\n\r\nok"),
                ("more than received", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok"),
                (
                    "with chunks, of another length",
                    "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"
                ),
            ])
        + answers(
            "Lengths", .fails, Foundation(mayTrap: true),
            [("2⁶³ − 1", "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nok")])
        + answers(
            "Lengths", .either("the bytes after the body aren't read"),
            .accepts("as libcurl"),
            [
                ("less than received", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nok"),
                ("two that agree", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok"),
                ("a list that agrees", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok"),
                ("leading zeros", "HTTP/1.1 200 OK\r\nContent-Length: 0000000002\r\n\r\nok"),
                ("a length for 204", "HTTP/1.1 204 None\r\nContent-Length: 2\r\n\r\nok"),
                ("a length for 304", "HTTP/1.1 304 None\r\nContent-Length: 2\r\n\r\nok"),
                ("chunks for 204", "HTTP/1.1 204 None\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
                (
                    "a length and chunks",
                    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
                ),
                (
                    "a coding besides chunks",
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: x, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
                ),
                ("an unknown coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunks\r\n\r\nok"),
            ])

    private static func chunked(_ body: String) -> String {
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"
    }

    static let chunkSyntax: [Fault] =
        answers(
            "Chunks", .fails, nil,
            [
                ("no number", chunked("zz\r\nok\r\n0\r\n\r\n")), ("an empty size", chunked("\r\nok\r\n0\r\n\r\n")),
                ("a negative size", chunked("-2\r\nok\r\n0\r\n\r\n")), ("a sign", chunked("+2\r\nok\r\n0\r\n\r\n")),
                ("beyond 64 bits", chunked("fffffffffffffffff\r\nok\r\n0\r\n\r\n")),
                ("2⁶⁴ − 1", chunked("ffffffffffffffff\r\nok\r\n0\r\n\r\n")),
                ("2⁶³ − 1", chunked("7fffffffffffffff\r\nok\r\n0\r\n\r\n")),
                ("more than received", chunked("3\r\nok")), ("less than received", chunked("1\r\nok\r\n0\r\n\r\n")),
                ("no end after a chunk", chunked("2\r\nok0\r\n\r\n")), ("no last chunk", chunked("2\r\nok\r\n")),
                ("no end after the last", chunked("2\r\nok\r\n0\r\n")),
                ("no size at all", chunked("ok")),
                ("trailers without an end", chunked("2\r\nok\r\n0\r\nT: v\r\n")),
            ])
        + answers(
            "Chunks", .either("libcurl treats the text after the size as an extension"),
            nil,
            [
                ("a prefix", chunked("0x2\r\nok\r\n0\r\n\r\n")), ("a space first", chunked(" 2\r\nok\r\n0\r\n\r\n")),
                ("words after the size", chunked("2 bytes\r\nok\r\n0\r\n\r\n")),
                ("line feeds alone", chunked("2\nok\n0\n\n")),
                ("leading zeros", chunked("000000000000002\r\nok\r\n0\r\n\r\n")),
                ("an extension without a name", chunked("2;=;\r\nok\r\n0\r\n\r\n")),
                ("a long extension", chunked("2;\(String(repeating: "x", count: 20_000))\r\nok\r\n0\r\n\r\n")),
                ("an invalid trailer", chunked("2\r\nok\r\n0\r\nno field\r\n\r\n")),
                ("capitals", chunked("A\r\n0123456789\r\n0\r\n\r\n")),
            ])
        + answers(
            "Chunks", .either("libcurl treats it as an ordinary trailer"),
            .acceptsOrTraps("a framing field in the trailers"),
            [("a framing trailer", chunked("2\r\nok\r\n0\r\nContent-Length: 9\r\n\r\n"))])
}
