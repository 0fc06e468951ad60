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
        var reader = JSONReader(text, handler: JSONNodeBuilder())
        guard reader.read(), let root = reader.handler.root else { return nil }
        self = root
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

/// A JSON string that is compared by bytes, because equal Swift strings can have different bytes.
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
        // Numbers with enormous exponents can only be compared as text.
        guard let exponent = first.exponent, let other = second.exponent else { return first.text == second.text }
        return first.significand == second.significand && exponent == other
    }

    private static func sum(_ first: Int, _ second: Int) -> Int? {
        let (sum, overflows) = first.addingReportingOverflow(second)
        return overflows ? nil : sum
    }
}

/// Creates values from the parts of a JSON text.
private struct JSONNodeBuilder: JSONHandler {
    /// An object or array whose end hasn't been read.
    private struct Open {
        var elements: [JSONNode] = []
        var members = JSONNode.Members()
        var name: JSONString?
    }

    private(set) var root: JSONNode?
    private var open: [Open] = []

    init() {}

    mutating func begin(_ container: JSONContainer) { open.append(Open()) }

    mutating func beginElement(isFirst: Bool, depth: Int) {}

    mutating func name(_ literal: ArraySlice<UInt8>) { open[open.count - 1].name = JSONString(literal: literal) }

    mutating func scalar(_ literal: ArraySlice<UInt8>) {
        switch literal.first {
        case UInt8(ascii: "\""): add(.string(JSONString(literal: literal)))
        case UInt8(ascii: "n"): add(.null)
        case UInt8(ascii: "t"): add(.bool(true))
        case UInt8(ascii: "f"): add(.bool(false))
        default: add(.number(JSONNumber(String(decoding: literal, as: UTF8.self))))
        }
    }

    mutating func end(_ container: JSONContainer, isEmpty: Bool, depth: Int) {
        guard let last = open.popLast() else { return }
        add(container == .object ? .object(last.members) : .array(last.elements))
    }

    private mutating func add(_ node: JSONNode) {
        guard let last = open.indices.last else { return root = node }
        if let name = open[last].name {
            open[last].members.add(name, node)
        } else {
            open[last].elements.append(node)
        }
    }
}

extension JSONString {
    /// Creates a string from a valid JSON string, with its quotes.
    fileprivate init(literal: ArraySlice<UInt8>) {
        var decoder = JSONStringDecoder(bytes: literal.dropFirst().dropLast())
        self.init(decoder.text())
    }
}

/// Replaces the escapes in a valid JSON string by their characters (RFC 8259, section 7).
private struct JSONStringDecoder {
    var bytes: ArraySlice<UInt8>

    mutating func text() -> String {
        var text = ""
        while !bytes.isEmpty {
            let plain = bytes.prefix { $0 != UInt8(ascii: "\\") }
            text += String(decoding: plain, as: UTF8.self)
            bytes = bytes[plain.endIndex...]
            if bytes.popFirst() != nil { text += escape() }
        }
        return text
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
}
