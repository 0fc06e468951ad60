import Foundation

/// A JSON value that differs between two texts.
struct JSONDifference: Equatable {
    /// The path in the syntax of jq, such as ".users[3].name".
    var path: String
    /// The value in the first text, as JSON; nil if it's missing.
    var first: String?
    /// The value in the second text, as JSON; nil if it's missing.
    var second: String?

    var lines: [ResponseDifference.Line] {
        [first.map { .first("\(path): \($0)") }, second.map { .second("\(path): \($0)") }].compactMap(\.self)
    }

    /// Returns all differences between two values, in the order of the first value's members.
    ///
    /// Elements of arrays are compared by position, after the common elements at both ends. An inserted element is therefore one
    /// difference.
    static func all(_ first: JSONNode, _ second: JSONNode) -> [JSONDifference] {
        var differences: [JSONDifference] = []
        add(first, second, "", to: &differences)
        return differences
    }

    private static func add(
        _ first: JSONNode, _ second: JSONNode, _ path: String, to differences: inout [JSONDifference]
    ) {
        guard first != second else { return }
        switch (first, second) {
        case (.object(let firstMembers), .object(let secondMembers)):
            for name in firstMembers.names {
                guard let value = firstMembers.values[name] else { continue }
                let path = path + step(to: name)
                if let other = secondMembers.values[name] {
                    add(value, other, path, to: &differences)
                } else {
                    differences.append(JSONDifference(path: path, first: value.text))
                }
            }
            for name in secondMembers.names where firstMembers.values[name] == nil {
                let path = path + step(to: name)
                differences.append(JSONDifference(path: path, second: secondMembers.values[name]?.text))
            }
        case (.array(let firstElements), .array(let secondElements)):
            let (start, ends) = middle(firstElements, secondElements)
            let shorter = min(ends.0, ends.1)
            for index in start..<shorter {
                add(firstElements[index], secondElements[index], "\(path)[\(index)]", to: &differences)
            }
            for index in shorter..<ends.0 {
                differences.append(JSONDifference(path: "\(path)[\(index)]", first: firstElements[index].text))
            }
            for index in shorter..<ends.1 {
                differences.append(JSONDifference(path: "\(path)[\(index)]", second: secondElements[index].text))
            }
        default:
            differences.append(
                JSONDifference(path: path.isEmpty ? "." : path, first: first.text, second: second.text))
        }
    }

    /// Returns the part of two arrays without common elements at both ends: its beginning and its ends.
    private static func middle(_ first: [JSONNode], _ second: [JSONNode]) -> (start: Int, ends: (Int, Int)) {
        let start = zip(first, second).prefix { $0 == $1 }.count
        let common = zip(first[start...].reversed(), second[start...].reversed()).prefix { $0 == $1 }.count
        return (start, (first.count - common, second.count - common))
    }

    private static func step(to name: JSONString) -> String {
        let isIdentifier = name.text.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil
        return isIdentifier ? ".\(name.text)" : "[\(JSONText.string(name.text))]"
    }
}

/// A parsed JSON value (RFC 8259).
indirect enum JSONNode: Equatable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(JSONString)
    case array([JSONNode])
    case object(Members)

    /// The members of an object. If a name is repeated, the last value applies.
    struct Members: Equatable {
        /// The names in their order.
        var names: [JSONString] = []
        var values: [JSONString: JSONNode] = [:]

        static func == (first: Members, second: Members) -> Bool { first.values == second.values }

        mutating func add(_ name: JSONString, _ value: JSONNode) {
            if values.updateValue(value, forKey: name) == nil { names.append(name) }
        }
    }

    /// Parses a text, or returns nil if it isn't JSON.
    init?(_ text: String) {
        // The parser relies on the validity and on the limited depth of the text.
        guard JSONText.isValid(text) else { return nil }
        var parser = JSONNodeParser(bytes: Array(text.utf8)[...])
        self = parser.value()
    }

    /// The value on one line.
    var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let number): number.text
        case .string(let value): JSONText.string(value.text)
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.names.map { "\(JSONText.string($0.text)):\(members.values[$0]?.text ?? "null")" }
                .joined(separator: ",") + "}"
        }
    }
}

