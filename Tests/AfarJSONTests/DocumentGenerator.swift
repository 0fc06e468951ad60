import Foundation

/// Generates JSON of all kinds, with white space and escapes anywhere. The sequence is the same in every run.
struct DocumentGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// SplitMix64.
    private mutating func number(below bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((value ^ (value >> 31)) % UInt64(bound))
    }

    private mutating func pick(_ texts: [String]) -> String { texts[number(below: texts.count)] }

    private mutating func isOne(in count: Int) -> Bool { number(below: count) == 0 }

    mutating func document() -> String { space() + value(depth: 0) + space() }

    private mutating func value(depth: Int) -> String {
        switch number(below: depth > 5 ? 6 : 10) {
        case 0: "null"
        case 1: pick(["true", "false"])
        case 2, 3: numberText()
        case 4, 5: string()
        case 6, 7: "[" + list { $0.value(depth: depth + 1) } + "]"
        default: "{" + members(depth: depth) + "}"
        }
    }

    private mutating func list(_ element: (inout Self) -> String) -> String {
        (0..<number(below: 6)).map { _ in space() + element(&self) + space() }.joined(separator: ",")
    }

    private mutating func members(depth: Int) -> String {
        var names: Set<String> = []
        return list { generator in
            var name = generator.string()
            while !names.insert((try? JSONDecoder().decode(String.self, from: Data(name.utf8))) ?? name).inserted {
                name = generator.string()
            }
            return "\(name)\(generator.space()):\(generator.space())\(generator.value(depth: depth + 1))"
        }
    }

    private mutating func space() -> String { isOne(in: 4) ? pick([" ", "\n", "\t", "\r\n", "  \n\t "]) : "" }

    private mutating func string() -> String {
        let pieces = [
            "a", "Ada", " ", "é", "ß", "日本", "😀", "\\n", "\\\"", "\\\\", "\\/", "\\u0041", "\\u00e9", "\\ud83d\\ude00",
            "\\u0000",
            "\u{7F}", "longer text that needs memory of its own", "{[,:]}", "0", "\\b\\f\\r\\t", "key", "e\u{301}",
        ]
        return "\"" + (0..<number(below: 5)).map { _ in pick(pieces) }.joined() + "\""
    }

    private mutating func numberText() -> String {
        let sign = isOne(in: 3) ? "-" : ""
        func digits(_ count: Int, _ generator: inout Self) -> String {
            (0..<count).map { _ in "\(generator.number(below: 10))" }.joined()
        }
        let whole = isOne(in: 3) ? "0" : "\(number(below: 9) + 1)" + digits(number(below: 20), &self)
        let fraction = isOne(in: 2) ? "" : "." + digits(1 + number(below: 22), &self)
        // JSONDecoder rejects numbers such as 0e1.
        let exponent =
            whole != "0" && isOne(in: 3)
            ? pick(["e", "E"]) + pick(["", "+", "-"]) + digits(1 + number(below: 2), &self) : ""
        return sign + whole + fraction + exponent
    }

    /// Returns an object that resembles a record. Members can have a different type or be missing, and there can be
    /// additional ones.
    mutating func record() -> String {
        var members = [
            "integer": pick(["0", "7", "-7", "9223372036854775807", "1e3", "12.0"]),
            "small": pick(["127", "-128", "1", "0.0", "12e1"]),
            "unsigned": pick(["18446744073709551615", "0", "1"]),
            "double": numberText(), "float": pick(["1.5", "0.1", "16777217", "3.4e38", "-0"]),
            "flag": pick(["true", "false"]), pick(["firstName", "first_name"]): string(),
            "date": pick(["0", "-1.5", "771879600", "\"2026-11-24T10:00:00Z\"", "\"2026-11-24T10:00:00+02:00\""]),
            "data": pick(["\"QWRh\"", "\"\"", "\"QQ==\""]),
            "url": pick(["\"https://example.com/a?b=c#d\"", "\"a/b\"", "\"mailto:a@example.com\""]),
            "list": "[\(list { _ in "1" })]",
            "names": "{\"a_b\":1,\"c\":2.5}", pick(["byNumber", "by_number"]): "{\"1\":\"one\",\"-2\":\"two\"}",
            "nested": "[{\"id\":1},{\"text\":\(string()),\"id\":2,\"more\":[[],{}]}]",
            "choice": pick(["\"one\"", "\"two\""]), "pairs": "[[1,null],[],[2.5]]",
        ]
        for name in members.keys.sorted() {
            switch number(below: 40) {
            case 0: members[name] = nil
            case 1: members[name] = "null"
            case 2:
                members[name] = pick([
                    "1e400", "128", "-1", "1.5", "\"inf\"", "\"three\"", "[1,\"2\"]", "{}", "{\"1\":1}", "\"\\u0000\"",
                ])
            case 3: members[name] = value(depth: 3)
            default: break
            }
        }
        var names = members.keys.sorted()
        for index in names.indices { names.swapAt(index, number(below: names.count)) }
        return "{" + names.map { "\"\($0)\":\(members[$0] ?? "")" }.joined(separator: ",") + "}"
    }
}
