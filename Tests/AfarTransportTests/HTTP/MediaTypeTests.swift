import HTTPTypes
import Testing

@testable import AfarTransport

struct MediaTypeTests {
    @Test(
        arguments: [
            ("text/html", "text/html", nil), (" Text/HTML ;charset=UTF-8", "text/html", "UTF-8"),
            (#"a/b;x="y;charset=no";charset="lat\in1";charset=late"#, "a/b", "latin1"),
            ("a/b;charset='latin1'", "a/b", "latin1"), ("a/b;charset='", "a/b", "'"), ("a/b;charset=''", "a/b", nil),
            (#"a/b;charset="";charset=latin1"#, "a/b", "latin1"), ("a/b, c/d;charset=latin1", "a/b", nil),
            (#"a/b;x="y, c/d";charset=latin1"#, "a/b", "latin1"), ("", "", nil), (nil, "", nil),
            (";charset=latin1", "", "latin1"), ("charset=latin1", "charset=latin1", nil),
            // As Characters, these are different letters.
            ("a/b;\u{301}charset=latin1", "a/b", nil), ("a/b;charset=latin1;\u{301}x=y", "a/b", "latin1"),
            ("a/\u{212A}", "a/\u{212A}", nil),
        ] as [(String?, String, String?)])
    func typeAndCharsetAreRead(value: String?, essence: String, charset: String?) {
        let type = MediaType(value)
        #expect(type.essence == essence)
        #expect(type.charset == charset)
    }

    @Test(arguments: [
        ("text/*", "TEXT/plain", true), ("*/*", "a/b", true), ("*/json", "a/json", true),
        ("a/b;q=0.5", "a/b;x=y", true),
        ("a/b", "a/c", false), ("a", "a/b", false), ("*", "a/b", false), ("a/b/c", "a/b", false), ("a/", "a/", false),
        ("text/*", "text", false), ("", "", false),
    ])
    func rangesIncludeTypes(range: String, type: String, isIncluded: Bool) {
        #expect(MediaType(range).includes(MediaType(type)) == isIncluded)
    }

    @Test(arguments: [
        ("application/json", "json"), ("text/json", "json"), ("application/problem+json; x=y", "json"),
        ("text/html", "html"), ("text/xml", "xml"), ("application/xml", "xml"), ("image/svg+xml", "xml"),
        ("application/xhtml+xml", "xml"), ("application/jsonx", ""), ("json", ""),
    ])
    func kindsAreRecognized(value: String, kind: String) {
        let type = MediaType(value)
        let kinds = [(type.isJSON, "json"), (type.isHTML, "html"), (type.isXML, "xml")].filter(\.0).map(\.1)
        #expect(kinds == [kind].filter { !$0.isEmpty })
    }

    @Test(arguments: ["a/b", "application/vnd.x+y", "text/X-G"])
    func twoTokensAreWellFormed(text: String) { #expect(MediaType.isWellFormed(text)) }

    @Test(arguments: ["", "a", "/", "a/", "/b", "a/b/c", "a /b", "a/b;c=d", "a/b ", "a/é"])
    func otherValuesAreNotWellFormed(text: String) { #expect(!MediaType.isWellFormed(text)) }

    @Test func theLastOfSeveralFieldsIsUsed() {
        var fields = HTTPFields()
        fields.append(HTTPField(name: .contentType, value: "text/html"))
        fields.append(HTTPField(name: .contentType, value: "text/plain"))
        #expect(ResponseHead(status: 200, fields: fields, url: "http://h/").mediaType.essence == "text/plain")
        #expect(ResponseHead(status: 200, url: "http://h/").mediaType.essence == "")
    }
}
