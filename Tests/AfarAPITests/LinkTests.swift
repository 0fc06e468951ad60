import AfarAPI
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The `Link` header field (RFC 8288, section 3).
@Suite struct LinkTests {
    private func targets(_ value: String) throws -> [String] { try Link.parse(value).map(\.target) }

    @Test(arguments: [
        ("", []), (" \t", []), (",, ,", []), ("<a>", ["a"]), ("<>", [""]), ("<a>,<b>", ["a", "b"]),
        (" <a> ; rel=x ,\t, <b>;;rel=\"y\" ", ["a", "b"]), ("<a,b;c>;rel=x", ["a,b;c"]),
        ("<a>;title=\"x, <b>; rel=\\\"next\\\"\";rel=last, <c>", ["a", "c"]), ("<a>; rel", ["a"]), ("<a>;", ["a"]),
        ("<?page=2&q=ä>", ["?page=2&q=ä"]), ("<a[b]|{c}>", ["a[b]|{c}"]),
    ])
    func valuesAreListsOfLinks(value: String, targets: [String]) throws {
        #expect(try self.targets(value) == targets)
    }

    @Test(arguments: [
        ("a", 0), ("rel=next", 0), ("<a", 2), ("<a b>", 2), ("<a\u{0}>", 2), ("<a\\b>", 2), ("<<a>>", 1),
        ("<a> b", 4), ("<a>, b", 5), ("<a>;=x", 4), ("<a>;rel=", 8), ("<a>;rel=;", 8), ("<a>;rel=\"x", 10),
        ("<a>;rel=\"x\\", 11), ("<a>;rel=\"x\\\u{7}\"", 11), ("<a>;rel=\"\u{1}\"", 9), ("<a>;rel=\"x\"y", 11),
        ("<a>;rel=x\"y\"", 9), ("<a>;rel=x <b>", 10), ("<a>;\"rel\"=x", 4), ("<ä>;=", 5),
    ])
    func malformedValuesAreErrors(value: String, position: Int) {
        #expect { try Link.parse(value) } throws: { error in
            (error as? Link.SyntaxError)?.position == position && error.localizedDescription.contains("\(position)")
        }
    }

    @Test func parametersKeepTheirValues() throws {
        let link = try #require(
            Link.parse(
                "<a> ; REL = next ;title=\"a \\\"b\\\" \\\\\"; title=second; type=text/html;x; title*=UTF-8''%E2"
            ).first)
        #expect(link["rel"] == "next")
        #expect(link["Title"] == #"a "b" \"#)
        #expect(link["type"] == "text/html")
        #expect(link["x"] == "")
        #expect(link["title*"] == "UTF-8''%E2")
        #expect(link["y"] == nil)
    }

    /// Sections 2.1 and 3.3.
    @Test(arguments: [
        ("<a>; rel=\"next last\"", ["next", "last"]), ("<a>; rel=NEXT", ["next"]),
        ("<a>; rel=\" a\t b \"", ["a", "b"]),
        ("<a>; rel=prev; rel=next", ["prev"]), ("<a>", []), ("<a>; rel=\"\"", []),
        ("<a>; rel=\"http://example.com/Rel next\"", ["http://example.com/rel", "next"]),
    ])
    func relationTypesAreInTheFirstParameter(value: String, types: [String]) throws {
        #expect(try Link.parse(value).first?.relationTypes == types)
    }

    @Test(arguments: [
        ("?page=2", "http://h/a/b?page=2"), ("c", "http://h/a/c"), ("/d?x=%2F", "http://h/d?x=%2F"),
        ("//i/e", "http://i/e"), ("https://j/", "https://j/"), ("", "http://h/a/b?q"),
        ("/[x]?y=%41", "http://h/%5Bx%5D?y=%41"),
    ])
    func targetsAreResolved(target: String, url: String) throws {
        let base = try #require(URL(string: "http://h/a/b?q#f"))
        #expect(try Link.parse("<\(target)>").first?.url(relativeTo: base)?.absoluteString == url)
    }

    @Test func responsesHaveLinks() throws {
        let url = try #require(URL(string: "http://h/"))
        let fields = ["link": "<a>; rel=next, <b>; rel=last"]
        let response = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields))
        #expect(try response.links.map(\.target) == ["a", "b"])
        let other = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: [:]))
        #expect(try other.links.isEmpty)
    }
}
