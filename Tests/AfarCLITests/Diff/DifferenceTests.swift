import Testing

@testable import AfarCLI

struct DifferenceTests {
    typealias Line = ResponseDifference.Line

    // MARK: JSON

    private func differences(_ first: String, _ second: String) throws -> [JSONDifference] {
        JSONDifferences(try #require(JSONNode(first)), try #require(JSONNode(second))).first
    }

    @Test(arguments: [
        ("1", "1.0"), ("1", "10e-1"), ("0", "-0.0"), ("0e5", "0"), ("1200", "1.2E3"),
        ("123456789012345678901", "123456789012345678901.0"),
        (#""\u00e9\n""#, "\"é\\u000a\""), (#""\ud83d\ude00""#, #""😀""#), (#"{"a":1,"b":2}"#, #"{ "b":2, "a":1 }"#),
        ("[1, [ ], {}]", "[1,[],{}]"),
    ])
    func equalValues(first: String, second: String) throws { #expect(try differences(first, second) == []) }

    @Test(arguments: [
        ("1", "true"), ("1", "\"1\""), ("null", "false"), ("123456789012345678901", "123456789012345678902"),
        ("1e99999999999999999999", "1e99999999999999999998"), ("\"é\"", "\"e\u{301}\""), ("[1,2]", "[2,1]"),
        ("0.1", "1"),
        ("-1", "1"),
    ])
    func differentValues(first: String, second: String) throws { #expect(try differences(first, second) != []) }

    @Test func pathsNameTheValues() throws {
        let first = #"{"a":{"b c":[1,{"d":2},3]},"gone":[true]}"#
        let second = #"{"a":{"b c":[1,{"d":5},3]},"new":"x"}"#
        #expect(
            try differences(first, second) == [
                JSONDifference(path: #".a["b c"][1].d"#, first: "2", second: "5"),
                JSONDifference(path: ".gone", first: "[true]"), JSONDifference(path: ".new", second: #""x""#),
            ])
        #expect(try differences("1", "2") == [JSONDifference(path: ".", first: "1", second: "2")])
        #expect(try differences("[1,2,3]", "[1,3]") == [JSONDifference(path: "[1]", first: "2")])
        #expect(try differences("[1,3]", "[0,1,3]") == [JSONDifference(path: "[0]", second: "0")])
    }

    @Test func moreDifferencesAreOnlyCounted() throws {
        let limit = JSONDifferences.limit
        func array(_ count: Int, _ value: String) -> String {
            "[" + Array(repeating: value, count: count).joined(separator: ",") + "]"
        }
        let exact = try JSONDifferences(
            #require(JSONNode(array(limit, "1"))), #require(JSONNode(array(limit, "2"))))
        #expect(exact.count == limit && exact.first.count == limit && exact.lines.count == 2 * limit)
        let many = try JSONDifferences(
            #require(JSONNode("{\"a\":\(array(limit + 1, "1"))}")),
            #require(JSONNode("{\"a\":\(array(limit + 3, "2"))}")))
        #expect(many.count == limit + 3)
        #expect(many.first.count == limit && many.first.last?.path == ".a[\(limit - 1)]")
        #expect(many.lines.last == .note("3 more values differ."))
    }

    @Test func longNamesAndValuesAreShortened() throws {
        let (name, value) = (String(repeating: "n", count: 100_000), String(repeating: "e\u{301}", count: 50_000))
        let difference = try #require(
            differences("{\"\(name)\":{\"\(name)\":\"\(value)\"}}", "{\"\(name)\":{\"\(name)\":2}}").first)
        let step = "[\"\(String(repeating: "n", count: 200))… (100000 characters)\"]"
        #expect(difference.path == step + step)
        #expect(
            difference.first
                == "\"\(String(repeating: "e\u{301}", count: 499))e… (100002 characters)")
        #expect(difference.second == "2")
        let nested = String(repeating: "{\"\(name.prefix(300))\":", count: 100)
        let deep = try #require(
            differences(
                nested + "1" + String(repeating: "}", count: 100),
                nested + "2" + String(repeating: "}", count: 100)
            ).first)
        #expect(deep.path.count < 600)
    }

    @Test func repeatedNamesHaveTheLastValue() throws {
        #expect(try differences(#"{"a":1,"a":2}"#, #"{"\u0061":2}"#) == [])
        #expect(try differences(#"{"a":[{"b":[]}],"c":{}}"#, #"{"a":[{"b":[]}],"c":{}}"#) == [])
    }

    @Test func otherTextIsNoJSON() {
        for text in ["", "{", "[1,]", "hello", String(repeating: "[", count: 300)] { #expect(JSONNode(text) == nil) }
    }

    // MARK: Text

    /// Applies the groups of changed lines to a text.
    private func apply(_ lines: [Line], to text: String) throws -> String {
        let old = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        var result: [String] = []
        var position = 0
        for line in lines {
            switch line {
            case .title(let title):
                let match = try #require(title.wholeMatch(of: /body -(\d+),(\d+) \+(\d+),(\d+)/))
                let (start, count) = (try #require(Int(match.1)), try #require(Int(match.2)))
                let next = count == 0 ? start : start - 1
                result += old[position..<next]
                position = next
                #expect(result.count == (Int(match.4) == 0 ? Int(match.3) : Int(match.3).map { $0 - 1 }))
            case .first(let text):
                #expect(old[position] == text)
                position += 1
            case .second(let text): result.append(text)
            case .both(let text):
                #expect(old[position] == text)
                result.append(text)
                position += 1
            case .note: Issue.record("unexpected note")
            }
        }
        return (result + old[position...]).map { $0 + "\n" }.joined()
    }

    @Test func changesTurnTheFirstTextIntoTheSecond() throws {
        var random = SplitMix(state: 7)
        for _ in 0..<200 {
            let first = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                "\(Int.random(in: 0...9, using: &random))"
            }
            var second = first
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let index = Int.random(in: 0...second.count, using: &random)
                if Bool.random(using: &random) {
                    second.insert("new", at: index)
                } else if index < second.count {
                    second.remove(at: index)
                }
            }
            let texts = (first.map { $0 + "\n" }.joined(), second.map { $0 + "\n" }.joined())
            let lines = TextDifference.lines(texts.0, texts.1)
            #expect(try apply(lines, to: texts.0) == texts.1)
            #expect(lines.isEmpty == (texts.0 == texts.1))
        }
    }

    @Test func distantChangesAreInGroups() {
        let first = (1...30).map { "\($0)\n" }.joined()
        let second = first.replacing("\n3\n", with: "\nthree\n").replacing("\n25\n", with: "\n")
        #expect(
            TextDifference.lines(first, second) == [
                .title("body -1,6 +1,6"), .both("1"), .both("2"), .first("3"), .second("three"), .both("4"),
                .both("5"), .both("6"), .title("body -22,7 +22,6"), .both("22"), .both("23"), .both("24"),
                .first("25"), .both("26"), .both("27"), .both("28"),
            ])
    }

    @Test func lineBreaksAreCompared() {
        #expect(
            TextDifference.lines("a\n", "a") == [
                .title("body -1,1 +1,1"), .first("a"), .second("a"), .note("No newline at the end"),
            ])
        #expect(
            TextDifference.lines("a\r\nb\n", "a\nb\n") == [
                .title("body -1,2 +1,2"), .first("a\r"), .second("a"), .both("b"),
            ])
        #expect(TextDifference.lines("é\n", "e\u{301}\n").count == 3)
    }

    @Test func hugeDifferencesAreNotedInsteadOfCompared() {
        let first = (0...TextDifference.limit).map { "a\($0)\n" }.joined()
        let second = (0...TextDifference.limit).map { "b\($0)\n" }.joined()
        let lines = TextDifference.lines("same\n" + first, "same\n" + second)
        #expect(lines.count == 2)
        guard case .note(let text) = lines.last else {
            Issue.record("no note")
            return
        }
        #expect(text.contains("2002 and 2002 lines and differ from line 2 on"))
        let atLimit = TextDifference.lines(
            String(repeating: "a\n", count: TextDifference.limit), String(repeating: "b\n", count: TextDifference.limit)
        )
        #expect(atLimit.count == 1 + 2 * TextDifference.limit)
        let oneChange = TextDifference.lines(first + first, first + "x\n" + first)
        #expect(oneChange.contains(.second("x")))
    }
}

/// A random number generator with a fixed sequence.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
