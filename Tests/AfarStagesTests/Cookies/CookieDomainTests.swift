import Testing

@testable import AfarStages

/// RFC 6265bis, sections 5.1.2 and 5.1.3.
struct CookieDomainTests {
    @Test(arguments: [
        ("example.com", "example.com"), ("a.example.com", "example.com"), ("a.b.example.com", "example.com"),
        ("127.0.0.1", "127.0.0.1"), ("[::1]", "[::1]"),
    ])
    func matches(host: String, domain: String) { #expect(CookieDomain(host: host).matches(domain)) }

    @Test(arguments: [
        ("example.com", "a.example.com"), ("badexample.com", "example.com"), ("example.com", "com.example"),
        ("1.127.0.0.1", "127.0.0.2"), ("127.0.0.1", "0.0.1"), ("[::1]", "1]"), ("example.com.", "example.com"),
        ("example.com", ""), ("a.example.com", ".example.com"),
    ])
    func doesNotMatch(host: String, domain: String) { #expect(!CookieDomain(host: host).matches(domain)) }

    @Test func hostsAreComparedInLowerCase() {
        #expect(CookieDomain("EXAMPLE.Com")?.text == "example.com")
        #expect(CookieDomain(authority: "example.com:8080").text == "example.com")
        #expect(CookieDomain(authority: "[::1]:80").text == "[::1]")
        #expect(CookieDomain(authority: "10.0.0.1").isAddress)
    }

    @Test(arguments: [
        "", ".", "example.com.", ".example.com", "exa mple.com", "bücher.example", "example.com:80", "[::1", "[]",
        "a/b",
        "\u{212A}.example",
    ])
    func invalidHosts(text: String) { #expect(CookieDomain(text) == nil) }

    @Test func allParentDomainsMatch() {
        #expect(Array(CookieDomain(host: "a.b.c").matchingDomains) == ["a.b.c", "b.c", "c"])
        #expect(Array(CookieDomain(host: "1.2.3.4").matchingDomains) == ["1.2.3.4"])
        #expect(Array(CookieDomain(host: "a.b.").matchingDomains) == ["a.b.", "b."])
    }
}
