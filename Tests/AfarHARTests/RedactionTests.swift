import AfarCore
import AfarHAR
import AfarSerializers
import AfarTesting
import AfarTransport
import Foundation
import HTTPTypes
import Testing

/// Redaction of request bodies in an archive. Response bodies are redacted in the same way.
@Suite struct RedactionTests {
    private func recorded(
        _ body: String, type: String, _ redaction: HAR.Redaction = .secrets, path: String = "/"
    ) async throws -> HAR.Request {
        let recording = RecordingTransport(around: MockTransport { _ in .status(204) }, redaction: redaction)
        var exchange = Exchange(
            request: HTTPRequest(method: .post, scheme: "http", authority: "mock.test", path: path))
        exchange.body = .data(Data(body.utf8))
        exchange.request.headerFields[.contentType] = type
        _ = try await recording.send(exchange)
        return try #require(recording.archive.entries.first?.request)
    }

    @Test(arguments: [
        (#"{"token":"a","name":"b"}"#, #"{"token":"***","name":"b"}"#),
        (#"{"tokens": ["a", {"x": "b"}], "n": 1}"#, #"{"tokens": ["***", {"x": "***"}], "n": 1}"#),
        (#"{"session":{"id":"a","n":[1,2.5e3]},"id":7}"#, #"{"session":{"id":"***","n":[0,0]},"id":7}"#),
        (
            #"{"max_tokens":30,"hasPassword":true,"password":null}"#,
            #"{"max_tokens":0,"hasPassword":true,"password":null}"#
        ),
        (#"{"to\u006ben":"a"}"#, #"{"to\u006ben":"***"}"#), (#"{"password":"a\"b"}"#, #"{"password":"***"}"#),
        (#"{"token":"cut o"#, #"{"token":"***""#),
        ("{\"token\":\"a\"}\n{\"token\":\"b\"}\n", "{\"token\":\"***\"}\n{\"token\":\"***\"}\n"),
        (#")]}',{"token":"a"}"#, #")]}',{"token":"***"}"#),
        (#"{"a":[{"apiKey":"k"},"k"]}"#, #"{"a":[{"apiKey":"***"},"k"]}"#),
        (#"[1.10, 1e400, "x"]"#, #"[1.10, 1e400, "x"]"#), ("{", "{"), ("\"", "\""), ("]]", "]]"),
        (#"{"token":"\"#, #"{"token":"***""#),
    ])
    func jsonIsHiddenByItsKeys(text: String, expected: String) async throws {
        #expect(try await recorded(text, type: "application/json").body?.text == expected)
        #expect(try await recorded(text, type: "application/x-ndjson").body?.text == expected)
    }

    @Test func deepJSONIsRead() async throws {
        let text = String(repeating: #"{"a":["#, count: 100_000) + #"{"token":"s3cret"}"#
        let shown = try await recorded(text, type: "application/json").body?.text
        #expect(shown?.count == text.count - 3)
        #expect(shown?.contains("s3cret") == false)
    }

    @Test func secretsWithoutATypeAndInEventsAreHidden() async throws {
        let json = #"{"token":"a"}"#
        #expect(try await recorded(json, type: "text/plain").body?.text == #"{"token":"***"}"#)
        let events = try await recorded("data: \(json)\n\n", type: "text/event-stream").body?.text
        #expect(events == "data: {\"token\":\"***\"}\n\n")
    }

    @Test func formsAndPartsAreHiddenByTheirNames() async throws {
        let form = try await recorded("user=a&password=b&x=1&token", type: "application/x-www-form-urlencoded")
        #expect(form.body?.text == "user=a&password=***&x=1&token")
        func part(_ name: String, _ content: String, _ more: String = "") -> String {
            "--B\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\(more)\r\n\(content)\r\n"
        }
        let json = "Content-Type: application/json\r\n"
        let sent = part("user", "a") + part("password", "b\r\nc") + part("x", #"{"token":"d"}"#, json) + "--B--\r\n"
        let expected = part("user", "a") + part("password", "***") + part("x", #"{"token":"***"}"#, json) + "--B--\r\n"
        #expect(try await recorded(sent, type: "multipart/form-data; boundary=B").body?.text == expected)
    }

    @Test func partsWithUnquotedNamesAreHidden() async throws {
        func sent(_ content: String) -> String {
            "--B\r\nContent-Disposition: form-data; name=password; x=1\r\n\r\n\(content)\r\n--B--\r\n"
        }
        #expect(try await recorded(sent("a"), type: "multipart/form-data; boundary=B").body?.text == sent("***"))
    }

    private static func part(_ head: String, _ content: String) -> String { "--B\r\n\(head)\r\n\r\n\(content)\r\n" }

    @Test(arguments: [
        "multipart/form-data", "Multipart/form-data; boundary=", "multipart/form-data; boundary=C",
        "multipart/form-data; boundary=B; boundary=C", "multipart/form-data; xboundary=B",
        "multipart/form-data; boundary=\(String(repeating: "B", count: 300))",
    ])
    func partsWithoutAReadableBoundaryAreHidden(type: String) async throws {
        let sent = Self.part("Content-Disposition: form-data; name=\"password\"", "s3cret") + "--B--\r\n"
        #expect(try await recorded(sent, type: type).body?.text == "***")
        #expect(try await recorded(sent, type: type, .none).body?.text == sent)
    }

    @Test(arguments: ["boundary=\"B\"", "x=\"a;boundary=C\"; boundary=B", "charset=utf-8; BOUNDARY = B ; x=1"])
    func boundariesAreReadInEveryForm(parameter: String) async throws {
        func sent(_ content: String) -> String {
            Self.part("Content-Disposition: form-data; name=\"password\"", content) + "--B--\r\n"
        }
        let shown = try await recorded(sent("s3cret"), type: "multipart/form-data; \(parameter)").body?.text
        #expect(shown == sent("***"))
    }

    @Test(arguments: [
        "s3cret", "--Bs3cret\r\n\r\n", "--B\r\nContent-Disposition: form-data; name=\"s3cret",
        "--B\rContent-Disposition: form-data; name=password\r\rs3cret\r--B--\r",
        part("Content-Disposition: form-data; name=\"a\"", "b\r\n--Bs3cret") + "--B--\r\n",
    ])
    func bodiesThatAreNotPartsAreHidden(sent: String) async throws {
        #expect(try await recorded(sent, type: "multipart/form-data; boundary=B").body?.text == "***")
    }

    @Test(arguments: [
        "Content-Disposition: form-data;\r\n name=\"password\"", "content-disposition : form-data;\tNAME = password",
        "Content-Disposition: form-data; name*=UTF-8''pass%77ord", "Content-Disposition: form-data",
        "Content-Disposition: form-data; filename=\"a\\\"; name=b\"; name=\"password\"",
        "Content-Disposition: form-data; name=a; name=password", "X-A: b",
        "Content-Disposition: form-data; name=a\r\nContent-Transfer-Encoding: base64",
        "Content-Disposition: form-data; name=a\r\nContent-Type: multipart/mixed",
        "Content-Disposition: form-data; name=a\r\nContent-Type: text/plain\r\nContent-Type: application/json",
    ])
    func partsThatCanContainSecretsAreHidden(head: String) async throws {
        func sent(_ content: String) -> String { Self.part(head, content) + "--B--\r\n" }
        #expect(try await recorded(sent("s3cret"), type: "multipart/form-data; boundary=B").body?.text == sent("***"))
        let lines = { (text: String) in text.replacingOccurrences(of: "\r\n", with: "\n") }
        let shown = try await recorded(lines(sent("s3cret")), type: "multipart/form-data; boundary=B").body?.text
        #expect(shown == lines(sent("***")))
    }

    @Test func textOutsideOfPartsIsHidden() async throws {
        let sent = "s3cret\r\n" + Self.part("X-A: b", "c") + "--B--\r\ns3cret"
        let expected = "***" + Self.part("X-A: b", "c") + "--B--\r\n***"
        #expect(try await recorded(sent, type: "multipart/mixed; boundary=B").body?.text == expected)
    }

    /// A replay without redaction compares the rest of a body when it ignores a name.
    @Test func onlyIgnoredNamesAreHiddenWithoutRedaction() async throws {
        let nonce = { (value: String) in Self.part("Content-Disposition: form-data; name=nonce", value) + "--B--\r\n" }
        let type = "multipart/form-data; boundary=B"
        func status(_ body: String, _ transport: any Transport) async -> Int? {
            var exchange = Exchange(
                request: HTTPRequest(method: .post, scheme: "http", authority: "mock.test", path: "/"))
            exchange.body = .data(Data(body.utf8))
            exchange.request.headerFields[.contentType] = type
            return try? await transport.send(exchange).head.status
        }
        let recording = RecordingTransport(around: MockTransport { _ in .status(204) }, redaction: .none)
        #expect(await status("x" + Self.part("X-A: b", "c") + nonce("1"), recording) == 204)
        let replay = ReplayTransport(
            recording.archive, matching: .strict.ignoring(["nonce"]), redaction: .none)
        #expect(await status("x" + Self.part("X-A: b", "d") + nonce("2"), replay) == nil)
        #expect(await status("y" + Self.part("X-A: b", "c") + nonce("2"), replay) == nil)
        #expect(await status("x" + Self.part("X-A: b", "c") + nonce("2"), replay) == 204)
    }

    @Test func theLastPartCanBeIncomplete() async throws {
        let head = "Content-Disposition: form-data; name=password"
        let sent = try await recorded("--B\r\n\(head)\r\n\r\ns3cr", type: "multipart/form-data; boundary=B")
        #expect(sent.body?.text == "--B\r\n\(head)\r\n\r\n***")
    }

    @Test func hostilePartsTakeLinearTime() async throws {
        for part in ["--B\r\n\r\n", "--B\r\n", "\n--B\nx: y\n\n", "--B", "a\r\n b"] {
            let text = "--B\r\n\r\n" + String(repeating: part, count: 100_000)
            #expect(try await recorded(text, type: "multipart/mixed; boundary=B").body?.text != nil)
        }
    }

    @Test func deepPartsAreHidden() async throws {
        var body = #"{"token":"s3cret"}"#
        for _ in 0..<30_000 { body = "--B\r\nContent-Type: multipart/mixed; boundary=B\r\n\r\n" + body }
        let shown = try await recorded(body, type: "multipart/mixed; boundary=B").body?.text
        #expect(shown?.contains("s3cret") == false)
        // Each part contains the next one.
        for levels in [8, 9, 2_000] {
            var nested = #"{"b":"kept"}"#
            for level in 0..<levels {
                let head = "Content-Type: multipart/mixed; boundary=B\(level - 1)X"
                nested = "--B\(level)X\r\n\(level == 0 ? "" : head + "\r\n")\r\n" + nested
            }
            let type = "multipart/mixed; boundary=B\(levels - 1)X"
            #expect(try await recorded(nested, type: type).body?.text?.contains("kept") == (levels == 8))
        }
    }

    @Test(arguments: [
        ("<a><password>s</password><b>c</b></a>", "<a><password>***</password><b>c</b></a>"),
        ("<x:apiKey n='1'>s<!--s--><b c=\"s\"/></x:apiKey>", "<x:apiKey n='***'>******<b c=\"***\"/></x:apiKey>"),
        ("<a x:token = \"s\" b='>'/>c", "<a x:token = \"***\" b='>'/>c"),
        ("<token><![CDATA[s</token>]]>\n</token >c", "<token>***\n</token >c"),
        ("<token><token>s</token>s</token>c", "<token><token>***</token>***</token>c"),
        ("<token><b>s</c>s</token>c", "<token><b>***</c>***</token>c"),
        ("<token/>c<token></token>", "<token/>c<token></token>"),
        ("<token xmlns='u' xmlns:a='v'>s</token>", "<token xmlns='u' xmlns:a='v'>***</token>"),
        (
            "<plist><key>password</key>\n<string>s</string><key>b</key><string>c</string></plist>",
            "<plist><key>password</key>\n<string>***</string><key>b</key><string>c</string></plist>"
        ),
        ("<p name='password'>s</p><p name='b'>c</p>", "<p name='password'>***</p><p name='b'>c</p>"),
        ("<add key=\"apiKey\" value=\"s\"/>", "<add key=\"apiKey\" value=\"***\"/>"),
        (
            "<member><name>password</name><value><string>s</string></value></member><name>b</name><value>c</value>",
            "<member><name>password</name><value><string>***</string></value></member><name>b</name><value>c</value>"
        ),
        (
            "<p><x:Name><![CDATA[api_key]]></x:Name> s <type>s</type><value>s</value></p><value>c</value>",
            "<p><x:Name><![CDATA[api_key]]></x:Name>***<type>***</type><value>***</value></p><value>c</value>"
        ),
        ("<name>pass&#119;or&#x64;</name><v>s</v>", "<name>pass&#119;or&#x64;</name><v>***</v>"),
        ("<name>a &amp; b &#; &#xFFFFFFFFF; &</name><v>c</v>", "<name>a &amp; b &#; &#xFFFFFFFFF; &</name><v>c</v>"),
        ("<user><name>Token Ring</name></user><b>c</b>", "<user><name>Token Ring</name></user><b>c</b>"),
        ("<a b token=s c=d x:pwd = s>c</a>", "<a b token=*** c=d x:pwd = ***>c</a>"),
        ("<token n=s/>c<token  n= s />c", "<token n=***/>c<token  n= *** />c"),
        ("<a b=\"<password>s</password>\" c='d'/>", "<a b=\"***\" c='d'/>"),
        ("<a><!-- <token>s</token> b --></a>", "<a><!-- <token>***</token> b --></a>"),
        ("<a><![CDATA[<token>s</token> b]]></a>", "<a><![CDATA[<token>***</token> b]]></a>"),
        ("<a><![CDATA[ {\"token\":\"s\"}]]></a>", "<a><![CDATA[ {\"token\":\"***\"}]]></a>"),
        ("<!--<![CDATA[<a>]]>--><b/>", "<!--***--><b/>"),
        ("<!DOCTYPE a><?b c?><a>1 < 2 &amp; 3</a>", "<!DOCTYPE a><?b c?><a>1 < 2 &amp; 3</a>"),
        ("<token>cut", "<token>***"), ("<a token=\"cut", "<a token=\"***"), ("<", "<"), ("</", "</"), ("<a", "<a"),
        ("<a =", "<a ="), ("<token", "<token"), ("<!--", "<!--"), ("</token>a", "</token>a"),
    ])
    func xmlIsHiddenByItsNames(text: String, expected: String) async throws {
        #expect(try await recorded(text, type: "application/soap+xml").body?.text == expected)
        #expect(try await recorded(text, type: "text/plain").body?.text == expected)
    }

    @Test func hostileXMLTakesLinearTime() async throws {
        let parts = [
            "<a ", "<token>", "<token a='", "<![CDATA[", "<!--", "= \"", "</", "<key>", "a:b:", "<name>&#", "a =",
            "a==",
            "<![CDATA[<!--", "<script", "<script><",
        ]
        for part in parts {
            let text = "<token>" + String(repeating: part, count: 50_000)
            #expect(try await recorded(text, type: "text/xml").body?.text?.contains("<token>") == true)
            let page = "<p>" + String(repeating: part, count: 50_000)
            #expect(try await recorded(page, type: "text/html").body?.text?.contains("<p>") == true)
        }
    }

    @Test(arguments: [
        (
            "<input type=hidden name=csrf_token value=s><p>c</p>",
            "<input type=*** name=csrf_token value=***><p>c</p>"
        ),
        ("<META NAME='csrf-token' CONTENT='s'><p>c", "<META NAME='csrf-token' CONTENT='***'><p>c"),
        ("<script>if (a <token> b) {}</script><p>c", "<script>if (a <token> b) {}</script><p>c"),
        ("<SCRIPT>x = {\"token\":\"s\"}</SCRIPT><token>s", "<SCRIPT>x = {\"token\":\"***\"}</SCRIPT><token>***"),
        ("<a href=/token/><b>c</b>", "<a href=/token/><b>c</b>"), ("<script", "<script"), ("<script>", "<script>"),
    ])
    func htmlIsHiddenByItsNames(text: String, expected: String) async throws {
        #expect(try await recorded(text, type: "text/html; charset=utf-8").body?.text == expected)
        let page = { (body: String) in "<!DOCTYPE html>\(body)" }
        #expect(try await recorded(page(text), type: "").body?.text == page(expected))
    }

    private static let wideEncodings: [(String.Encoding, mark: [UInt8])] = [
        (.utf16LittleEndian, [0xFF, 0xFE]), (.utf16BigEndian, [0xFE, 0xFF]),
        (.utf32LittleEndian, [0xFF, 0xFE, 0, 0]), (.utf32BigEndian, [0, 0, 0xFE, 0xFF]),
    ]

    @Test(arguments: [
        ("<a><password>sä</password>😀</a>", "<a><password>***</password>😀</a>", "text/xml"),
        (#"{"token":"sä","b":"😀"}"#, #"{"token":"***","b":"😀"}"#, "application/json; charset=utf-16"),
        ("<token>sä</token>", "<token>***</token>", "text/plain"), ("a=b&token=s", "a=b&token=***", form),
    ])
    func wideTextIsDecoded(text: String, expected: String, type: String) throws {
        for (encoding, mark) in Self.wideEncodings {
            let sent = try #require(text.data(using: encoding))
            let hidden = try #require(expected.data(using: encoding))
            #expect(HAR.Redaction.secrets.body(sent, type: type) == hidden)
            #expect(HAR.Redaction.secrets.body(mark + sent, type: type) == mark + hidden)
            #expect(HAR.Redaction.secrets.body(mark + sent + [0x3C], type: type) == Data("***".utf8))
        }
    }

    private static let form = "application/x-www-form-urlencoded"

    @Test func jsonWithTheTypeOfAFormHasNoSecrets() {
        for (body, hidden) in [
            (#"{"password":"s"}"#, #"{"password":"***"}"#), (" [{\"token\":\"a=b\"}]", " [{\"token\":\"***\"}]"),
            ("[a]=1&token=s", "[a]=1&token=***"), ("<a token='s'/>", "<a token=***"),
        ] {
            let redacted = HAR.Redaction.secrets.body(Data(body.utf8), type: Self.form)
            #expect(String(decoding: redacted, as: UTF8.self) == hidden)
        }
    }

    @Test func wideTextCanBeginWithWhiteSpace() throws {
        for encoding in [String.Encoding.utf16LittleEndian, .utf16BigEndian, .utf32LittleEndian] {
            let text = try #require("\n {\"token\":\"s\"}".data(using: encoding))
            let hidden = try #require("\n {\"token\":\"***\"}".data(using: encoding))
            #expect(HAR.Redaction.secrets.body(text, type: "text/plain") == hidden)
        }
    }

    /// The head of a part, and a message in a part, can contain credentials.
    @Test(arguments: [
        "Authorization: Bearer s\r\n\r\nx", "Content-Type: application/http\r\n\r\nGET / HTTP/1.1\r\nCookie: s\r\n\r\n",
        "Content-Type: message/rfc822\r\n\r\nX-Api-Key: s\r\n\r\n",
    ])
    func headsInPartsHaveNoSecrets(part: String) {
        let body = Data("--B\r\n\(part)\r\n--B--\r\n".utf8)
        let redacted = HAR.Redaction.secrets.body(body, type: "multipart/mixed; boundary=B")
        let text = String(decoding: redacted, as: UTF8.self)
        #expect(text.contains("***") && !text.contains("Bearer s") && !text.contains(": s\r"), "\(text)")
    }

    @Test func textInOtherEncodingsIsHidden() {
        let json = #"{"token":"s"}"#
        for charset in ["utf-7", "\"UTF-7\"", "IBM037", "ibm500", "x-unknown"] {
            #expect(
                HAR.Redaction.secrets.body(Data(json.utf8), type: "text/json; charset=\(charset)") == Data("***".utf8))
        }
        let marked: Data = [0xEF, 0xBB, 0xBF] + Data(json.utf8)
        #expect(HAR.Redaction.secrets.body(marked, type: "") == [0xEF, 0xBB, 0xBF] + Data(#"{"token":"***"}"#.utf8))
    }

    @Test(arguments: ["", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "image/png"])
    func binaryBodiesStayUnchanged(type: String) {
        for start in [[0, 0, 0, 0x20], [0, 1], [1, 0, 0], [0x50, 0x4B, 3, 4]] as [[UInt8]] {
            let data = Data(start) + Data("ftyp<token>a</token>".utf8) + [0]
            #expect(HAR.Redaction.secrets.body(data, type: type) == data)
        }
    }

    @Test func additionalNamesCanBeHiddenAndOthersShown() async throws {
        let redaction = HAR.Redaction.secrets(and: ["Customer"], except: ["pageToken"])
        let path = "/?customer=a&pageToken=b&token=c"
        let body = #"{"customer":"a","pageToken":"b","token":"c"}"#
        let request = try await recorded(body, type: "application/json", redaction, path: path)
        #expect(request.url == "http://mock.test/?customer=***&pageToken=b&token=***")
        #expect(request.body?.text == #"{"customer":"***","pageToken":"b","token":"***"}"#)
        let none = try await recorded(body, type: "application/json", .none, path: path)
        #expect(none.url.hasSuffix(path))
        #expect(none.body?.text == body)
    }

    @Test func theSessionsSensitiveHeadersAreHidden() async throws {
        var configuration = SessionConfiguration()
        configuration.sensitiveHeaders = ["X-Customer"]
        let monitor = HARMonitor()
        let session = Session(
            configuration: configuration, eventMonitors: [monitor], transport: MockTransport { _ in .text("ok") })
        _ = await session.request("http://mock.test/", headers: ["X-Customer": "s3cret", "X-A": "b"]).serializingData()
            .response
        let fields = monitor.archive.entries.first?.request.headers ?? []
        #expect(fields.first { $0.name == "X-Customer" }?.value == "***")
        #expect(fields.first { $0.name == "X-A" }?.value == "b")
    }
}
