import AfarCore
import AfarHAR
import AfarSerializers
import AfarTesting
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
        ("<!DOCTYPE a><?b c?><a>1 < 2 &amp; 3</a>", "<!DOCTYPE a><?b c?><a>1 < 2 &amp; 3</a>"),
        ("<token>cut", "<token>***"), ("<a token=\"cut", "<a token=\"***"), ("<", "<"), ("</", "</"), ("<a", "<a"),
        ("<a =", "<a ="), ("<token", "<token"), ("<!--", "<!--"), ("</token>a", "</token>a"),
    ])
    func xmlIsHiddenByItsNames(text: String, expected: String) async throws {
        #expect(try await recorded(text, type: "application/soap+xml").body?.text == expected)
        #expect(try await recorded(text, type: "text/plain").body?.text == expected)
    }

    @Test func hostileXMLTakesLinearTime() async throws {
        for part in ["<a ", "<token>", "<token a='", "<![CDATA[", "<!--", "= \"", "</", "<key>", "a:b:"] {
            let text = "<token>" + String(repeating: part, count: 200_000)
            #expect(try await recorded(text, type: "text/xml").body?.text?.contains("<token>") == true)
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
