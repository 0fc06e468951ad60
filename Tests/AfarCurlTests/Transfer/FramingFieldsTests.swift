import Testing

@testable import AfarCurl

@Suite struct FramingFieldsTests {
    private func fields(_ lines: String...) -> FramingFields {
        var fields = FramingFields()
        for var line in lines { line.withUTF8 { fields.note(UnsafeRawBufferPointer($0)) } }
        return fields
    }

    @Test func oneLengthOfDigitsIsPlain() {
        for line in ["Content-Length: 42\r\n", "content-length:42\n", "CONTENT-LENGTH:\t 42 \r\n"] {
            let fields = fields("HTTP/1.1 200 OK\r\n", "Date: now\r\n", line, "Connection: close\r\n")
            #expect(fields.isPlain)
            #expect(fields.contentLength == 42)
        }
        #expect(fields("HTTP/1.1 200 OK\r\n", "Cookie: a\r\n", "Trailer: b\r\n").isPlain)
        #expect(fields("Content-Length: 999999999999999999\r\n").contentLength == 999_999_999_999_999_999)
    }

    @Test func othersAreToBeReadAgain() {
        for lines in [
            ["Content-Length: 4 2\r\n"], ["Content-Length: +42\r\n"], ["Content-Length: 42, 42\r\n"],
            ["Content-Length:\r\n"], ["Content-Length: 1000000000000000000\r\n"], ["Content-Length: x\r\n"],
            ["Content-Length: 1\r\n", "Content-Length: 1\r\n"], ["Content-Length: 1\r\n", " 2\r\n"],
            ["Transfer-Encoding: chunked\r\n"], ["transfer-encoding:chunked\r\n"], ["X: y\r\n", "\tz\r\n"],
        ] {
            var fields = FramingFields()
            for var line in lines { line.withUTF8 { fields.note(UnsafeRawBufferPointer($0)) } }
            #expect(!fields.isPlain, "\(lines)")
        }
    }

    @Test func namesThatOnlyResembleAreOthers() {
        #expect(fields("Content\rLength: 5\r\n", "Content-Length2: 5\r\n", "Content-Lengt: 5\r\n").contentLength == nil)
    }
}
