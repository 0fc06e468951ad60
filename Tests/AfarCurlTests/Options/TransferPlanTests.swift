import AfarCore
import CLibcurl
import Foundation
import HTTPTypes
import Testing

@testable import AfarCurl

struct TransferPlanTests {
    private func exchange(
        _ authority: String? = "host", path: String? = "/", scheme: String? = "http",
        _ method: HTTPRequest.Method = .get, fields: [(String, String)] = [], body: RequestBody = .none
    ) -> Exchange {
        var request = HTTPRequest(method: method, scheme: scheme, authority: authority, path: path)
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { request.headerFields.append(HTTPField(name: name, value: value)) }
        }
        return Exchange(request: request, body: body)
    }

    private func plan(_ exchange: Exchange) throws -> TransferPlan { try TransferPlan(Hop(exchange)) }

    private func defaults(_ pairs: [(String, String)]) -> DefaultFields {
        var fields = HTTPFields()
        for (name, value) in pairs {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return DefaultFields(fields)
    }

    // MARK: Proxies

    @Test(
        arguments: [
            (nil, "http", false), (nil, "https", false), ("http://p", "http", true), ("http://p", "https", false),
            ("https://p", "http", true), ("socks5://p", "http", false), ("socks5h://p", "https", false),
        ] as [(String?, String, Bool)])
    func proxyFieldsAreSentOnlyToTheProxy(proxy: String?, scheme: String, isSent: Bool) throws {
        var exchange = exchange(scheme: scheme, fields: [("Proxy-Authorization", "Basic x"), ("A", "b")])
        exchange.options.defaultFields = defaults([("Proxy-Authorization", "Basic y")])
        if let proxy { exchange.options.network.proxies = ProxySettings(try Proxy(proxy)) }
        let plan = try plan(exchange)
        var lines: [String] = []
        var node = plan.headers.first
        while let line = node {
            lines.append(String(cString: line.pointee.data))
            node = line.pointee.next
        }
        #expect(lines.contains("A: b"))
        #expect(lines.contains { $0.hasPrefix("Proxy-Authorization") } == isSent)
        #expect((plan.route?.proxyFields != nil) == (proxy == "http://p" && scheme == "https"))
    }

    // MARK: The URL

    @Test func theURLIsAssembled() throws {
        let plan = try plan(exchange("host:81", path: "/a/../b?c=%20"))
        #expect(plan.url == "http://host:81/a/../b?c=%20")
        #expect(!plan.isSecure)
        #expect(try self.plan(exchange(path: nil, scheme: "https")).url == "https://host/")
    }

    @Test(arguments: ["ftp", "file", "HTTP", "ws", ""])
    func otherSchemesAreRejected(_ scheme: String) {
        let error = #expect(throws: TransportError.self) { try plan(exchange(scheme: scheme)) }
        #expect(error?.code == .unsupportedURL)
    }

    @Test(arguments: [nil, "", "user@host", "host/path", "host?q", "host#f", "ho st", "host\\x", "ho\r\nst", "ho\0st"])
    func misleadingHostsAreRejected(_ authority: String?) {
        let error = #expect(throws: TransportError.self) { try plan(exchange(authority)) }
        #expect(error?.code == .invalidURL)
    }

    /// Appended to "http://host", these paths would change the host.
    @Test(arguments: ["", "*", "x", ".evil.example/", "@evil.example/", ":81/", "?q", "/a b", "/a\r\nX: y", "/a\0b"])
    func misleadingPathsAreRejected(_ path: String) {
        let error = #expect(throws: TransportError.self) { try plan(exchange(path: path)) }
        #expect(error?.code == .invalidURL)
    }

    @Test(arguments: [
        ("127.0.0.1", false), ("127.0.0.1:8080", false), ("[::1]", false), ("[fe80::1]:80", false),
        ("host", true), ("host:80", true), ("1.example", true), ("１２７.0.0.1", true), ("-1", true),
    ])
    func onlyNamesNeedALookup(_ authority: String, _ needsLookup: Bool) throws {
        #expect(try plan(exchange(authority)).needsLookup == needsLookup)
    }

    @Test func spellingsOfAHostAreOneHost() throws {
        let key = try plan(exchange("host")).host
        #expect(try plan(exchange("HOST:80")).host == key)
        #expect(try plan(exchange("host:443")).host != key)
        #expect(try plan(exchange("host", scheme: "https")).host != key)
        #expect(
            try plan(exchange("host:443", scheme: "https")).host
                == plan(exchange("Host", scheme: "https")).host)
    }

    // MARK: The header lines

    @Test func aPlainRequestHasNoLines() throws {
        #expect(try plan(exchange()).headers.lines.isEmpty)
    }

    @Test func libcurlsFieldsAreSuppressed() throws {
        let body = RequestBody.data(Data("x".utf8))
        let plan = try plan(exchange(.some("host"), .post, body: body))
        #expect(plan.headers.lines.sorted() == ["Content-Type:", "Expect:"])
        let given = [("Expect", "100-continue"), ("Content-Type", "a/b"), ("Accept-Encoding", "gzip")]
        let full = try self.plan(exchange(.some("host"), .put, fields: given, body: body))
        #expect(full.headers.lines == given.map { "\($0.0): \($0.1)" })
    }

    @Test func aBodyOfUnknownLengthIsChunked() throws {
        let stream = RequestBodyStream(isReplayable: false) { { nil } }
        let plan = try plan(exchange(.some("host"), .post, body: .stream(stream)))
        #expect(plan.headers.lines.filter { $0.hasPrefix("Transfer-Encoding") } == ["Transfer-Encoding: chunked"])
    }

    @Test func framingFieldsCannotBeOverridden() throws {
        let fields = [("content-length", "7"), ("Transfer-Encoding", "gzip"), ("A", "b")]
        var exchange = exchange(.some("host"), .post, fields: fields, body: .data(Data("x".utf8)))
        exchange.options.defaultFields = defaults([("Content-Length", "9"), ("transfer-encoding", "x"), ("C", "d")])
        let lines = try plan(exchange).headers.lines
        #expect(lines.filter { $0.lowercased().contains("length") || $0.lowercased().contains("transfer") }.isEmpty)
        #expect(lines.contains("A: b"))
        #expect(lines.contains("C: d"))
    }

    @Test func theRequestsFieldsOverrideDefaults() throws {
        var exchange = exchange(fields: [("user-agent", "mine"), ("X", "1")])
        exchange.options.defaultFields = defaults([("User-Agent", "theirs"), ("Accept-Language", "de"), ("x", "2")])
        let lines = try plan(exchange).headers.lines
        #expect(lines == ["user-agent: mine", "X: 1", "Accept-Language: de"])
    }

    @Test func anEmptyDefaultIsSent() throws {
        var exchange = exchange()
        exchange.options.defaultFields = defaults([("A", "1"), ("B", "")])
        #expect(try plan(exchange).headers.lines == ["A: 1", "B;"])
    }

    @Test func aHeadRequestHasNoBody() throws {
        #expect(throws: TransportError.self) {
            try plan(exchange(.some("host"), .head, body: .data(Data("x".utf8))))
        }
        #expect(throws: Never.self) { try plan(exchange(.some("host"), .head, body: .data(Data()))) }
    }
}