/// A JSON string that is compared by bytes, because equal strings can have different bytes.
struct JSONString: Hashable {
    private let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }

    var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// A JSON number of any size and precision. 1, 1.0 and 10e-1 are equal.
struct JSONNumber: Equatable {
    let text: String
    /// The digits without zeros at both ends, preceded by the sign.
    private let significand: String
    /// The power of ten of the last digit.
    private let exponent: Int?

    init(_ text: String) {
        self.text = text
        let parts = text.lowercased().split(separator: "e", maxSplits: 1)
        let number = parts.first ?? ""
        let fraction = number.split(separator: ".", maxSplits: 1).dropFirst().first ?? ""
        let isNegative = number.hasPrefix("-")
        let digits = number.filter(\.isNumber).drop { $0 == "0" }
        let zeros = digits.reversed().prefix { $0 == "0" }.count
        let written = parts.count > 1 ? Int(parts[1]) : 0
        let significant = digits.dropLast(zeros)
        significand = (isNegative && !significant.isEmpty ? "-" : "") + significant
        exponent = significant.isEmpty ? 0 : written.flatMap { Self.sum($0, zeros - fraction.count) }
    }

    static func == (first: Self, second: Self) -> Bool {
        // Only the texts of numbers with enormous exponents can be compared.
        guard let exponent = first.exponent, let other = second.exponent else { return first.text == second.text }
        return first.significand == second.significand && exponent == other
    }

    private static func sum(_ first: Int, _ second: Int) -> Int? {
        let (sum, overflows) = first.addingReportingOverflow(second)
        return overflows ? nil : sum
    }
}

/// Parses a text that is valid JSON.
private struct JSONNodeParser {
    var bytes: ArraySlice<UInt8>

    mutating func value() -> JSONNode {
        skipSpace()
        switch bytes.first {
        case UInt8(ascii: "{"):
            var members = JSONNode.Members()
            bytes.removeFirst()
            while !skip("}"), !bytes.isEmpty {
                skipSpace()
                let name = string()
                _ = skip(":")
                members.add(name, value())
                _ = skip(",")
            }
            return .object(members)
        case UInt8(ascii: "["):
            var elements: [JSONNode] = []
            bytes.removeFirst()
            while !skip("]"), !bytes.isEmpty {
                elements.append(value())
                _ = skip(",")
            }
            return .array(elements)
        case UInt8(ascii: "\""):
            return .string(string())
        default:
            let end = bytes.firstIndex { ",]} \t\n\r".utf8.contains($0) } ?? bytes.endIndex
            let word = String(decoding: bytes[..<end], as: UTF8.self)
            bytes = bytes[end...]
            return switch word {
            case "null": .null
            case "true": .bool(true)
            case "false": .bool(false)
            default: .number(JSONNumber(word))
            }
        }
    }

    private mutating func string() -> JSONString {
        bytes = bytes.dropFirst()
        var units: [UInt8] = []
        var text = ""
        while let byte = bytes.popFirst(), byte != UInt8(ascii: "\"") {
            guard byte == UInt8(ascii: "\\") else {
                units.append(byte)
                continue
            }
            text += String(decoding: units, as: UTF8.self)
            units = []
            text += escape()
        }
        return JSONString(text + String(decoding: units, as: UTF8.self))
    }

    private mutating func escape() -> String {
        switch bytes.popFirst() {
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            var units = [unit()]
            // A pair of surrogates.
            if UTF16.isLeadSurrogate(units[0]), bytes.starts(with: "\\u".utf8) {
                bytes = bytes.dropFirst(2)
                units.append(unit())
            }
            return String(decoding: units, as: UTF16.self)
        case let byte: return byte.map { String(UnicodeScalar($0)) } ?? ""
        }
    }

    private mutating func unit() -> UInt16 {
        let digits = bytes.prefix(4)
        bytes = bytes.dropFirst(4)
        return UInt16(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0xFFFD
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard bytes.first == UInt8(ascii: character) else { return false }
        bytes.removeFirst()
        return true
    }

    private mutating func skipSpace() { bytes = bytes.drop { " \t\n\r".utf8.contains($0) } }
}
