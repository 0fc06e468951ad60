import AfarTransport
import Foundation
import Testing

/// URLs that Foundation, libcurl and servers parse in the same way are accepted.
@Suite struct RequestTargetTests {
    struct Reading: Sendable, CustomTestStringConvertible {
        let url: String
        let authority: String
        let path: String
        var testDescription: String { url }
    }

    @Test(arguments: [
        Reading(url: "http://example.com", authority: "example.com", path: "/"),
        Reading(url: "HTTP://Example.COM/A%20b?q=1&r=%2F", authority: "example.com", path: "/A%20b?q=1&r=%2F"),
        Reading(url: "https://example.com:8443/x#fragment", authority: "example.com:8443", path: "/x"),
        Reading(url: "http://example.com:0080/", authority: "example.com:80", path: "/"),
        Reading(url: "http://example.com:/", authority: "example.com", path: "/"),
        Reading(url: "http://example.com?q=1", authority: "example.com", path: "/?q=1"),
        Reading(url: "http://127.0.0.1:1/../a/./b", authority: "127.0.0.1:1", path: "/../a/./b"),
        Reading(url: "http://[2001:DB8::1]:80/", authority: "[2001:db8::1]:80", path: "/"),
        Reading(url: "http://[FE80::1%25Eth0]:80/", authority: "[fe80::1%25Eth0]:80", path: "/"),
        Reading(url: "http://my_host.local./", authority: "my_host.local.", path: "/"),
        Reading(url: "http://1and1.example/", authority: "1and1.example", path: "/"),
    ])
    func plainURLsAreUnchanged(reading: Reading) throws {
        let target = try RequestTarget(try #require(URL(string: reading.url)))
        #expect(target.authority == reading.authority)
        #expect(target.path == reading.path)
    }

    @Test(arguments: [
        ("http://h/[%5B|?a=%26[]", "http://h/%5B%5B%7C?a=%26%5B%5D", "/[%5B|?a=%26[]"),
        ("http://h/?[", "http://h/?%5B&b=%7C", "/?[&b=%7C"),
        ("http://h/[", "http://other/%5B/more", "/[/more"),
        ("http://h/[", "http://h/%7C", "/%7C"),
        ("http://h/a b\u{E9}\\", "http://h/a%20b%C3%A9%5C", "/a%20b%C3%A9%5C"),
        ("http://h?[#[", "http://h/?%5B#%5B", "/?["),
    ])
    func theOriginalTextsPathIsKept(text: String, url: String, path: String) throws {
        let url = try #require(URL(string: url))
        let target = try RequestTarget(url, writtenAs: URLReference(text))
        #expect(target.path == path)
        #expect(target.authority == url.host())
    }

    @Test func aNonASCIINameBecomesPunycodeOrIsRejected() throws {
        let url = try #require(URL(string: "http://bücher.example/"))
        let authority = try? RequestTarget(url).authority
        #expect(authority == nil || authority == "xn--bcher-kva.example")
    }

    @Test(arguments: [
        "http://0x7f.1/", "http://2130706433/", "http://127.1/", "http://0177.0.0.1/", "http://1.2.3.256/",
        "http://127.0.0.0x1/", "http://example.com:0/", "http://example.com:65536/",
        "http://example.com:80:80/", "http://exa%6dple.com/", "http://.example.com/", "http://[1::zz]/",
        "http://[v1.x]/", "http://exam$ple.com/", "http://[fe80::1%25]/", "http://[fe80::1%25a%2fb]/",
    ])
    func ambiguousURLsAreRejected(url: String) throws {
        // Foundation already rejects some URLs.
        guard let url = URL(string: url) else { return }
        #expect(throws: RequestTarget.Fault.self) { try RequestTarget(url) }
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://example.com/", "data:text/plain,x", "javascript:alert(1)"])
    func otherSchemesAreRejectedByName(url: String) throws {
        let url = try #require(URL(string: url))
        let fault = #expect(throws: RequestTarget.Fault.self) { try RequestTarget(url) }
        guard case .unsupportedScheme(let scheme) = fault else {
            Issue.record("not the scheme's error: \(String(describing: fault))")
            return
        }
        #expect(url.absoluteString.hasPrefix(scheme))
    }

    @Test(arguments: ["http:", "http:/x", "http:///x", "/relative", "http://:80/", "http://ada@:80/", "http://@/"])
    func urlsWithoutAHostAreInvalid(url: String) throws {
        guard let url = URL(string: url) else { return }
        let fault = #expect(throws: RequestTarget.Fault.self) { try RequestTarget(url) }
        guard case .incomplete = fault else {
            Issue.record("unexpected error: \(String(describing: fault))")
            return
        }
    }

    @Test func userinfoIsSeparatedAndDecoded() throws {
        let target = try RequestTarget(try #require(URL(string: "http://ada:p%40ss@example.com/x")))
        #expect(target.authority == "example.com")
        #expect(target.userinfo?.user == "ada")
        #expect(target.userinfo?.password == "p@ss")
    }

    @Test func nonTextUserinfoIsRejected() throws {
        for userinfo in ["%FF:p", "ada:%C3", "%FF%00"] {
            let url = try #require(URL(string: "http://\(userinfo)@example.com/"))
            #expect(throws: RequestTarget.Fault.self, "\(userinfo)") { try RequestTarget(url) }
        }
    }
}
