import AfarCore
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("HTTPHeaders")
struct HTTPHeadersTests {
    @Test("names are case-insensitive, and the first position is kept")
    func caseInsensitive() {
        var headers: HTTPHeaders = ["Accept": "a", "X-One": "1"]
        headers.update(name: "ACCEPT", value: "b")
        #expect(headers.map(\.name) == ["ACCEPT", "X-One"])
        #expect(headers["accept"] == "b")
        #expect(headers.value(for: "x-oNE") == "1")
        headers.add(.accept("c"))
        #expect(headers.count == 2)
        headers.remove(name: "x-one")
        #expect(headers.dictionary == ["Accept": "c"])
    }

    @Test("only ASCII letters are case-insensitive")
    func foldsASCIIOnly() {
        let headers: HTTPHeaders = ["[a": "1", "{a": "2", "é": "3", "É": "4"]
        #expect(headers.count == 4)
    }

    @Test(
        "the last of several equal names is used",
        arguments: [
            HTTPHeaders([HTTPHeader(name: "A", value: "1"), HTTPHeader(name: "a", value: "2")]),
            ["A": "1", "a": "2"],
            HTTPHeaders(["A": "1", "a": "2"]),
            [HTTPHeader(name: "A", value: "1"), HTTPHeader(name: "a", value: "2")],
        ])
    func duplicates(headers: HTTPHeaders) {
        #expect(headers.count == 1)
        #expect(headers["A"] == "2")
    }

    @Test("a literal keeps its order, and sorting is by name")
    func order() {
        var headers: HTTPHeaders = ["b": "1", "C": "2", "A": "3"]
        #expect(headers.map(\.name) == ["b", "C", "A"])
        #expect(headers.sorted().map(\.name) == ["A", "b", "C"])
        headers.sort()
        #expect(headers[0].name == "A")
        #expect(headers.description == "A: 3\nb: 1\nC: 2")
    }

    @Test("a dictionary always results in the same order")
    func dictionaryOrder() {
        let names = (0..<50).map { "X-\($0)" }
        let headers = HTTPHeaders(Dictionary(uniqueKeysWithValues: names.map { ($0, "v") }))
        #expect(headers.map(\.name) == names.sorted())
    }

    @Test("the subscript sets and removes headers")
    func subscripts() {
        var headers = HTTPHeaders()
        headers["A"] = "1"
        headers["a"] = "2"
        #expect(headers["A"] == "2")
        headers["A"] = nil
        #expect(headers.isEmpty)
        headers["A"] = nil
        headers.remove(name: "B")
        #expect(headers == HTTPHeaders())
    }

    @Test("the default headers are valid and contain the library's name")
    func defaults() throws {
        try HTTPHeaders.default.validate()
        let names = HTTPHeaders.default.map(\.name)
        #expect(names.filter { $0 != "Accept-Language" } == ["Accept-Encoding", "User-Agent"])
        #expect(HTTPHeaders.default["Accept-Encoding"] == "gzip;q=1.0, deflate;q=0.9")
        #expect(HTTPHeaders.default["User-Agent"]?.hasSuffix(" Afar/\(AFInfo.version)") == true)
    }

    @Test(
        "invalid headers are rejected",
        arguments: [
            "a\r\nb", "a\nb", "a\rb", "a\0b", "a\u{1}", "a\u{7F}",
        ])
    func rejectsValues(value: String) {
        let headers: HTTPHeaders = ["X-Fine": "1", "X-Bad": value]
        #expect {
            try headers.validate()
        } throws: { error in
            guard case .invalidHeaderValue("X-Bad")? = (error as? AFError)?.invalidRequest else {
                return false
            }
            return true
        }
    }

    @Test("names are tokens", arguments: ["", "a b", "a:", "a\r\n", "é", "(a)", "a\0"])
    func rejectsNames(name: String) {
        #expect {
            try HTTPHeader(name: name, value: "v").validate()
        } throws: { error in
            guard case .invalidHeaderName(name)? = (error as? AFError)?.invalidRequest else { return false }
            return true
        }
    }

    @Test("values can contain non-ASCII text and tabs")
    func acceptsValues() throws {
        try HTTPHeader(name: "X-a_1!", value: "caf\u{e9}\t😀 ~").validate()
    }
}
