import AfarTransport
import Foundation
import HTTPTypes
import Testing

@testable import AfarHTTP1

/// The serialized form of requests.
struct RequestHeadTests {
    private func request(
        _ method: HTTPRequest.Method = .get, _ path: String? = "/a?b", authority: String? = "example.org",
        fields: HTTPFields = HTTPFields()
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: authority, path: path, headerFields: fields)
    }

    private func text(
        _ request: HTTPRequest, _ defaults: HTTPFields = HTTPFields(), _ form: RequestHead.TargetForm = .origin,
        _ body: RequestHead.BodyFraming = .none
    ) throws -> String {
        String(
            decoding: try RequestHead(
                request, defaultFields: DefaultHeadFields(defaults), target: form, body: body
            ).bytes, as: UTF8.self)
    }

    @Test func targetForms() throws {
        #expect(try text(request()) == "GET /a?b HTTP/1.1\r\nHost: example.org\r\n\r\n")
        #expect(try text(request(.options, "*")) == "OPTIONS * HTTP/1.1\r\nHost: example.org\r\n\r\n")
        #expect(
            try text(request(), [:], .absolute) == "GET http://example.org/a?b HTTP/1.1\r\nHost: example.org\r\n\r\n")
        #expect(
            try text(request(.connect, nil, authority: "example.org:443"), [:], .authority)
                == "CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n")
        #expect(
            try text(request(.options, "*"), [:], .absolute)
                == "OPTIONS http://example.org HTTP/1.1\r\nHost: example.org\r\n\r\n")
    }

    /// RFC 6874, section 4.
    @Test func zonesAreNotSent() throws {
        let authority = "[fe80::1%25eth0]:443"
        #expect(try text(request(authority: authority)) == "GET /a?b HTTP/1.1\r\nHost: [fe80::1]:443\r\n\r\n")
        #expect(
            try text(request(authority: authority), [:], .absolute)
                == "GET http://[fe80::1]:443/a?b HTTP/1.1\r\nHost: [fe80::1]:443\r\n\r\n")
        #expect(
            try text(request(.connect, nil, authority: authority), [:], .authority)
                == "CONNECT [fe80::1]:443 HTTP/1.1\r\nHost: [fe80::1]:443\r\n\r\n")
        for authority in ["trusted.example%25.evil.example", "a]%25b", "a%00b:80"] {
            #expect(throws: Fault.self, "\(authority)") { try text(request(authority: authority)) }
        }
    }

    @Test func fieldsAndTheirOrder() throws {
        let own: HTTPFields = [.accept: "text/plain", .userAgent: "mine", .cookie: "a=1"]
        let defaults: HTTPFields = [.userAgent: "Afar", .acceptLanguage: "en"]
        #expect(
            try text(request(fields: own), defaults)
                == "GET /a?b HTTP/1.1\r\nHost: example.org\r\nAccept: text/plain\r\nUser-Agent: mine\r\nCookie: a=1\r\nAccept-Language: en\r\n\r\n"
        )
        var twice = HTTPFields()
        let name = try #require(HTTPField.Name("X-A"))
        twice.append(HTTPField(name: name, value: "1"))
        twice.append(HTTPField(name: name, value: ""))
        #expect(try text(request(fields: twice)) == "GET /a?b HTTP/1.1\r\nHost: example.org\r\nX-A: 1\r\nX-A: \r\n\r\n")
        var host = HTTPFields()
        host[try #require(HTTPField.Name("host"))] = "other.example"
        #expect(try text(request(fields: host)) == "GET /a?b HTTP/1.1\r\nhost: other.example\r\n\r\n")
    }

    @Test(arguments: [
        (HTTPRequest.Method.get, RequestHead.BodyFraming.none, ""), (.delete, .none, ""), (.head, .none, ""),
        (.post, .none, "Content-Length: 0\r\n"), (.put, .none, "Content-Length: 0\r\n"),
        (.patch, .none, "Content-Length: 0\r\n"),
        (.get, .length(0), "Content-Length: 0\r\n"), (.post, .length(7), "Content-Length: 7\r\n"),
        (.post, .chunked, "Transfer-Encoding: chunked\r\n"),
    ]) func framing(method: HTTPRequest.Method, body: RequestHead.BodyFraming, line: String) throws {
        #expect(
            try text(request(method), [:], .origin, body)
                == "\(method.rawValue) /a?b HTTP/1.1\r\nHost: example.org\r\n\(line)\r\n")
        let fields: HTTPFields = [.contentLength: "99", .transferEncoding: "gzip"]
        #expect(
            try text(request(method, fields: fields), fields, .origin, body)
                == "\(method.rawValue) /a?b HTTP/1.1\r\nHost: example.org\r\n\(line)\r\n")
    }

    /// `HTTPRequest` replaces control characters with spaces, and removes spaces at both ends.
    @Test(arguments: ["/a b", "/a\r\nX: 1", "/a\nb", "/a\0b", "/a\u{7F}b", ""]) func targetsThatEndTooEarly(
        path: String
    ) {
        #expect(throws: Fault.self) { try text(request(.get, path)) }
        guard !path.isEmpty else { return }
        #expect(throws: Fault.self) { try text(request(.get, "/", authority: "example.org" + path)) }
    }

    /// Targets that another recipient could parse as a different host or as credentials.
    @Test(arguments: [
        ("@evil.example/", "example.org"), (".evil.example/", "example.org"), ("http://other.example/", "example.org"),
        ("/a#b", "example.org"),
        ("*", "example.org"), ("/", "user:pw@example.org"), ("/", "example.org/x"), ("/", "example.org?x"),
        ("/", "example.org\\x"), ("/", ""),
    ]) func targetsOfOtherHosts(path: String, authority: String) {
        for form in [RequestHead.TargetForm.origin, .absolute] {
            #expect(throws: Fault.self) {
                try RequestHead(request(.get, path, authority: authority), target: form)
            }
        }
    }

    @Test func mismatchedTargetForms() {
        #expect(throws: Fault.self) { try RequestHead(request(.get), target: .authority) }
        #expect(throws: Fault.self) {
            try RequestHead(request(.connect, nil, authority: "example.org"), target: .authority)
        }
        #expect(throws: Fault.self) {
            try RequestHead(request(.connect, nil, authority: "example.org:"), target: .authority)
        }
        #expect(throws: Fault.self) {
            try RequestHead(request(.connect, "/", authority: "example.org:1"), target: .origin)
        }
        #expect(throws: Fault.self) { try RequestHead(request(.post), body: .length(-1)) }
        let ftp = HTTPRequest(method: .get, scheme: "ftp", authority: "example.org", path: "/")
        #expect(throws: Fault.self) { try RequestHead(ftp, target: .absolute) }
    }

    @Test func parserRequirements() throws {
        let plain = try RequestHead(request())
        #expect(!plain.requestsUpgrade && !plain.closesConnection)
        let upgrade = try RequestHead(request(fields: [.upgrade: "x", .connection: "Upgrade"]))
        #expect(upgrade.requestsUpgrade && !upgrade.closesConnection)
        #expect(try RequestHead(request(fields: [.connection: "foo, CLOSE"])).closesConnection)
        #expect(try RequestHead(request(), defaultFields: DefaultHeadFields([.connection: "close"])).closesConnection)
        let parsed = ResponseParser.Request(upgrade, url: "http://example.org/")
        #expect(parsed.requestsUpgrade && !parsed.closesConnection && parsed.method == .get)
    }
}
