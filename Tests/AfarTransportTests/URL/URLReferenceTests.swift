import Foundation
import Testing

@testable import AfarTransport

/// Resolution of URL references (RFC 3986, section 5).
struct URLReferenceTests {
    private func resolve(_ reference: String, at base: String = "http://a/b/c/d;p?q") -> String {
        URLReference(reference).resolved(against: URLReference(base)).text
    }

    @Test(arguments: [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"),
        ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"),
        ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
    ])
    func theNormalExamplesOfTheStandard(reference: String, url: String) {
        #expect(resolve(reference) == url)
    }

    @Test(arguments: [
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
    ])
    func theAbnormalExamplesOfTheStandard(reference: String, url: String) {
        #expect(resolve(reference) == url)
    }

    @Test(arguments: [
        ("/a b", "http://a/a%20b"), ("/ü?ö#ä", "http://a/%C3%BC?%C3%B6#%C3%A4"), ("/100%", "http://a/100%25"),
        ("/%e4%2", "http://a/%e4%252"), ("/a\tb", "http://a/a%09b"), ("x:y", "x:y"), ("./x:y", "http://a/b/c/x:y"),
        ("1x:y", "http://a/b/c/1x:y"), ("//h?q", "http://h?q"), ("HTTPS://H/../x", "HTTPS://H/x"),
        ("a//../b", "http://a/b/c/a/b"), ("/[]|?[]|\"<>^`{}%5B", "http://a/[]|?[]|\"<>^`{}%5B"),
        ("/a\\b", "http://a/a%5Cb"),
        ("/a?\u{301}b#\u{301}c", "http://a/a?%CC%81b#%CC%81c"),
    ])
    func invalidCharactersAreEncoded(reference: String, url: String) {
        #expect(resolve(reference) == url)
    }

    @Test(arguments: [
        ("?a[]=%2F|", "http://a/b/c/d;p?a%5B%5D=%2F%7C"), ("/%41/ä b", "http://a/%41/%C3%A4%20b"),
        ("", "http://a/b/c/d;p?q"),
        ("//u:%20@h/x#f", "http://u:%20@h/x#f"), ("x:y", "x:y"), ("http://[", nil), ("//a:b", nil),
    ])
    func aReferenceBecomesAURL(reference: String, url: String?) throws {
        let base = try #require(URL(string: "http://a/b/c/d;p?q#f"))
        let resolved = URL(keepingEscapesOf: reference, relativeTo: base)
        #expect(resolved?.absoluteString == url)
        #expect(resolved?.baseURL == nil)
    }

    @Test func aBaseWithoutAPathAcceptsARelativeOne() {
        #expect(resolve("g", at: "http://a") == "http://a/g")
    }

    @Test func manySegmentsAreResolvedQuickly() {
        let many = String(repeating: "a/../", count: 50_000)
        #expect(resolve("/" + many) == "http://a/")
    }
}
