import Testing

@testable import AfarCLI

struct URLTextTests {
    @Test(arguments: [
        ("example.com", "https://example.com"), ("example.com:8443/x", "https://example.com:8443/x"),
        ("localhost", "http://localhost"), ("LOCALHOST:80/a", "http://LOCALHOST:80/a"),
        (":8080/a", "http://localhost:8080/a"),
        ("127.0.0.1:9/x?y", "http://127.0.0.1:9/x?y"), ("127.0.0.2", "http://127.0.0.2"),
        ("[::1]:80/", "http://[::1]:80/"),
        ("[2001:db8::1]/", "https://[2001:db8::1]/"), ("localhost.example.com", "https://localhost.example.com"),
        ("127.0.0.1.example.com", "https://127.0.0.1.example.com"),
        ("me:pw@localhost/x", "http://me:pw@localhost/x"), ("http://example.com", "http://example.com"),
        (" example.com \n", "https://example.com"), ("example.com/?to=http://x/", "https://example.com/?to=http://x/"),
    ])
    func aMissingSchemeIsAdded(address: String, url: String) {
        #expect(URLText.complete(address) == url)
    }

    @Test(arguments: [
        ("http://x/a b", "http://x/a%20b"), ("http://x/ü?q=ü", "http://x/%C3%BC?q=%C3%BC"),
        ("http://x/%C3%BC", "http://x/%C3%BC"),
        ("http://x/\u{301}y", "http://x/%CC%81y"), ("http://x/100%", "http://x/100%25"),
        ("http://x/a[0]", "http://x/a%5B0%5D"), ("http://x/a#part", "http://x/a"),
    ])
    func invalidCharactersAreEscapedOnce(address: String, url: String) {
        #expect(URLText.complete(address) == url)
    }

    @Test(arguments: [
        ("http://x", "http://x?a=1"), ("http://x/?", "http://x/?a=1"), ("http://x/?b", "http://x/?b&a=1"),
        ("http://x/?b&", "http://x/?b&a=1"), ("http://x/#f", "http://x/?a=1"),
    ])
    func queryIsAdded(address: String, url: String) {
        #expect(URLText.complete(address, query: "a=1") == url)
    }

    @Test func hostIsFoundWithoutUserinfo() {
        #expect(URLText.host(of: "http://a:b@x:80/y@z") == "x:80")
        #expect(URLText.host(of: "https://[::1]:8/") == "[::1]:8")
        #expect(Array(URLText.host(of: "http://a:b@\u{301}x:80/\u{301}y").utf8) == Array("\u{301}x:80".utf8))
    }
}
