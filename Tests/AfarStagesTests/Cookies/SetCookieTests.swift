import Foundation
import Testing

@testable import AfarStages

/// RFC 6265bis, sections 5.5 and 5.6.
struct SetCookieTests {
    private func parse(_ field: String) -> SetCookie? { SetCookie(field, now: .start) }

    @Test(arguments: [
        ("a=b", "a", "b"), (" a \t=\t b ", "a", "b"), ("a=b=c", "a", "b=c"), ("a=", "a", ""), ("=b", "", "b"),
        ("b", "", "b"),
        (#"a="b; c""#, "a", #""b"#), ("a=b;", "a", "b"), ("a=x\ty", "a", "x\ty"), ("a=ü", "a", "ü"),
        ("a b=c d", "a b", "c d"),
    ])
    func namesAndValues(field: String, name: String, value: String) {
        #expect(parse(field)?.name == name)
        #expect(parse(field)?.value == value)
    }

    @Test(arguments: [
        "", ";", "=", " = ", "; Path=/", "a=b\u{0}", "a=b\u{1F}c", "a=b; Path=/\u{7F}", "a\u{8}=b", "a=b\r",
    ])
    func invalidFieldsAreIgnored(field: String) { #expect(parse(field) == nil) }

    @Test func nameAndValueAreLimitedTo4096Bytes() {
        #expect(parse("a=" + String(repeating: "x", count: 4_095)) != nil)
        #expect(parse("a=" + String(repeating: "x", count: 4_096)) == nil)
        #expect(parse("a=" + String(repeating: "é", count: 2_048)) == nil)
    }

    @Test func anAttributeOfMoreThan1024BytesIsIgnored() {
        #expect(parse("a=b; Path=/" + String(repeating: "x", count: 1_023))?.path?.utf8.count == 1_024)
        let field = parse("a=b; Path=/p; Path=/" + String(repeating: "x", count: 1_024) + "; Secure")
        #expect(field?.path == "/p")
        #expect(field?.isSecure == true)
    }

    @Test func attributeNamesAreCaseInsensitive() {
        let field = parse("a=b; DOMAIN=.Example.COM; pAtH=/P; secure=no; HTTPONLY; sameSITE=lAx; Priority=High; ;x")
        #expect(field?.domain == "example.com")
        #expect(field?.path == "/P")
        #expect(field?.isSecure == true)
        #expect(field?.isHTTPOnly == true)
        #expect(field?.sameSite == .lax)
    }

    @Test func theLastOfSeveralAttributesIsUsed() {
        let field = parse(
            "a=b; Domain=one.example; Domain=two.example; Path=/1; Path=/2; SameSite=Lax; SameSite=Strict")
        #expect(field?.domain == "two.example")
        #expect(field?.path == "/2")
        #expect(field?.sameSite == .strict)
        #expect(parse("a=b; Domain=one.example; Domain=")?.domain == nil)
        #expect(parse("a=b; Path=/1; Path=x")?.path == nil)
        #expect(parse("a=b; SameSite=Lax; SameSite=other")?.sameSite == nil)
    }

    @Test(arguments: ["a=b; Path=", "a=b; Path", "a=b; Path=x/y"])
    func anInvalidPathIsReplacedByTheDefault(field: String) {
        #expect(parse(field) != nil && parse(field)?.path == nil)
    }

    @Test(arguments: [
        ("None", Cookie.SameSite.unrestricted), ("lax", .lax), ("STRICT", .strict), ("x", nil), ("", nil),
    ])
    func sameSite(value: String, expected: Cookie.SameSite?) {
        #expect(parse("a=b; SameSite=\(value)")?.sameSite == expected)
    }

    @Test func expiresIsADate() {
        #expect(parse("a=b; Expires=Wed, 15 Nov 2023 22:13:20 GMT")?.expires == .start + 86_400)
        #expect(parse("a=b; Expires=tomorrow")?.expires == nil)
        #expect(parse("a=b; Expires=Wed, 15 Nov 2023 22:13:20 GMT; Expires=later")?.expires == .start + 86_400)
        #expect(parse("a=b")?.expires == nil)
    }

    @Test(arguments: [("0", true), ("-1", true), ("-0", true), ("60", false)])
    func maximumAge(age: String, isOver: Bool) {
        let expires = parse("a=b; Max-Age=\(age)")?.expires
        #expect(expires == (isOver ? .distantPast : .start + 60))
    }

    @Test(arguments: ["", "x", "1x", "+1", "1.5", "--1", "-"])
    func anInvalidMaximumAgeIsIgnored(age: String) {
        #expect(parse("a=b; Max-Age=\(age)") != nil)
        #expect(parse("a=b; Max-Age=\(age)")?.expires == nil)
        #expect(parse("a=b; Max-Age=60; Max-Age=\(age)")?.expires == .start + 60)
    }

    @Test func maximumAgeOverridesExpires() {
        let date = "Expires=Wed, 15 Nov 2023 22:13:20 GMT"
        #expect(parse("a=b; Max-Age=60; \(date)")?.expires == .start + 60)
        #expect(parse("a=b; \(date); Max-Age=60")?.expires == .start + 60)
    }

    @Test func lifetimesAreLimitedTo400Days() {
        let latest = Date.start + 400 * 86_400
        #expect(parse("a=b; Max-Age=99999999999999999999999")?.expires == latest)
        #expect(parse("a=b; Expires=1 Jan 9999 00:00:00")?.expires == latest)
        #expect(parse("a=b; Max-Age=34560000")?.expires == latest)
        #expect(parse("a=b; Max-Age=34559999")?.expires == latest - 1)
    }
}
