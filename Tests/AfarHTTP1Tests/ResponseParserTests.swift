import AfarTransport
import Foundation
import HTTPTypes
import Testing

@testable import AfarHTTP1

/// Test cases for the parser, grouped by the sections of RFC 9112. Each response is also parsed in two parts, for every
/// position of the split, and byte by byte.
struct ResponseParserTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let section: String
        let response: String
        let expected: String
        var method = HTTPRequest.Method.get
        var requestsUpgrade = false
        var endOfInput = Transcript.EndOfInput.closed

        init(
            _ section: String, _ response: String, _ expected: String, method: HTTPRequest.Method = .get,
            requestsUpgrade: Bool = false,
            endOfInput: Transcript.EndOfInput = .closed
        ) {
            (self.section, self.response, self.expected) = (section, response, expected)
            (self.method, self.requestsUpgrade, self.endOfInput) = (method, requestsUpgrade, endOfInput)
        }

        var testDescription: String { "\(section): \(response.debugDescription)" }

        func transcript(_ pieces: [ArraySlice<UInt8>]) -> String {
            Transcript(pieces, method: method, requestsUpgrade: requestsUpgrade, endOfInput: endOfInput).text
        }
    }

    private func check(_ test: Case) {
        let bytes = Array(test.response.utf8)
        #expect(test.transcript([bytes[...]]) == test.expected)
        for index in bytes.indices.dropFirst() {
            let divided = test.transcript([bytes[..<index], bytes[index...]])
            if divided != test.expected { Issue.record("divided at byte \(index): \(divided)") }
        }
        #expect(test.transcript(bytes.indices.map { bytes[$0...$0] }) == test.expected, "byte by byte")
    }

    static let ok = "HTTP/1.1 200 OK\r\n"

    // MARK: Section 2.2, message parsing

    static let lines = [
        Case("CRLF", ok + "A: 1\r\nContent-Length: 0\r\n\r\n", "head 200 A=1,Content-Length=0 | end, reusable"),
        Case(
            "a single LF ends a line", "HTTP/1.1 200 OK\nA: 1\nContent-Length: 0\n\n",
            "head 200 A=1,Content-Length=0 | end, reusable"),
        Case(
            "line ends may be mixed", "HTTP/1.1 200 OK\r\nA: 1\nContent-Length: 0\r\n\n",
            "head 200 A=1,Content-Length=0 | end, reusable"),
        Case(
            "a bare CR in a value", ok + "A: 1\rB: 2\r\nContent-Length: 0\r\n\r\n",
            "head 200 A=1 B: 2,Content-Length=0 | end"),
        Case(
            "a bare CR in the status line", "HTTP/1.1 200 O\rK\r\nContent-Length: 0\r\n\r\n",
            "head 200 Content-Length=0 | end"),
        Case("a bare CR in a length", ok + "Content-Length: 1\r0\r\n\r\n", "malformedResponse"),
        Case(
            "two CRs before LF", ok + "A: 1\r\r\nContent-Length: 2\r\r\n\r\nhi",
            "head 200 A=1,Content-Length=2 | body hi | end"),
        Case("a line of CR alone", ok + "\rA: 1\r\n\r\n", "malformedResponse"),
        Case("NUL in a value", ok + "A: 1\0\r\n\r\n", "malformedResponse"),
        Case("white space before the first field", ok + " A: 1\r\n\r\n", "malformedResponse"),
        Case("a blank line before the status line", "\r\n" + ok + "\r\n", "malformedResponse"),
    ]
    @Test(arguments: lines) func messageParsing(test: Case) { check(test) }

    // MARK: Section 4, status line

    static let statusLines = [
        Case(
            "a reason", "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            "head 404 Content-Length=0 | end, reusable"),
        Case(
            "an empty reason", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", "head 200 Content-Length=0 | end, reusable"
        ),
        Case(
            "no space after the status", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n",
            "head 200 Content-Length=0 | end, reusable"),
        Case(
            "bytes beyond ASCII in the reason", "HTTP/1.1 200 Größe\r\nContent-Length: 0\r\n\r\n",
            "head 200 Content-Length=0 | end, reusable"),
        Case(
            "the largest status", "HTTP/1.1 999 ?\r\nContent-Length: 0\r\n\r\n",
            "head 999 Content-Length=0 | end, reusable"),
        Case(
            "a later minor version", "HTTP/1.9 200 OK\r\nContent-Length: 0\r\n\r\n",
            "head 200 Content-Length=0 | end, reusable"),
        Case("two digits", "HTTP/1.1 20 OK\r\n\r\n", "malformedResponse"),
        Case("four digits", "HTTP/1.1 2000 OK\r\n\r\n", "malformedResponse"),
        Case("a status below 100", "HTTP/1.1 099 OK\r\n\r\n", "malformedResponse"),
        Case("no digits", "HTTP/1.1 OK\r\n\r\n", "malformedResponse"),
        Case("two spaces", "HTTP/1.1  200 OK\r\n\r\n", "malformedResponse"),
        Case("a tab", "HTTP/1.1\t200 OK\r\n\r\n", "malformedResponse"),
        Case("another major version", "HTTP/2.0 200 OK\r\n\r\n", "malformedResponse"),
        Case("no minor version", "HTTP/1 200 OK\r\n\r\n", "malformedResponse"),
        Case("another case", "http/1.1 200 OK\r\n\r\n", "malformedResponse"),
        Case("another protocol", "ICY 200 OK\r\n\r\n", "malformedResponse"),
        Case("HTTP/0.9", "<html>hello</html>", "malformedResponse"),
    ]
    @Test(arguments: statusLines) func statusLine(test: Case) { check(test) }

    // MARK: Section 5, field syntax

    static let fields = [
        Case(
            "white space around a value", ok + "A: \t 1 \t\r\nContent-Length:0\r\n\r\n",
            "head 200 A=1,Content-Length=0 | end, reusable"),
        Case("an empty value", ok + "A:\r\nContent-Length: 0\r\n\r\n", "head 200 A=,Content-Length=0 | end, reusable"),
        Case(
            "a colon in a value", ok + "A: b:c\r\nContent-Length: 0\r\n\r\n",
            "head 200 A=b:c,Content-Length=0 | end, reusable"),
        Case(
            "a folded line", ok + "A: 1\r\n 2\r\nContent-Length: 0\r\n\r\n",
            "head 200 A=1 2,Content-Length=0 | end"),
        Case("a folded Content-Length", ok + "Content-Length: 1\r\n 2\r\n\r\n", "malformedResponse"),
        Case("a folded Transfer-Encoding", ok + "Transfer-Encoding:\r\n chunked\r\n\r\n", "malformedResponse"),
        Case(
            "a folded Connection", ok + "Connection:\r\n foo\r\nContent-Length: 0\r\n\r\n",
            "head 200 Connection=foo,Content-Length=0 | end"),
        Case(
            "a name with white space before the colon is left out", ok + "A : 1\r\nContent-Length: 0\r\n\r\n",
            "head 200 Content-Length=0 | end"),
        Case("white space before the colon of a length", ok + "Content-Length : 1\r\n\r\n", "malformedResponse"),
        Case(
            "white space before the colon of a coding", ok + "Transfer-Encoding\t: chunked\r\n\r\n", "malformedResponse"
        ),
        Case("no colon", ok + "A\r\n\r\n", "malformedResponse"),
        Case(
            "an empty name is left out", ok + ": 1\r\nContent-Length: 0\r\n\r\n",
            "head 200 Content-Length=0 | end"),
        Case(
            "a name that is no token is left out", ok + "A(b): 1\r\nContent-Length: 0\r\n\r\n",
            "head 200 Content-Length=0 | end"),
    ]
    @Test(arguments: fields) func fieldSyntax(test: Case) { check(test) }

    // MARK: Section 6.3, message body length

    static let lengths = [
        Case(
            "1: HEAD with a length", ok + "Content-Length: 5\r\n\r\n", "head 200 Content-Length=5 | end, reusable",
            method: .head),
        Case(
            "1: HEAD, chunked", ok + "Transfer-Encoding: chunked\r\n\r\n",
            "head 200 Transfer-Encoding=chunked | end, reusable",
            method: .head),
        Case("1: HEAD without a length", ok + "\r\n", "head 200 | end, reusable", method: .head),
        Case("1: 204", "HTTP/1.1 204 No Content\r\n\r\n", "head 204 | end, reusable"),
        Case(
            "1: 204 with the length 0", "HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n",
            "head 204 Content-Length=0 | end, reusable"),
        Case(
            "1: 204 with a body", "HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nhi",
            "head 204 Content-Length=2 | end | surplus hi"),
        Case(
            "1: 304 with a length", "HTTP/1.1 304 Not\r\nContent-Length: 9\r\n\r\n",
            "head 304 Content-Length=9 | end, reusable"),
        Case(
            "2: CONNECT", ok + "Content-Length: 5\r\n\r\nhello", "head 200 Content-Length=5 | tunnel | surplus hello",
            method: .connect),
        Case(
            "2: CONNECT with an invalid length", ok + "Content-Length: x\r\n\r\n", "head 200 Content-Length=x | tunnel",
            method: .connect),
        Case(
            "4: identity before chunked", ok + "Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n",
            "head 200 Transfer-Encoding=identity, chunked | end"),
        Case(
            "4: an empty coding", ok + "Transfer-Encoding:\r\nContent-Length: 2\r\n\r\nhi",
            "head 200 Transfer-Encoding=,Content-Length=2 | body hi | end"),
        Case(
            "4: a name with a vertical tab", ok + "Transfer-Encoding\u{B}: chunked\r\nContent-Length: 0\r\n\r\n",
            "head 200 Content-Length=0 | end"),
        Case(
            "304 with both fields", "HTTP/1.1 304 Not\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n",
            "head 304 Content-Length=9,Transfer-Encoding=chunked | end"),
        Case(
            "2: CONNECT, refused", "HTTP/1.1 407 Auth\r\nContent-Length: 2\r\n\r\nno",
            "head 407 Content-Length=2 | body no | end, reusable",
            method: .connect),
        Case(
            "3: both fields", ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            "head 200 Content-Length=3,Transfer-Encoding=chunked | body hello | end"),
        Case(
            "3: HTTP/1.0",
            "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            "head 200 Connection=keep-alive,Transfer-Encoding=chunked | body a | end"),
        Case(
            "4: identity is ignored", ok + "Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nhi",
            "head 200 Transfer-Encoding=identity,Content-Length=2 | body hi | end"),
        Case(
            "4: any case", ok + "TRANSFER-ENCODING: Chunked\r\n\r\n0\r\n\r\n",
            "head 200 TRANSFER-ENCODING=Chunked | end, reusable"),
        Case("4: another coding", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n", "malformedResponse"),
        Case("4: chunked isn't last", ok + "Transfer-Encoding: chunked, gzip\r\n\r\n", "malformedResponse"),
        Case("4: chunked twice", ok + "Transfer-Encoding: chunked, chunked\r\n\r\n", "malformedResponse"),
        Case(
            "4: chunked in two fields", ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
            "malformedResponse"),
        Case("4: not quite chunked", ok + "Transfer-Encoding: xchunked\r\n\r\n", "malformedResponse"),
        Case("5: no number", ok + "Content-Length: five\r\n\r\n", "malformedResponse"),
        Case("5: empty", ok + "Content-Length:\r\n\r\n", "malformedResponse"),
        Case("5: a sign", ok + "Content-Length: +5\r\n\r\n", "malformedResponse"),
        Case("5: negative", ok + "Content-Length: -5\r\n\r\n", "malformedResponse"),
        Case("5: hexadecimal", ok + "Content-Length: 0x5\r\n\r\n", "malformedResponse"),
        Case("5: beyond 63 bits", ok + "Content-Length: 9223372036854775808\r\n\r\n", "malformedResponse"),
        Case("5: two numbers", ok + "Content-Length: 2, 3\r\n\r\n", "malformedResponse"),
        Case("5: two fields that differ", ok + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n", "malformedResponse"),
        Case(
            "5: the same number twice", ok + "Content-Length: 2\r\nContent-Length: 2, 2\r\n\r\nhi",
            "head 200 Content-Length=2,Content-Length=2, 2 | body hi | end, reusable"),
        Case(
            "6: a length", ok + "Content-Length: 5\r\n\r\nhello",
            "head 200 Content-Length=5 | body hello | end, reusable"),
        Case(
            "6: too short", ok + "Content-Length: 5\r\n\r\nhell",
            "head 200 Content-Length=5 | body hell | bodyIncomplete"),
        Case(
            "6: data after the end", ok + "Content-Length: 2\r\n\r\nhi!",
            "head 200 Content-Length=2 | body hi | end, reusable | surplus !"),
        Case("8: until the end", ok + "\r\nhello", "head 200 | body hello | end"),
        Case("8: an empty body", ok + "\r\n", "head 200 | end"),
        Case(
            "8: without close_notify", ok + "\r\nhello", "head 200 | body hello | bodyIncomplete",
            endOfInput: .truncated),
        Case("8: still open", ok + "\r\nhello", "head 200 | body hello", endOfInput: .open),
        Case(
            "a declared length needs no close_notify", ok + "Content-Length: 2\r\n\r\nhi",
            "head 200 Content-Length=2 | body hi | end, reusable", endOfInput: .truncated),
    ]
    @Test(arguments: lengths) func bodyLength(test: Case) { check(test) }

    // MARK: Section 7.1, chunked transfer coding

    private static func chunked(_ section: String, _ body: String, _ expected: String) -> Case {
        Case(
            section, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body,
            "head 200 Transfer-Encoding=chunked" + expected)
    }

    static let chunks = [
        chunked("one chunk", "5\r\nhello\r\n0\r\n\r\n", " | body hello | end, reusable"),
        chunked("several chunks", "1\r\na\r\n0A\r\n0123456789\r\n0\r\n\r\n", " | body a0123456789 | end, reusable"),
        chunked(
            "digits in either case", "a\r\n0123456789\r\nB\r\n0123456789a\r\n0\r\n\r\n",
            " | body 01234567890123456789a | end, reusable"),
        chunked("leading zeros", "0000000000000005\r\nhello\r\n0000\r\n\r\n", " | body hello | end, reusable"),
        chunked("17 digits", "00000000000000005\r\nhello\r\n0\r\n\r\n", " | malformedResponse"),
        chunked("beyond 63 bits", "8000000000000000\r\n", " | malformedResponse"),
        chunked("an empty size", "\r\nhello\r\n0\r\n\r\n", " | malformedResponse"),
        chunked("no hexadecimal number", "g\r\n", " | malformedResponse"),
        chunked("a prefix", "0x5\r\nhello\r\n", " | malformedResponse"),
        chunked("a sign", "-5\r\nhello\r\n", " | malformedResponse"),
        chunked("white space before the size", " 5\r\nhello\r\n", " | malformedResponse"),
        chunked("white space after the size", "5 \t\r\nhello\r\n0 \r\n\r\n", " | body hello | end, reusable"),
        chunked("two sizes", "5 6\r\nhello\r\n", " | malformedResponse"),
        chunked("extensions", "5;a=b;c=\"d;e\"\r\nhello\r\n0 ;x\r\n\r\n", " | body hello | end, reusable"),
        chunked("LF alone after an extension", "2;\nxx\r\n0\r\n\r\n", " | malformedResponse"),
        chunked("LF alone after white space", "2 \nxx\r\n0\r\n\r\n", " | body xx | end"),
        chunked("the largest size", "7fffffffffffffff\r\nab", " | body ab | bodyIncomplete"),
        chunked("an extension with a NUL byte", "5;\0\r\nhello\r\n", " | malformedResponse"),
        chunked("a bare CR in an extension", "5;a\rb\r\nhello\r\n", " | malformedResponse"),
        chunked("a single LF ends a line", "5\nhello\n0\n\n", " | body hello | end"),
        chunked("a longer chunk", "5\r\nhello!\r\n0\r\n\r\n", " | body hello | malformedResponse"),
        chunked("no line end after a chunk", "5\r\nhello0\r\n\r\n", " | body hello | malformedResponse"),
        chunked("CR alone after a chunk", "5\r\nhello\rx", " | body hello | malformedResponse"),
        chunked("CR alone after a size", "5\rhello\r\n", " | malformedResponse"),
        chunked("no last chunk", "5\r\nhello\r\n", " | body hello | bodyIncomplete"),
        chunked("within a chunk", "5\r\nhel", " | body hel | bodyIncomplete"),
        chunked("no end of the trailers", "0\r\n", " | bodyIncomplete"),
        chunked("data after the end", "0\r\n\r\nHTTP/1.1", " | end, reusable | surplus HTTP/1.1"),
        chunked(
            "trailers", "1\r\na\r\n0\r\nX-Digest: 1\r\nY: 2\r\n\r\n",
            " | body a | trailers X-Digest=1,Y=2 | end, reusable"),
        chunked(
            "trailers that frame or route",
            "0\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nHost: x\r\nX: 1\r\n\r\n",
            " | trailers X=1 | end, reusable"),
        chunked("a trailer without a colon", "0\r\nX\r\n\r\n", " | malformedResponse"),
        chunked("a trailer that begins with white space", "0\r\n X: 1\r\n\r\n", " | malformedResponse"),
    ]
    @Test(arguments: chunks) func chunkedCoding(test: Case) { check(test) }

    // MARK: Section 9.3, persistence

    private static func empty(_ section: String, _ version: String, _ connection: String, _ expected: String) -> Case {
        Case(
            section, "\(version) 200 OK\r\nConnection: \(connection)\r\nContent-Length: 0\r\n\r\n",
            "head 200 Connection=\(connection),Content-Length=0 | \(expected)")
    }

    static let connections = [
        empty("close", "HTTP/1.1", "close", "end"),
        empty("close in any case, in a list", "HTTP/1.1", "foo, CLOSE", "end"),
        empty("keep-alive", "HTTP/1.1", "keep-alive", "end, reusable"),
        empty("close outranks keep-alive", "HTTP/1.1", "keep-alive, close", "end"),
        empty("another option", "HTTP/1.1", "closed", "end, reusable"),
        empty("HTTP/1.0", "HTTP/1.0", "foo", "end"),
        empty("HTTP/1.0 with keep-alive", "HTTP/1.0", "Keep-Alive", "end, reusable"),
        Case(
            "HTTP/1.0 until the end", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nhi",
            "head 200 Connection=keep-alive | body hi | end"),
    ]
    @Test(arguments: connections) func persistence(test: Case) { check(test) }

    @Test(arguments: [
        ("timeout=5", 5), ("max=100, timeout=0", 0), ("Timeout=7,max=3", 7), ("timeout=x", nil), ("timeout=-1", nil),
        ("timeout=+5", nil), ("timeout=9\r\nKeep-Alive: max=1,timeout=8", 8),
        ("", nil),
    ])
    func keepAlive(value: String, seconds: Int?) throws {
        var parser = ResponseParser(.init(method: .get, url: "http://example.org/"), options: ExchangeOptions())
        let bytes = Array("HTTP/1.1 200 OK\r\nKeep-Alive: \(value)\r\nContent-Length: 0\r\n\r\n".utf8)
        var offset = 0
        _ = try bytes.withUnsafeBytes { try parser.next(in: $0, at: &offset) }
        #expect(parser.keepAliveTimeout == seconds)
    }

    @Test func aClosingRequestLeavesNoConnection() throws {
        var request = ResponseParser.Request(method: .get, url: "http://example.org/")
        request.closesConnection = true
        var parser = ResponseParser(request, options: ExchangeOptions())
        let bytes = Array((Self.ok + "Content-Length: 0\r\n\r\n").utf8)
        var offset = 0
        try bytes.withUnsafeBytes { bytes in while try parser.next(in: bytes, at: &offset) != nil {} }
        #expect(offset == bytes.count)
        #expect(parser.isReusable(remainingByteCount: 0, isRequestSent: true) == false)
    }

    // MARK: Informational responses and upgrades (RFC 9110, sections 15.2 and 7.8)

    static let informational = [
        Case(
            "100 and 103",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: a\r\n\r\n" + ok + "Content-Length: 0\r\n\r\n",
            "informational 100 | informational 103 | head 200 Content-Length=0 | end, reusable"),
        Case(
            "an informational response with a length",
            "HTTP/1.1 102 Wait\r\nContent-Length: x\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi",
            "informational 102 | head 200 Content-Length=2 | body hi | end"),
        Case(
            "an informational response that closes",
            "HTTP/1.1 102 Wait\r\nConnection: close\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi",
            "informational 102 | head 200 Content-Length=2 | body hi | end"),
        Case("101 without an Upgrade field", "HTTP/1.1 101 Switch\r\n\r\n", "malformedResponse", requestsUpgrade: true),
        Case("no final response", "HTTP/1.1 100 Continue\r\n\r\n", "informational 100 | connectionLost"),
        Case("101 without a request for it", "HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n", "malformedResponse"),
        Case(
            "101", "HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n\0\u{1}early",
            "head 101 Upgrade=x | tunnel | surplus \0\u{1}early",
            requestsUpgrade: true),
        Case(
            "100 before 101", "HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n",
            "informational 100 | head 101 Upgrade=x | tunnel",
            requestsUpgrade: true),
        Case(
            "an upgrade that is declined", ok + "Content-Length: 2\r\n\r\nhi",
            "head 200 Content-Length=2 | body hi | end, reusable",
            requestsUpgrade: true),
    ]
    @Test(arguments: informational) func informationalResponses(test: Case) { check(test) }

    // MARK: Ends and limits

    static let ends = [
        Case("nothing", "", "connectionLost"), Case("within the status line", "HTTP/1.", "connectionLost"),
        Case("within the head", ok + "A: 1\r\n", "malformedResponse"),
    ]
    @Test(arguments: ends) func endOfInput(test: Case) { check(test) }

    @Test func anEmptyResponseDiffersFromAnIncompleteOne() {
        func message(_ text: String) -> String? {
            var parser = ResponseParser(.init(method: .get, url: "http://example.org/"), options: ExchangeOptions())
            var offset = 0
            do {
                try Array(text.utf8).withUnsafeBytes { bytes in
                    _ = try parser.next(in: bytes, at: &offset)
                }
                _ = try parser.receiveEndOfInput(isClean: true)
                return nil
            } catch { return (error as? Fault)?.message }
        }
        #expect(message("")?.contains("without a response") == true)
        #expect(message("H")?.contains("before the response was complete") == true)
        #expect(message("HTTP/1.1 100 Go\r\n\r\n")?.contains("before the response was complete") == true)
        #expect(message("HTTP/1.1 200 OK\r\n")?.contains("before the end of the response's head") == true)
    }

    @Test func limits() {
        var options = ExchangeOptions()
        (options.maximumResponseHeadSize, options.maximumFieldCount) = (200, 3)
        options.maximumInformationalResponses = 2
        func outcome(_ text: String) -> String { Transcript([Array(text.utf8)[...]], options: options).text }
        let end = "Content-Length: 0\r\n\r\n"
        #expect(outcome(Self.ok + "A: 1\r\nB: 2\r\n" + end) == "head 200 A=1,B=2,Content-Length=0 | end, reusable")
        #expect(outcome(Self.ok + "A: 1\r\nB: 2\r\nC: 3\r\n" + end) == "headTooLarge")
        #expect(outcome(Self.ok + "A: " + String(repeating: "x", count: 200)) == "headTooLarge")
        let hint = "HTTP/1.1 103 Hints\r\n\r\n"
        #expect(outcome(hint + hint + Self.ok + end).hasSuffix("end, reusable"))
        #expect(
            outcome(hint + hint + hint + Self.ok + end) == "informational 103 | informational 103 | malformedResponse")
        // Only the first byte of the next head is within the limit.
        options.maximumResponseHeadSize = hint.utf8.count + 1
        for next in ["HX", "X", "\r\n"] {
            let bytes = Array((hint + next).utf8)
            let divided = Transcript(bytes.map { [$0] }, options: options).text
            #expect(divided == Transcript([bytes[...]], options: options).text)
        }
        options.maximumResponseHeadSize = 200
        let chunked = Self.ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n"
        #expect(outcome(chunked + "A: 1\r\nB: 2\r\nC: 3\r\nD: 4\r\n\r\n").hasSuffix("headTooLarge"))
        #expect(outcome(chunked + "A: " + String(repeating: "x", count: 200)).hasSuffix("headTooLarge"))
        let endless = "1;" + String(repeating: "x", count: 9_000) + "\r\na\r\n"
        #expect(
            outcome(Self.ok + "Transfer-Encoding: chunked\r\n\r\n" + endless + endless).hasSuffix(
                "body a | malformedResponse"))
    }

    @Test func reuseRequiresACompleteRequestNoSurplusAndAnOpenConnection() throws {
        func parser() throws -> ResponseParser {
            var parser = ResponseParser(.init(method: .get, url: "http://example.org/"), options: ExchangeOptions())
            let bytes = Array((Self.ok + "Content-Length: 2\r\n\r\nhi").utf8)
            var offset = 0
            try bytes.withUnsafeBytes { bytes in while try parser.next(in: bytes, at: &offset) != nil {} }
            return parser
        }
        var parser = try parser()
        #expect(parser.declaredLength == 2 && parser.hasReceivedBytes)
        #expect(parser.isReusable(remainingByteCount: 0, isRequestSent: true) == true)
        #expect(parser.isReusable(remainingByteCount: 1, isRequestSent: true) == false)
        #expect(parser.isReusable(remainingByteCount: 0, isRequestSent: false) == false)
        #expect(try parser.receiveEndOfInput(isClean: true) == nil)
        #expect(parser.isReusable(remainingByteCount: 0, isRequestSent: true) == false)
    }

    @Test(arguments: [
        ("Content-Length: 9\r\n\r\n", HTTPRequest.Method.head, 0 as Int64?),
        ("Content-Length: 9\r\n\r\n", .connect, 0),
        ("\r\n", .get, nil), ("Transfer-Encoding: chunked\r\n\r\n", .get, nil),
        ("Content-Length: 9\r\n\r\n", .get, 9),
    ]) func declaredLengths(fields: String, method: HTTPRequest.Method, length: Int64?) throws {
        var parser = ResponseParser(.init(method: method, url: "http://example.org/"), options: ExchangeOptions())
        #expect(parser.declaredLength == nil && !parser.hasReceivedBytes)
        var offset = 0
        _ = try Array((Self.ok + fields).utf8).withUnsafeBytes { try parser.next(in: $0, at: &offset) }
        #expect(parser.declaredLength == length)
    }

    /// The total size of padding and extensions can be proportional to the number of chunks, in a body of any length.
    @Test(arguments: ["100 ", "40;chunk-signature=0123456789abcdef0123456789abcdef0123456789abcdef"])
    func manyExtensions(line: String) {
        let size = Int(line.prefix { $0.isHexDigit }, radix: 16) ?? 0
        let chunk = "\(line)\r\n\(String(repeating: "x", count: size))\r\n"
        let response =
            Self.ok + "Transfer-Encoding: chunked\r\n\r\n" + String(repeating: chunk, count: 20_000) + "0\r\n\r\n"
        #expect(Transcript([Array(response.utf8)[...]]).text.hasSuffix("x | end, reusable"))
    }

    // MARK: Heads from libcurl

    private func parserOfLaterVersions() -> ResponseParser {
        var request = ResponseParser.Request(method: .get, url: "http://example.org/")
        request.allowsLaterVersions = true
        return ResponseParser(request, options: ExchangeOptions())
    }

    /// libcurl writes such heads for other versions of HTTP.
    @Test(arguments: ["HTTP/1.1", "HTTP/1.0", "HTTP/2", "HTTP/3"])
    func statusLinesOfLaterVersions(version: String) throws {
        var parser = parserOfLaterVersions()
        let head = Array("\(version) 204 \r\na: b\r\n\r\n".utf8)
        var offset = 0
        let event = try head.withUnsafeBytes { try parser.next(in: $0, at: &offset) }
        guard case .head(let head)? = event else { throw NoHead() }
        #expect((head.status, head.httpVersion) == (204, version))
    }

    @Test(arguments: [
        "HTTP/ 200", "HTTP/2200", "HTTP 200", "HTTP/2\t200", "HTTP/2  200", "HTTP/2 20", "HTTP/x 200", "HTTP/2.0 200",
        "HTTP/4 200",
    ])
    func otherStatusLinesAreRejected(line: String) {
        var parser = parserOfLaterVersions()
        let head = Array("\(line)\r\n\r\n".utf8)
        #expect(throws: Fault.self) {
            var offset = 0
            _ = try head.withUnsafeBytes { try parser.next(in: $0, at: &offset) }
        }
    }

    /// The body was decoded elsewhere, and no empty line ends the trailer section.
    @Test func trailersWithoutTheirBody() throws {
        var parser = parserOfLaterVersions()
        let head = Array("HTTP/2 200\r\nA: b\r\n\r\n".utf8)
        var offset = 0
        _ = try head.withUnsafeBytes { try parser.next(in: $0, at: &offset) }
        #expect(parser.trailers.isEmpty)
        for line in ["Checksum: 7\r\n", "Content-Length: 9\r\n", "Other: 8\r\n"] {
            try Array(line.utf8).withUnsafeBytes { try parser.receiveTrailers($0) }
        }
        #expect(parser.trailers.map(\.value) == ["7", "8"])
        let field = Array("a: b\r\n".utf8)
        #expect(throws: Fault.self) {
            for _ in 0..<2_000 { try field.withUnsafeBytes { try parser.receiveTrailers($0) } }
        }
    }

    private struct NoHead: Error {}

    // MARK: Large responses

    /// Bodies with position-dependent bytes, split at many positions.
    @Test(arguments: ["length", "chunked", "close"]) func largeResponsesDividedAnywhere(framing: String) {
        var random = SystemRandomNumberGenerator()
        let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        var bytes = Array("HTTP/1.1 200 OK\r\n".utf8)
        switch framing {
        case "length": bytes += Array("Content-Length: \(body.count)\r\n\r\n".utf8) + body
        case "close": bytes += Array("\r\n".utf8) + body
        default:
            bytes += Array("Transfer-Encoding: chunked\r\n\r\n".utf8)
            var start = 0
            while start < body.count {
                let size = min(Int.random(in: 1...5_000, using: &random), body.count - start)
                bytes += Array("\(String(size, radix: 16))\r\n".utf8) + body[start..<(start + size)] + [0x0D, 0x0A]
                start += size
            }
            bytes += Array("0\r\n\r\n".utf8)
        }
        var parser = ResponseParser(.init(method: .get, url: "http://example.org/"), options: ExchangeOptions())
        var received: [UInt8] = []
        var start = 0
        do {
            while start < bytes.count {
                let piece = Array(bytes[start..<min(start + Int.random(in: 1...400, using: &random), bytes.count)])
                try piece.withUnsafeBytes { piece in
                    var offset = 0
                    while let event = try parser.next(in: piece, at: &offset) {
                        if case .body(let range) = event { received += piece[range] }
                    }
                    #expect(offset == piece.count)
                }
                start += piece.count
            }
            _ = try parser.receiveEndOfInput(isClean: true)
        } catch { Issue.record("\(error)") }
        #expect(received == body)
        #expect(parser.bodyByteCount == Int64(body.count))
        #expect(parser.isReusable(remainingByteCount: 0, isRequestSent: true) == false, "the connection is closed")
    }
}
