import AfarHTTP1
import AfarTransport
import CNghttp2
import HTTPTypes
import Testing

@testable import AfarHTTP2

/// The header sections of requests.
struct RequestFieldsTests {
    private func lines(
        _ request: HTTPRequest, _ defaults: HTTPFields = [:], _ body: RequestHead.BodyFraming = .none
    ) throws -> [String] {
        lines(try RequestFields(request, defaultFields: defaults, body: body))
    }

    private func lines(_ fields: RequestFields) -> [String] {
        fields.withLines { lines, count in
            UnsafeBufferPointer(start: lines, count: count).map { line in
                let name = String(decoding: UnsafeBufferPointer(start: line.name, count: line.namelen), as: UTF8.self)
                let value = String(
                    decoding: UnsafeBufferPointer(start: line.value, count: line.valuelen), as: UTF8.self)
                return "\(name): \(value)" + (line.flags == 0 ? "" : " [\(line.flags)]")
            }
        }
    }

    private func request(
        _ method: HTTPRequest.Method = .get, scheme: String = "https", authority: String? = "example.org",
        path: String? = "/a?b", fields: HTTPFields = [:]
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: scheme, authority: authority, path: path, headerFields: fields)
    }

    @Test func pseudoFields() throws {
        let pseudo = [":method: GET", ":scheme: https", ":authority: example.org", ":path: /a?b"]
        #expect(try lines(request()) == pseudo)
        #expect(
            try lines(request(.options, scheme: "http", path: "*")) == [
                ":method: OPTIONS", ":scheme: http", ":authority: example.org", ":path: *",
            ])
        #expect(
            try lines(request(.connect, authority: "[fe80::1%25eth0]:443", path: nil)) == [
                ":method: CONNECT", ":authority: [fe80::1]:443",
            ])
        #expect(try lines(request(authority: "[fe80::1%25eth0]"))[2] == ":authority: [fe80::1]")
        let host = try #require(HTTPField.Name("Host"))
        #expect(try lines(request(fields: [host: "other"]))[2] == ":authority: other")
        #expect(try lines(request(), [host: "default"])[2] == ":authority: default")
        #expect(try lines(request(fields: [host: "other"]), [host: "default"]).count == 4)
    }

    @Test func invalidTargets() {
        let host = HTTPField.Name("Host")
        for invalid in [
            request(authority: ""), request(authority: "a@b"), request(path: "a"), request(path: "/a b"),
            request(path: "/a#b"), request(.connect, path: nil),
            request(fields: host.map { [$0: "a/b"] } ?? [:]),
        ] {
            #expect(throws: Fault.self, "\(invalid)") { try lines(invalid) }
        }
        #expect(throws: Fault.self) { try lines(request(), [:], .length(-1)) }
        #expect(throws: Fault.self) {
            try lines(request(fields: [.accept: String(repeating: "a", count: RequestFields.maximumSize)]))
        }
    }

    @Test func fieldsAndTheirOrder() throws {
        let own: HTTPFields = [.accept: "text/plain", .userAgent: "mine"]
        let fields = try lines(request(fields: own), [.userAgent: "Afar", .acceptLanguage: "en"]).dropFirst(4)
        #expect(fields == ["accept: text/plain", "user-agent: mine", "accept-language: en"])
    }

    /// RFC 9113, section 8.2.2.
    @Test func fieldsThatAreNotSent() throws {
        var own: HTTPFields = [
            .connection: "close", .transferEncoding: "chunked", .upgrade: "h2c", .proxyAuthorization: "Basic x",
            .contentLength: "7", .te: "gzip",
        ]
        for name in ["Keep-Alive", "Proxy-Connection", "HTTP2-Settings"] {
            own[try #require(HTTPField.Name(name))] = "1"
        }
        #expect(try lines(request(fields: own), own).dropFirst(4) == [])
        #expect(try lines(request(fields: [.te: "Trailers"])).dropFirst(4) == ["te: Trailers"])
    }

    @Test func lengths() throws {
        #expect(try lines(request(.post)).last == "content-length: 0")
        #expect(try lines(request(.post), [:], .length(7)).last == "content-length: 7")
        #expect(try lines(request(.post), [:], .chunked).count == 4)
        #expect(try lines(request(.delete)).count == 4)
    }

    /// RFC 7541, section 7.1.3.
    @Test func secretsAreNotIndexed() throws {
        let long = String(repeating: "c", count: 20)
        #expect(
            try lines(request(fields: [.authorization: "Bearer a", .cookie: "short"])).dropFirst(4) == [
                "authorization: Bearer a [1]", "cookie: short [1]",
            ])
        #expect(try lines(request(fields: [.cookie: long])).last == "cookie: \(long)")
    }

    @Test func trailers() throws {
        #expect(
            try lines(RequestFields(trailers: [.server: "x", .authorization: "y", .connection: "close"])) == [
                "server: x"
            ])
        #expect(try RequestFields(trailers: [.host: "a"]).isEmpty)
    }
}

extension HTTPField.Name {
    fileprivate static let host = HTTPField.Name("Host") ?? .accept
}
