import AfarTestServer
import Foundation
import Testing

/// Tests for `afar xml` and its XPath queries.
struct XMLTests {
    private static let feed = """
        <?xml version="1.0" encoding="ISO-8859-1"?>
        <feed xmlns="urn:f"><entry id="1"><title>Caf\u{E9} &amp; tea</title></entry><entry id="2"><title>B</title><!-- c --></entry></feed>
        """
    private static let page = "<html><body><p>One<p>Two <a href=x>link</a></body></html>"

    private func run(_ arguments: String..., terminal: Bool = false) async throws -> Tool.Outcome {
        let server = try await TestServer.start()
        let latin = try #require(Self.feed.data(using: .isoLatin1))
        server.route("/feed") { _ in .content("application/atom+xml", latin) }
        server.route("/page") { _ in .content("text/html", Data(Self.page.utf8)) }
        server.route("/broken") { _ in .content("text/xml", Data("<a>\n<b></c></a>".utf8), status: 404) }
        server.route("/hostile") { _ in .content("text/xml", Data("<a b='\u{202E}'>x\u{9B}2J</a>".utf8)) }
        server.route("/typed") { _ in .content("text/xml", Data("<!DOCTYPE a SYSTEM '/etc/x'><a><b/></a>".utf8)) }
        let path = arguments[0]
        let line = ["xml", server.url(path).absoluteString] + arguments.dropFirst()
        guard terminal else { return try await Tool.run(line) }
        return try await Tool.runOnTerminal("xml", server.url(path).absoluteString, "--color", "never")
    }

    @Test func theDocumentIsIndented() async throws {
        let outcome = try await run("/feed")
        #expect(outcome.status == 0)
        #expect(
            outcome.text == """
                <?xml version="1.0" encoding="UTF-8"?>
                <feed xmlns="urn:f">
                  <entry id="1">
                    <title>Caf\u{E9} &amp; tea</title>
                  </entry>
                  <entry id="2">
                    <title>B</title>
                    <!-- c -->
                  </entry>
                </feed>

                """)
        #expect(try await run("/typed").text.contains("  <b/>"))
    }

    @Test(arguments: [
        ("//f:title/text()", "Caf\u{E9} & tea\nB\n"), ("//@id", "1\n2\n"), ("count(//f:entry)", "2\n"),
        ("//f:entry[2]/f:title", "<title xmlns=\"urn:f\">B</title>\n"), ("string(//f:title[1])", "Caf\u{E9} & tea\n"),
        ("//f:entry/@id = 2", "true\n"), ("//comment()", "<!-- c -->\n"), ("1 div 0", "Infinity\n"),
        ("//f:entry[1]", "<entry xmlns=\"urn:f\" id=\"1\">\n  <title>Caf\u{E9} &amp; tea</title>\n</entry>\n"),
    ])
    func anExpressionsResultIsPrinted(expression: String, text: String) async throws {
        let outcome = try await run("/feed", "--xpath", expression, "--ns", "f=urn:f")
        #expect(outcome.errors == "")
        #expect(outcome.text == text)
        #expect(outcome.status == 0)
    }

    @Test func htmlIsParsedOnRequest() async throws {
        #expect(
            try await run("/page", "--html", "--xpath", "//p").text == "<p>One</p>\n<p>Two <a href=\"x\">link</a></p>\n"
        )
        let outcome = try await run("/page")
        #expect(outcome.status == 6)
        #expect(outcome.errors.contains("--html"))
    }

    @Test func includeAndCharset() async throws {
        let outcome = try await run("/feed", "-i", "--charset", "koi8-r", "--xpath", "string(//*[@id='1'])")
        #expect(outcome.text.hasPrefix("HTTP/1.1 200 OK\n"))
        #expect(outcome.text.hasSuffix("\n\nCaf\u{418} & tea\n"))
    }

    @Test func anEmptyResultIs1AndExplainsPossibleReasons() async throws {
        let outcome = try await run("/feed", "--xpath", "//entry")
        #expect(outcome.status == 1)
        #expect(outcome.text == "")
        #expect(outcome.errors.hasPrefix("afar: Nothing in http://"))
        #expect(outcome.errors.contains("use --ns p=urn:f, then p:feed."))
        #expect(try await !run("/feed", "--xpath", "//f:x", "--ns", "f=urn:f").errors.contains("then"))
        #expect(try await run("/feed", "--xpath", "count(//entry)").text == "0\n")
    }

    @Test func anInvalidExpressionIsReportedBeforeSending() async throws {
        let port = try ClosedPort()
        let outcome = try await Tool.run("xml", port.url.absoluteString, "--xpath", "//a[@b=]/c")
        #expect(outcome.status == 2)
        #expect(outcome.errors == "afar: --xpath cannot be parsed: Invalid expression.\n  //a[@b=]/c\n         ^\n")
    }

    @Test(arguments: [
        (["--xpath", "//p:a"], "--ns prefix=URI"), (["--xpath", "f()"], "cannot be parsed"),
        (["--xpath", " "], "empty"), (["--xpath", "$x"], "cannot be parsed"),
        (["--xpath", "a", "--ns", "urn:f"], "--ns"),
        (["--xpath", "a", "--ns", "1=urn:f"], "\"1\" isn't a valid prefix"),
        (["--xpath", "a", "--ns", "a=1", "--ns", "a=2"], "twice"), (["--ns", "a=1"], "requires --xpath"),
        (["--charset", "utf-9"], "shift_jis"),
    ])
    func badUsageIs2(arguments: [String], word: String) async throws {
        let outcome = try await Tool.run(["xml", ":1"] + arguments)
        #expect(outcome.status == 2)
        #expect(outcome.errors.hasPrefix("afar: "))
        #expect(outcome.errors.contains(word), "\(outcome.errors)")
    }

    @Test func aMalformedDocumentIs6WithTheLocation() async throws {
        let outcome = try await run("/broken")
        #expect(outcome.status == 6)
        #expect(outcome.errors.contains("line 2, column"))
        #expect(outcome.errors.contains("in /a/b"))
        #expect(outcome.errors.contains("404 Not Found"))
        #expect(try await run("/broken", "--check-status").status == 4)
        #expect(try await run("/json").status == 6)
    }

    @Test func controlCharactersAreEscapedOnATerminal() async throws {
        let outcome = try await run("/hostile", terminal: true)
        #expect(outcome.text.hasSuffix("<a b=\"\\u202E\">x\\u009B2J</a>\n"))
    }
}
