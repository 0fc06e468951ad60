/// Generates random documents and expressions that select nodes in them.
enum RandomXPath {
    static let namespaces = ["p": "urn:p", "q": "urn:q"]

    static func document(_ random: inout SplitMix) -> String {
        "<?first x?><r xmlns:p='urn:p' xml:lang='en'>\(content(4, &random))</r><!--last-->"
    }

    private static func content(_ depth: Int, _ random: inout SplitMix) -> String {
        guard depth > 0 else { return pick(["1", "2.5", "x", "", " "], &random) }
        return (0..<Int.random(in: 0...4, using: &random)).map { _ in
            switch Int.random(in: 0..<8, using: &random) {
            case 0: return "<!--c-->"
            case 1: return "<?t d?>"
            case 2: return pick(["1", "23", "x y", " ä€😀 ", "-0.5"], &random)
            case 3: return "<![CDATA[<z>]]>"
            default:
                let name = pick(["a", "b", "c", "p:a", "p:b"], &random)
                let attributes = [
                    "i='1'", "j='x'", "p:i='2'", "xml:lang='de-CH'", "xml:id='id\(random.next())'", "xmlns:q='urn:q'",
                ]
                .filter { _ in Int.random(in: 0..<4, using: &random) == 0 }.joined(separator: " ")
                return "<\(name) \(attributes)>\(content(depth - 1, &random))</\(name)>"
            }
        }.joined()
    }

    /// Returns an expression of any type.
    static func expression(_ depth: Int, _ random: inout SplitMix) -> String {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: nodes(depth, &random)
        case 1: number(depth, &random)
        case 2: text(depth, &random)
        default: boolean(depth, &random)
        }
    }

    private static func nodes(_ depth: Int, _ random: inout SplitMix) -> String {
        if depth > 0 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: return "\(nodes(depth - 1, &random)) | \(nodes(depth - 1, &random))"
            case 1: return "(\(nodes(depth - 1, &random)))\(predicate(depth, &random))"
            case 2: return "(\(nodes(depth - 1, &random)))/\(step(depth, &random))"
            default: break
            }
        }
        let start = pick(["/", "//", "", "/r/", ".//", "/*/*/"], &random)
        let separators = (0..<Int.random(in: 0...2, using: &random)).map { _ in pick(["/", "/", "//"], &random) }
        return start + step(depth, &random) + separators.map { $0 + step(depth, &random) }.joined()
    }

    private static func step(_ depth: Int, _ random: inout SplitMix) -> String {
        // libxml2 omits the content of an attribute's element from the attribute's `following` axis.
        if Int.random(in: 0..<12, using: &random) == 0 { return pick(["@i", "@*", "@p:*"], &random) }
        let axis = pick(
            [
                "", "", "", "", "child::", "descendant::", "descendant-or-self::", "parent::", "ancestor::",
                "ancestor-or-self::", "following-sibling::", "preceding-sibling::", "self::",
                "following::*/preceding::", "descendant::node()/following::", "descendant::*/preceding::",
            ], &random)
        let test = pick(
            ["*", "*", "a", "b", "c", "p:a", "p:*", "node()", "text()", "comment()", "processing-instruction('t')"],
            &random)
        return axis + test + (depth > 0 && Bool.random(using: &random) ? predicate(depth, &random) : "")
    }

    private static func predicate(_ depth: Int, _ random: inout SplitMix) -> String {
        let count = Int.random(in: 1...2, using: &random)
        return (0..<count).map { _ in
            switch Int.random(in: 0..<5, using: &random) {
            case 0: "[\(Int.random(in: 0...3, using: &random))]"
            case 1: "[last()]"
            case 2: "[position() \(comparison(&random)) \(number(0, &random))]"
            default: "[\(expression(depth - 1, &random))]"
            }
        }.joined()
    }

    private static func number(_ depth: Int, _ random: inout SplitMix) -> String {
        guard depth > 0 else {
            return pick(["0", "1", "2", "2.5", ".5", "-1", "1 div 0", "0 div 0", "1e2", "7."], &random)
        }
        return switch Int.random(in: 0..<9, using: &random) {
        case 0: "count(\(nodes(depth - 1, &random)))"
        case 1: "sum(\(nodes(depth - 1, &random)))"
        case 2: "string-length(\(expression(depth - 1, &random)))"
        case 3: "number(\(expression(depth - 1, &random)))"
        case 4: "\(pick(["floor", "ceiling", "round"], &random))(\(number(depth - 1, &random)))"
        case 5: "position()"
        case 6: "last()"
        case 7: "-(\(expression(depth - 1, &random)))"
        default:
            "(\(number(depth - 1, &random)) \(pick(["+", "-", "*", "div", "mod"], &random)) \(number(depth - 1, &random)))"
        }
    }

    private static func text(_ depth: Int, _ random: inout SplitMix) -> String {
        guard depth > 0 else { return pick(["''", "'x'", "\"ä€\"", "'1'", "' a  b '", "'i'"], &random) }
        let inner = expression(depth - 1, &random)
        let other = text(depth - 1, &random)
        return switch Int.random(in: 0..<9, using: &random) {
        case 0: "string(\(inner))"
        case 1: "concat(\(inner), \(other), 'z')"
        case 2: "substring-before(\(inner), \(other))"
        case 3: "substring-after(\(inner), \(other))"
        case 4: "substring(\(inner), \(number(depth - 1, &random)), \(number(depth - 1, &random)))"
        case 5: "substring(\(inner), \(number(depth - 1, &random)))"
        case 6: "normalize-space(\(inner))"
        case 7: "translate(\(inner), 'x€1i', 'yä')"
        default: "\(pick(["name", "local-name", "namespace-uri"], &random))(\(nodes(depth - 1, &random)))"
        }
    }

    private static func boolean(_ depth: Int, _ random: inout SplitMix) -> String {
        guard depth > 0 else { return pick(["true()", "false()", "lang('de')", "lang('EN')", "@i", "i"], &random) }
        let left = expression(depth - 1, &random)
        let right = expression(depth - 1, &random)
        return switch Int.random(in: 0..<7, using: &random) {
        case 0: "not(\(left))"
        case 1: "boolean(\(left))"
        case 2: "(\(left)) \(pick(["and", "or"], &random)) (\(right))"
        case 3: "contains(\(left), \(right))"
        case 4: "starts-with(\(left), \(right))"
        default: "(\(left)) \(comparison(&random)) (\(right))"
        }
    }

    private static func comparison(_ random: inout SplitMix) -> String {
        pick(["=", "!=", "<", "<=", ">", ">="], &random)
    }

    private static func pick(_ choices: [String], _ random: inout SplitMix) -> String {
        choices[Int.random(in: 0..<choices.count, using: &random)]
    }
}

/// A pseudorandom number generator with a fixed sequence (SplitMix64 by Steele, Lea and Flood).
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
