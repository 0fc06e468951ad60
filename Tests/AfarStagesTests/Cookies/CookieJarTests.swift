import Foundation
import Testing

@testable import AfarStages

/// RFC 6265bis, sections 5.7 and 5.8.
struct CookieJarTests {
    private let rules = CookieRules()

    /// Stores a Set-Cookie field a number of seconds after the start.
    @discardableResult
    private func set(
        _ field: String, from url: String = "https://a.example.com/", at seconds: TimeInterval = 0,
        in jar: inout CookieJar
    ) throws -> Bool {
        let (url, now) = (try CookieURL(url), Date.start + seconds)
        let cookie = try #require(rules.cookie(from: field, of: url, now: now), "\(field)")
        return jar.store(cookie, from: url, now: now)
    }

    private func sent(
        to url: String = "https://a.example.com/", at seconds: TimeInterval = 1, from jar: inout CookieJar
    ) throws -> String {
        jar.cookies(for: try CookieURL(url), now: .start + seconds).header
    }

    // MARK: Matching

    @Test func aHostOnlyCookieIsForItsHost() throws {
        var jar = CookieJar()
        try set("a=1", in: &jar)
        #expect(try sent(from: &jar) == "a=1")
        for host in ["b.a.example.com", "example.com", "b.example.com", "a.example.com."] {
            #expect(try sent(to: "https://\(host)/", from: &jar) == "")
        }
    }

    @Test func aDomainCookieIsForAllSubdomains() throws {
        var jar = CookieJar()
        try set("a=1; Domain=example.com", in: &jar)
        for host in ["example.com", "a.example.com", "x.y.example.com"] {
            #expect(try sent(to: "http://\(host):81/", from: &jar) == "a=1")
        }
        for host in ["badexample.com", "com", "example.org"] {
            #expect(try sent(to: "https://\(host)/", from: &jar) == "")
        }
    }

    @Test func aPathCookieIsForItsPath() throws {
        var jar = CookieJar()
        try set("a=1; Path=/x", in: &jar)
        #expect(try sent(to: "https://a.example.com/x/y", from: &jar) == "a=1")
        #expect(try sent(to: "https://a.example.com/xy", from: &jar) == "")
    }

    @Test func aSecureCookieIsForHTTPS() throws {
        var jar = CookieJar()
        try set("a=1; Secure; HttpOnly; SameSite=Strict", in: &jar)
        #expect(try sent(from: &jar) == "a=1")
        #expect(try sent(to: "http://a.example.com/", from: &jar) == "")
    }

    @Test func longerPathsAndEarlierCookiesComeFirst() throws {
        var jar = CookieJar()
        try set("c=3; Path=/", at: 2, in: &jar)
        try set("d=4; Path=/x/y", at: 3, in: &jar)
        try set("b=2; Path=/; Domain=example.com", at: 1, in: &jar)
        try set("a=1; Path=/x", at: 4, in: &jar)
        try set("=nameless; Path=/", at: 5, in: &jar)
        #expect(try sent(to: "https://a.example.com/x/y", at: 6, from: &jar) == "d=4; a=1; b=2; c=3; nameless")
    }

    // MARK: Replacing

    @Test func aReplacedCookieKeepsItsPosition() throws {
        var jar = CookieJar()
        try set("a=1", in: &jar)
        try set("b=1", at: 1, in: &jar)
        #expect(try set("a=2", at: 2, in: &jar))
        #expect(try sent(at: 3, from: &jar) == "a=2; b=1")
        #expect(jar.count == 2)
        #expect(try !set("a=2", at: 4, in: &jar))
    }

    @Test func otherDomainsAndPathsAreOtherCookies() throws {
        var jar = CookieJar()
        try set("a=1", in: &jar)
        try set("a=2; Domain=a.example.com", in: &jar)
        try set("a=3; Path=/x", in: &jar)
        #expect(jar.count == 3)
    }

    @Test func anExpiredCookieRemovesTheStoredOne() throws {
        var jar = CookieJar()
        try set("a=1", in: &jar)
        #expect(try set("a=; Max-Age=0", at: 1, in: &jar))
        #expect(jar.isEmpty)
        #expect(try !set("b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT", at: 1, in: &jar))
        #expect(jar.isEmpty)
    }

    @Test func aCookieExpiresAtItsTime() throws {
        var jar = CookieJar()
        try set("a=1; Max-Age=10", in: &jar)
        #expect(try sent(at: 9, from: &jar) == "a=1")
        #expect(try sent(at: 10, from: &jar) == "")
        #expect(jar.all(now: .start + 10).isEmpty)
    }

    // MARK: Protection of secure cookies

    @Test(arguments: [
        ("https://example.com/", "a=1; Secure; Domain=example.com", "http://a.example.com/", "a=2"),
        ("https://a.example.com/", "a=1; Secure", "http://example.com/", "a=2; Domain=example.com"),
        ("https://example.com/", "a=1; Secure; Path=/login", "http://example.com/", "a=2; Path=/login/x"),
        ("https://example.com/", "a=1; Secure", "http://example.com/", "a=; Max-Age=0"),
    ])
    func httpCannotOverlayASecureCookie(first: String, field: String, second: String, other: String) throws {
        var jar = CookieJar()
        try set(field, from: first, in: &jar)
        #expect(try !set(other, from: second, at: 1, in: &jar))
        #expect(jar.all(now: .start + 1).map(\.value) == ["1"])
        #expect(try set(other, from: second.replacing("http:", with: "https:"), at: 1, in: &jar))
    }

