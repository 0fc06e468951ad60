import AfarTransport
import Foundation
import HTTPTypes
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct ResponseHeadTests {
    @Test func fieldsWithEqualNamesAreJoinedInAnyCase() throws {
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
    func unusualValuesAreHandled(name: String, value: String) throws {
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

    @Test func linesWithoutAColonOrWithAnInvalidNameAreIgnored() {
        let head = head("nonsense\r\nbad name: 1\r\n: 2\r\nGood: 3\r\n")
        #expect(head.fields.map(\.value) == ["3"])
    }

    private func head(_ bytes: [UInt8]) -> ResponseHead {
        ResponseHead(
            status: 200, httpVersion: "HTTP/1.1", raw: RawHead(bytes: Array("HTTP/1.1 200 OK\r\n".utf8) + bytes),
            url: "http://example.com/")
    }

    /// RFC 9110, section 5.5.
    @Test func nonUTF8BytesAreLatin1() throws {
        let name = try #require(HTTPField.Name("X-Name"))
        let head = head(Array("X-Name: caf".utf8) + [0xE9, 0x20, 0xC3, 0xA9, 0x0D, 0x0A])
        #expect(head.value(for: name) == "caf\u{E9} \u{C3}\u{A9}")
        #expect(head.fields[name] == "caf\u{E9} \u{C3}\u{A9}")
        #expect(head.httpURLResponse?.value(forHTTPHeaderField: "X-Name") == "caf\u{E9} \u{C3}\u{A9}")
        let folded = self.head(Array("X-Name: é\r\n caf".utf8) + [0xE9, 0x0D, 0x0A])
        #expect(folded.value(for: name) == "\u{C3}\u{A9} caf\u{E9}")
        #expect(self.head("X-Name: café €\r\n").value(for: name) == "café €")
    }

    @Test(arguments: ["Location", "Content-Location"]) func bytesOfURLsArePercentEncoded(name: String) throws {
        let field = try #require(HTTPField.Name(name))
        let head = head(Array("\(name): /caf".utf8) + [0xE9] + Array("?x=%41".utf8) + [0xFF, 0x0D, 0x0A])
        #expect(head.value(for: field) == "/caf%E9?x=%41%FF")
        #expect(head.fields[field] == "/caf%E9?x=%41%FF")
        #expect(self.head("\(name): /café\r\n").value(for: field) == "/café")
    }

    @Test func nonUTF8BytesAreAccepted() {
        let bytes = Array("HTTP/1.1 200 OK\r\nX: ".utf8) + [0xFF, 0xFE, 0x0D, 0x0A]
        let head = ResponseHead(status: 200, httpVersion: "HTTP/1.1", raw: RawHead(bytes: bytes), url: "http://h/")
        #expect(head.fields.count == 1)
    }

    @Test func theHTTPURLResponseJoinsRepeatedFields() throws {
        let response = try #require(head("Vary: a\r\nVary: b\r\n").httpURLResponse)
        #expect(response.value(forHTTPHeaderField: "vary") == "a, b")
        #expect(response.statusCode == 200)
        #expect(response.url?.host() == "example.com")
    }

    @Test func anInvalidContentLengthIsNil() {
        #expect(head("Content-Length: -1\r\n").contentLength == nil)
        #expect(head("Content-Length: ten\r\n").contentLength == nil)
        #expect(head("Content-Length: 10\r\n").contentLength == 10)
    }
}
