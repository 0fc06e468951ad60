import AfarCore
import CLibcurl
import HTTPTypes
import Testing

@testable import AfarCurl

extension StringList {
    /// The strings as libcurl reads them.
    var lines: [String] {
        var lines: [String] = []
        var next = first
        while let node = next {
            lines.append(String(cString: node.pointee.data))
            next = node.pointee.next
        }
        return lines
    }
}

struct StringListTests {
    private func fields(_ pairs: [(String, String)]) -> [HTTPField] {
        pairs.compactMap { pair in HTTPField.Name(pair.0).map { HTTPField(name: $0, value: pair.1) } }
    }

    @Test func linesKeepTheirOrderAndDuplicates() {
        let list = StringList(fields: fields([("B", "2"), ("A", "1"), ("B", "3")]))
        #expect(list.lines == ["B: 2", "A: 1", "B: 3"])
    }

    @Test func anEmptyValueEndsWithASemicolon() {
        #expect(StringList(fields: fields([("A", ""), ("B", "x")])).lines == ["A;", "B: x"])
    }

    @Test func anEmptyListIsNil() {
        #expect(StringList(fields: []).first == nil)
    }

    @Test func extraLinesFollow() {
        #expect(
            StringList(fields: fields([("A", "1")]), extra: ["Expect:", "B: c"]).lines == ["A: 1", "Expect:", "B: c"])
        #expect(StringList(fields: [], extra: ["Expect:"]).lines == ["Expect:"])
    }

    @Test func bytesAreUnchanged() {
        let long = String(repeating: "ü", count: 40_000)
        #expect(StringList(fields: fields([("A", long), ("B", "日本語")])).lines == ["A: " + long, "B: 日本語"])
    }
}