    @Test(arguments: [
        ("a=1; Secure", "b=2"), ("a=1; Secure; Path=/login", "a=2; Path=/log"), ("a=1", "a=2"),
    ])
    func httpCanSetNonOverlayingCookies(field: String, other: String) throws {
        var jar = CookieJar()
        try set(field, from: "https://example.com/", in: &jar)
        #expect(try set(other, from: "http://example.com/", at: 1, in: &jar))
    }

    @Test func anExpiredSecureCookieProtectsNothing() throws {
        var jar = CookieJar()
        try set("a=1; Secure; Max-Age=60", in: &jar)
        #expect(try set("a=2", from: "http://a.example.com/", at: 61, in: &jar))
    }

    @Test func programsCanSetAnyCookie() throws {
        var jar = CookieJar()
        try set("a=1; Secure", in: &jar)
        let own = try #require(Cookie(name: "a", value: "2", domain: "a.example.com"))
        jar.store(own, now: .start + 1)
        #expect(try sent(to: "http://a.example.com/", at: 2, from: &jar) == "a=2")
    }

    // MARK: Limits

    @Test func aDomainIsLimitedTo50CookiesAndTheOldestAreEvicted() throws {
        var jar = CookieJar()
        for number in 0..<60 { try set("c\(number)=x", at: TimeInterval(number), in: &jar) }
        #expect(jar.count == 50)
        #expect(Set(jar.all(now: .start + 60).map(\.name)) == Set((10..<60).map { "c\($0)" }))
        try set("a=1", from: "https://b.example.com/", at: 61, in: &jar)
        #expect(jar.count == 51)
    }

    @Test func unusedAndInsecureCookiesAreEvictedFirst() throws {
        var jar = CookieJar(limits: .init(perDomain: 3))
        try set("a=1; Path=/a", at: 0, in: &jar)
        try set("b=1; Path=/b", at: 1, in: &jar)
        try set("s=1; Secure; Path=/s", at: -10, in: &jar)
        _ = try sent(to: "https://a.example.com/a", at: 2, from: &jar)
        try set("c=1", at: 3, in: &jar)
        #expect(Set(jar.all(now: .start + 3).map(\.name)) == ["a", "c", "s"])
    }

    @Test func expiredCookiesAreEvictedFirst() throws {
        var jar = CookieJar(limits: .init(perDomain: 2))
        try set("a=1", at: 0, in: &jar)
        try set("b=1; Max-Age=5", at: 1, in: &jar)
        try set("c=1", at: 10, in: &jar)
        #expect(Set(jar.all(now: .start + 10).map(\.name)) == ["a", "c"])
    }

    @Test func aJarIsLimitedTo3000Cookies() throws {
        var jar = CookieJar()
        for number in 0..<3_100 {
            try set("a=1", from: "https://h\(number).test/", at: TimeInterval(number), in: &jar)
            #expect(jar.count <= 3_000)
        }
        #expect(jar.count > 2_800)
        #expect(try sent(to: "https://h3099.test/", at: 4_000, from: &jar) == "a=1")
        #expect(try sent(to: "https://h0.test/", at: 4_000, from: &jar) == "")
    }

    @Test func oneSiteCannotEvictOthers() throws {
        var jar = CookieJar()
        for number in 0..<1_000 { try set("a=1", from: "https://h\(number).test/", in: &jar) }
        for host in 0..<100 {
            for number in 0..<50 {
                try set("c\(number)=x", from: "https://x\(host).y.evil.test/", at: TimeInterval(host), in: &jar)
            }
        }
        for number in 0..<1_000 {
            #expect(try sent(to: "https://h\(number).test/", at: 100, from: &jar) == "a=1")
        }
        #expect(jar.count <= 3_000)
    }

    @Test func aSlightlyLaterExpiryIsNotAChange() throws {
        var jar = CookieJar()
        try set("a=1; Max-Age=1000", in: &jar)
        for seconds in 1...10 { #expect(try !set("a=1; Max-Age=1000", at: Double(seconds), in: &jar)) }
        #expect(try set("a=1; Max-Age=1000", at: 11, in: &jar))
        #expect(try set("a=1; Max-Age=500", at: 11, in: &jar) && set("a=2; Max-Age=500", at: 11, in: &jar))
        #expect(jar.all(now: .start + 12).first?.expires == .start + 511)
    }

    @Test func aLookupExaminesOnlyTheHostsDomains() throws {
        var jar = CookieJar(limits: .init(total: 20_000))
        for number in 0..<10_000 {
            let cookie = try #require(Cookie(name: "a", value: "\(number)", domain: "h\(number).test"))
            jar.store(cookie, now: .start)
        }
        #expect(jar.count == 10_000)
        let url = try CookieURL("https://h77.test/")
        let clock = ContinuousClock()
        let time = clock.measure {
            for _ in 0..<2_000 where jar.cookies(for: url, now: .start).first?.value != "77" { Issue.record("lost") }
        }
        // Scanning 10,000 cookies would take minutes in a debug build.
        #expect(time < .seconds(20))
    }

    // MARK: Removing

    @Test func cookiesAreRemoved() throws {
        var jar = CookieJar()
        for name in ["a", "b", "c"] { try set("\(name)=1", in: &jar) }
        jar.remove { $0.name == "b" }
        #expect(try sent(from: &jar) == "a=1; c=1")
        #expect(jar.count == 2)
        jar.removeAll()
        #expect(jar.isEmpty && jar.all(now: .start).isEmpty)
    }
}
