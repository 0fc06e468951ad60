import Foundation
import Testing

@testable import AfarStages

/// Restrictions on cookies: RFC 6265bis, sections 5.4 and 5.7.
struct CookieRulesTests {
    /// A list that contains one suffix with a dot.
    private struct Suffixes: PublicSuffixList {
        func isPublicSuffix(_ domain: String) -> Bool { ["co.uk", "uk", "com", "localhost"].contains(domain) }
    }

    private func cookie(_ field: String, from url: String = "https://www.example.co.uk/a/b") throws -> Cookie? {
        CookieRules(publicSuffixes: Suffixes()).cookie(from: field, of: try CookieURL(url), now: .start)
    }

    @Test func withoutAttributesACookieIsForItsHostAndDirectory() throws {
        let cookie = try #require(try cookie("a=b"))
        #expect(cookie.domain == "www.example.co.uk")
        #expect(cookie.isHostOnly)
        #expect(cookie.path == "/a")
        #expect(cookie.expires == nil)
        #expect(!cookie.isSecure && !cookie.isHTTPOnly && cookie.sameSite == nil)
        #expect(cookie.creationDate == .start && cookie.lastAccessDate == .start)
    }

    @Test(arguments: ["example.co.uk", ".example.co.uk", "EXAMPLE.co.uk", "www.example.co.uk"])
    func theHostsDomainIsAccepted(domain: String) throws {
        let cookie = try #require(try cookie("a=b; Domain=\(domain)"))
        #expect(!cookie.isHostOnly)
        #expect(cookie.domain == domain.drop { $0 == "." }.lowercased())
    }

    @Test(arguments: [
        "other.co.uk", "x.www.example.co.uk", "ample.co.uk", "..example.co.uk", "exämple.co.uk", "[::1]", "1.2.3.4",
    ])
    func otherDomainsAreRejected(domain: String) throws { #expect(try cookie("a=b; Domain=\(domain)") == nil) }

    @Test(arguments: ["example.co.uk.", "www.example.co.uk.", "."])
    func aDomainWithATrailingDotIsRejectedUnlessEmpty(domain: String) throws {
        let cookie = try cookie("a=b; Domain=\(domain)")
        #expect(domain == "." ? cookie?.isHostOnly == true : cookie == nil)
    }

    @Test func aPublicSuffixIsRejectedUnlessItIsTheHost() throws {
        #expect(try cookie("a=b; Domain=co.uk") == nil)
        #expect(try cookie("a=b; Domain=uk") == nil)
        let own = try #require(try cookie("a=b; Domain=co.uk", from: "https://co.uk/"))
        #expect(own.isHostOnly && own.domain == "co.uk")
        #expect(try cookie("a=b; Domain=localhost", from: "http://a.localhost/") == nil)
    }

    @Test func withoutAListANameWithoutADotIsASuffix() throws {
        let rules = CookieRules()
        let url = try CookieURL("http://a.b.test/")
        #expect(rules.cookie(from: "a=b; Domain=test", of: url) == nil)
        #expect(rules.cookie(from: "a=b; Domain=b.test", of: url)?.isHostOnly == false)
    }

    @Test(arguments: ["http://127.0.0.1:80/", "http://[::1]/"])
    func addressesMatchOnlyThemselves(url: String) throws {
        let host = try CookieURL(url).host
        #expect(try cookie("a=b; Domain=\(host)", from: url)?.isHostOnly == true)
        #expect(try cookie("a=b; Domain=0.0.1", from: url) == nil)
    }

    @Test func aHostWithATrailingDotIsADifferentHost() throws {
        #expect(try cookie("a=b", from: "http://example.co.uk./")?.domain == "example.co.uk.")
        #expect(try cookie("a=b; Domain=example.co.uk", from: "http://example.co.uk./") == nil)
    }

    @Test func secureCookiesAreAcceptedOnlyOverHTTPS() throws {
        #expect(try cookie("a=b; Secure")?.isSecure == true)
        #expect(try cookie("a=b; Secure", from: "http://www.example.co.uk/") == nil)
    }

    @Test func cookiesForAllSitesAreSecure() throws {
        #expect(try cookie("a=b; SameSite=None") == nil)
        #expect(try cookie("a=b; SameSite=None; Secure")?.sameSite == .unrestricted)
        #expect(try cookie("a=b; SameSite=Lax")?.sameSite == .lax)
    }

    @Test(arguments: ["__Host-a", "__HOST-a", "__host-a"])
    func hostPrefixedCookiesAreHostOnly(name: String) throws {
        #expect(try cookie("\(name)=b; Secure; Path=/") != nil)
        #expect(try cookie("\(name)=b; Path=/") == nil)
        #expect(try cookie("\(name)=b; Secure; Path=/; Domain=www.example.co.uk") == nil)
        #expect(try cookie("\(name)=b; Secure; Path=/x") == nil)
        #expect(try cookie("\(name)=b; Secure", from: "https://www.example.co.uk/") == nil)
        #expect(try cookie("\(name)=b; Secure; Path=/", from: "http://www.example.co.uk/") == nil)
    }

    @Test(arguments: ["__Secure-a", "__SECURE-a"])
    func securePrefixedCookiesAreSecure(name: String) throws {
        #expect(try cookie("\(name)=b; Secure; Domain=example.co.uk") != nil)
        #expect(try cookie("\(name)=b") == nil)
    }

    @Test(arguments: ["=__Host-a=b; Secure; Path=/", "__secure-a; Secure", "=__SECURE-a", "=a=b"])
    func aNamelessCookieCannotImitateAPrefix(field: String) throws { #expect(try cookie(field) == nil) }

    @Test func aCookieWithoutANameIsAccepted() throws { #expect(try cookie("value")?.pair == "value") }

    @Test func hostsOfOneSite() throws {
        let rules = CookieRules(publicSuffixes: Suffixes())
        func areSame(_ one: String, _ other: String) throws -> Bool {
            rules.areSameSite(try CookieURL("http://\(one)"), try CookieURL("https://\(other)"))
        }
        #expect(try areSame("a.example.co.uk", "b.example.co.uk"))
        #expect(try areSame("co.uk", "co.uk"))
        #expect(try areSame("1.2.3.4", "1.2.3.4"))
        #expect(try !areSame("example.co.uk", "other.co.uk"))
        #expect(try !areSame("co.uk", "example.co.uk"))
        #expect(try !areSame("1.2.3.4", "9.2.3.4"))
    }

    @Test func anUnsendableCookieIsNotCreated() {
        func make(_ name: String, _ value: String, _ domain: String = "example.com", path: String = "/") -> Cookie? {
            Cookie(name: name, value: value, domain: domain, path: path)
        }
        #expect(make("a", "b")?.pair == "a=b")
        #expect(make("", "b")?.pair == "b")
        #expect(make("a", "b", "Example.COM")?.domain == "example.com")
        for (name, value) in [("a", "b\r\nX: y"), ("a", "b;c"), ("a\n", "b"), ("a=b", "c"), ("", ""), ("a", "\u{7F}")] {
            #expect(make(name, value) == nil)
        }
        for domain in ["", ".example.com", "example.com.", "a b", "a:80"] { #expect(make("a", "b", domain) == nil) }
        for path in ["", "x", "/\n"] { #expect(make("a", "b", path: path) == nil) }
        #expect(Cookie(name: "a", value: "b", domain: "10.0.0.1", isHostOnly: false)?.isHostOnly == true)
    }
}
