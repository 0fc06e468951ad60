import Foundation
import Testing

@testable import AfarStages

/// RFC 6265bis, section 5.1.4.
struct CookieURLTests {
    @Test(arguments: [
        ("http://h", "/"), ("http://h/", "/"), ("http://h/a", "/"), ("http://h/a/", "/a"), ("http://h/a/b?c/d", "/a"),
        ("http://h/a/b/c#/d", "/a/b"), ("http://h?/a/b", "/"),
    ])
    func defaultPaths(url: String, path: String) throws { #expect(try CookieURL(url).defaultPath == path) }

    @Test(arguments: [
        ("/", "/"), ("/a", "/"), ("/a", "/a"), ("/a/", "/a"), ("/a/b", "/a"), ("/a/b", "/a/"), ("/a/b?x", "/a/b"),
    ])
    func pathsThatMatch(path: String, cookiePath: String) throws {
        #expect(try CookieURL("http://h" + path).matches(path: cookiePath))
    }

    @Test(arguments: [("/", "/a"), ("/ab", "/a"), ("/a", "/a/"), ("/A", "/a"), ("/a?/b", "/a/b")])
    func pathsThatDoNotMatch(path: String, cookiePath: String) throws {
        #expect(try !CookieURL("http://h" + path).matches(path: cookiePath))
    }

    @Test func unsupportedURLsHaveNoCookies() throws {
        #expect(CookieURL(try #require(URL(string: "file:///etc/passwd"))) == nil)
    }
}
