import AfarTransport
import Foundation
import HTTPTypes
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct ResponseHeadTests {
    @Test func fieldsOfOneNameAreJoinedWhateverTheirCase() throws {
        let fields: HTTPFields = [
            try #require(HTTPField.Name("Vary")): "a", try #require(HTTPField.Name("vary")): "b",
            try #require(HTTPField.Name("VARY")): "c",
        ]
        let response = try #require(ResponseHead(status: 200, fields: fields, url: "http://mock/").httpURLResponse)
        #expect(response.value(forHTTPHeaderField: "Vary") == "a, b, c")
    }

    @Test(arguments: [
        ("Content-Type", ";"), ("Content-Type", "text/plain; charset="), ("Content-Type", "/;=\"\"\""),
        ("Content-Length", "99999999999999999999"), ("Content-Length", "-1"), ("Content-Length", "x"),
        ("Content-Disposition", "attachment; filename="), ("Content-Disposition", "attachment; filename=\""),
        ("Content-Disposition", ";;=;filename=\"\\"), ("Location", "http://["), ("Set-Cookie", "="),
        ("Last-Modified", "yesterday"), ("X-Bytes", "\u{FFFD}\u{0}"), ("Content-Type", ""),
        ("Content-Disposition", "attachment; filename*=UTF-8''%"), ("Content-Type", "text/plain; charset=\""),
    ])
    func oddValuesDoNotHarm(name: String, value: String) throws {
        let fields: HTTPFields = [try #require(HTTPField.Name(name)): value]
        let head = ResponseHead(status: 200, fields: fields, url: "http://mock/")
        let response = try #require(head.httpURLResponse)
        _ = (response.expectedContentLength, response.suggestedFilename, response.mimeType, response.textEncodingName)
    }

    private func head(_ lines: String) -> ResponseHead {
        ResponseHead(
            status: 200, httpVersion: "HTTP/1.1", raw: RawHead(bytes: Array(("HTTP/1.1 200 OK\r\n" + lines).utf8)),
            url: "http://example.com/")
    }

    @Test func fieldsAreReadFromTheRawLines() {
        let head = head("Content-Type: text/plain \r\nX-Empty:\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\n")
        #expect(head.value(for: .contentType) == "text/plain")
        #expect(head.values(for: .setCookie) == ["a=1", "b=2"])
        #expect(head.fields.map(\.name.canonicalName) == ["content-type", "x-empty", "set-cookie", "set-cookie"])
    }

    @Test func foldedLinesAreJoined() {
        #expect(head("Server: one\r\n two\r\n\tthree\r\n").value(for: .server) == "one two three")
    }

    @Test func linesWithoutAColonOrWithABadNameAreLeftOut() {
        let head = head("nonsense\r\nbad name: 1\r\n: 2\r\nGood: 3\r\n")
        #expect(head.fields.map(\.value) == ["3"])
    }

    @Test func bytesThatAreNoUTF8DoNotBreakReading() {
        let bytes = Array("HTTP/1.1 200 OK\r\nX: ".utf8) + [0xFF, 0xFE, 0x0D, 0x0A]
        let head = ResponseHead(status: 200, httpVersion: "HTTP/1.1", raw: RawHead(bytes: bytes), url: "http://h/")
        #expect(head.fields.count == 1)
    }

    @Test func foundationsFormJoinsRepeatedFields() throws {
        let response = try #require(head("Vary: a\r\nVary: b\r\n").httpURLResponse)
        #expect(response.value(forHTTPHeaderField: "vary") == "a, b")
        #expect(response.statusCode == 200)
        #expect(response.url?.host() == "example.com")
    }

    @Test func aNegativeOrWrittenOutContentLengthIsNone() {
        #expect(head("Content-Length: -1\r\n").contentLength == nil)
        #expect(head("Content-Length: ten\r\n").contentLength == nil)
        #expect(head("Content-Length: 10\r\n").contentLength == 10)
    }
}
