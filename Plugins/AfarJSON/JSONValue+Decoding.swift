import CJSONDocument
import Foundation

/// A type that is decoded without its `init(from:)`, either because Foundation's decoder does the same or for speed.
protocol DirectlyDecodable {
    static func decode(_ value: JSONValue) throws -> Self
}

extension JSONValue {
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard let direct = document.direct(type) else { return try type.init(from: ValueDecoder(self)) }
        return try decode(direct, as: type)
    }

    func decode<Direct: DirectlyDecodable, T>(_ direct: Direct.Type, as type: T.Type) throws -> T {
        // Direct and T are the same type.
        unsafeBitCast(try direct.decode(self), to: type)
    }
}

extension String: DirectlyDecodable {
    static func decode(_ value: JSONValue) throws -> String { try value.string() }
}

extension Bool: DirectlyDecodable {
    static func decode(_ value: JSONValue) throws -> Bool { try value.bool() }
}

extension Int: DirectlyDecodable {
    static func decode(_ value: JSONValue) throws -> Int { try value.integer(Int.self) }
}

extension Double: DirectlyDecodable {
    static func decode(_ value: JSONValue) throws -> Double { try value.double() }
}

extension Decimal: DirectlyDecodable {
    static func decode(_ value: JSONValue) throws -> Decimal { try value.decimal() }
}

extension URL: DirectlyDecodable {
    static func decode(_ value: JSONValue) throws -> URL {
        guard let url = URL(string: try value.string()) else { throw value.corrupted("Invalid URL") }
        return url
    }
}

extension Data: DirectlyDecodable {
    static func decode(_ value: JSONValue) throws -> Data {
        switch value.document.options.dataDecodingStrategy {
        case .deferredToData: return try Data(from: ValueDecoder(value))
        case .base64:
            guard let data = Data(base64Encoded: try value.string()) else { throw value.corrupted("Invalid Base64") }
            return data
        case .custom(let decode): return try decode(ValueDecoder(value))
        @unknown default: return try Data(from: ValueDecoder(value))
        }
    }
}

extension Date: DirectlyDecodable {
    static func decode(_ value: JSONValue) throws -> Date {
        switch value.document.options.dateDecodingStrategy {
        case .deferredToDate: return try Date(from: ValueDecoder(value))
        case .secondsSince1970: return Date(timeIntervalSince1970: try value.double())
        case .millisecondsSince1970: return Date(timeIntervalSince1970: try value.double() / 1_000)
        case .iso8601:
            guard let date = try? Date.ISO8601FormatStyle().parse(try value.string()) else {
                throw value.isString ? value.corrupted("Invalid ISO 8601 date") : value.mismatch(String.self)
            }
            return date
        #if canImport(Darwin)
            // On other platforms, this is a custom strategy.
            case .formatted(let formatter):
                guard let date = formatter.date(from: try value.string()) else {
                    throw value.corrupted("Invalid date for the formatter")
                }
                return date
        #endif
        case .custom(let decode): return try decode(ValueDecoder(value))
        @unknown default: return try Date(from: ValueDecoder(value))
        }
    }
}

// MARK: - Arrays and dictionaries

extension Array: DirectlyDecodable where Element: Decodable {
    static func decode(_ value: JSONValue) throws -> [Element] {
        // Selects the decoding once for all elements.
        if Element.self == String.self { return unsafeBitCast(try value.elements { try $0.string() }, to: Self.self) }
        if Element.self == Int.self {
            return unsafeBitCast(try value.elements { try $0.integer(Int.self) }, to: Self.self)
        }
        if Element.self == Double.self { return unsafeBitCast(try value.elements { try $0.double() }, to: Self.self) }
        guard let direct = value.document.direct(Element.self) else {
            return try value.elements { try Element(from: ValueDecoder($0)) }
        }
        return try value.elements { try $0.decode(direct, as: Element.self) }
    }
}

/// The keys of a dictionary with `String` keys are data instead of member names, so no strategy converts them.
extension Dictionary: DirectlyDecodable where Key == String, Value: Decodable {
    static func decode(_ value: JSONValue) throws -> [String: Value] {
        try value.require(value.isObject, Self.self)
        let (document, names) = (value.document, value.document.details.names)
        document.setDictionary(value.node)
        guard !document.namesAreEqualByBytes || document.hasDuplicates(value.node) else {
            var dictionary: [String: Value] = [:]
            dictionary.reserveCapacity(value.capacity(for: (String, Value).self))
            for key in value.keys {
                dictionary[names.written(document.keyNumber(key))] = try value.member(key).decode(Value.self)
            }
            return dictionary
        }
        try value.checkNames { names.written(document.keyNumber($0)) }
        return try value.writtenIndex.mapValues { try value.member($0).decode(Value.self) }
    }
}

extension JSONValue {
    /// Returns the elements of an array, converted by a closure.
    @inline(__always)
    fileprivate func elements<Element>(_ read: (JSONValue) throws -> Element) throws -> [Element] {
        try require(isArray, [Element].self)
        var elements: [Element] = []
        elements.reserveCapacity(capacity(for: Element.self))
        var element = node + 3
        for index in 0..<UInt32(count) {
            elements.append(try read(JSONValue(document: document, node: element, parent: node, place: index)))
            element = document.end(of: element)
        }
        return elements
    }

    /// The number of elements to reserve capacity for. The number is limited, because a document with a few bytes for each element
    /// could otherwise reserve much more memory than it needs.
    fileprivate func capacity<Element>(for type: Element.Type) -> Int {
        min(count, (64 << 10) / max(1, MemoryLayout<Element>.stride))
    }
}

// MARK: - Scalars

extension JSONValue {
    func bool() throws -> Bool {
        switch first {
        case UInt8(ascii: "t"): return true
        case UInt8(ascii: "f"): return false
        default: throw mismatch(Bool.self)
        }
    }

    func string() throws -> String {
        guard isString else { throw mismatch(String.self) }
        let bytes = document.bytes(node)
        guard document.nodes[Int(node)].extent & afar_json_is_escaped != 0 else {
            return String(decoding: bytes, as: UTF8.self)
        }
        return String(unsafeUninitializedCapacity: bytes.count) { out in
            afar_json_unescape(
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count,
                UnsafeMutableRawPointer(out.baseAddress)?.assumingMemoryBound(to: CChar.self))
        }
    }

    // MARK: Numbers

    /// Returns an integer. Its text can contain an exponent, or a fraction that consists only of zeros, such as `1.00`.
    func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        let extent = document.nodes[Int(node)].extent
        let isShort = extent & afar_json_is_integer != 0 && extent & afar_json_length <= 18
        guard isShort, isNumber else { return try longInteger(type) }
        var bytes = document.bytes(node)[...]
        let isNegative = bytes.first == UInt8(ascii: "-")
        if isNegative { bytes = bytes.dropFirst() }
        let magnitude = bytes.reduce(into: Int64(0)) { $0 = $0 &* 10 &+ Int64($1 & 0x0F) }
        guard let integer = T(exactly: isNegative ? 0 &- magnitude : magnitude) else {
            throw unrepresentable(type)
        }
        return integer
    }

    private func longInteger<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        guard isNumber else { throw mismatch(type) }
        guard let integer = DecimalText(document.bytes(node)).integer(type) else { throw unrepresentable(type) }
        return integer
    }

    func double() throws -> Double {
        try floatingPoint { afar_json_double($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count) }
    }

    func float() throws -> Float {
        try floatingPoint { afar_json_float($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count) }
    }

    @inline(__always)
    private func floatingPoint<T: BinaryFloatingPoint>(_ read: (UnsafeRawBufferPointer) -> T) throws -> T {
        guard isNumber else { return try nonConforming() }
        let number = read(document.bytes(node))
        guard number.isFinite else { throw unrepresentable(T.self) }
        return number
    }

    private func nonConforming<T: BinaryFloatingPoint>() throws -> T {
        if case .convertFromString(let positive, let negative, let nan) =
            document.options.nonConformingFloatDecodingStrategy, isString
        {
            switch try string() {
            case positive: return .infinity
            case negative: return -.infinity
            case nan: return .nan
            default: break
            }
        }
        throw mismatch(T.self)
    }

    func decimal() throws -> Decimal {
        guard isNumber else { throw mismatch(Decimal.self) }
        guard let decimal = DecimalText(document.bytes(node)).decimal else { throw unrepresentable(Decimal.self) }
        return decimal
    }
}

// MARK: - Exact numbers

/// A number in its written form, for types whose values would be rounded by a conversion to `Double`.
struct DecimalText {
    private let isNegative: Bool
    /// The digits without leading and trailing zeros; empty for zero.
    private let digits: [UInt8]
    /// The power of ten by which the digits are multiplied.
    private let exponent: Int

    /// - Parameter number: A number in the format of RFC 8259, section 6.
    init(_ number: UnsafeRawBufferPointer) {
        let mantissa = number.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        let written = String(decoding: number[mantissa.endIndex...].dropFirst(), as: UTF8.self)
        // An exponent outside the range of Int is out of range for all types, whatever the digits.
        let limit = 1 << 40
        var exponent = written.isEmpty ? 0 : Int(written) ?? (written.hasPrefix("-") ? -limit : limit)
        exponent = min(max(exponent, -limit), limit)
        isNegative = number.first == UInt8(ascii: "-")
        if let point = mantissa.firstIndex(of: UInt8(ascii: ".")) { exponent -= mantissa.endIndex - point - 1 }
        var digits = Array(mantissa.lazy.filter(\.isASCIIDigit).drop { $0 == UInt8(ascii: "0") })
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        self.digits = digits
        self.exponent = exponent
    }

    /// The number as an integer; nil if it has a fraction or is too large.
    func integer<T: FixedWidthInteger>(_ type: T.Type) -> T? {
        if digits.isEmpty { return 0 }
        // No 128-bit integer has more than 40 digits.
        guard (0...40).contains(exponent), digits.count <= 40 else { return nil }
        let text = digits + Array(repeating: UInt8(ascii: "0"), count: exponent)
        return T((isNegative ? "-" : "") + String(decoding: text, as: UTF8.self))
    }

    /// The number as a decimal; nil if it has too many digits, or is too large or too small.
    var decimal: Decimal? {
        if digits.isEmpty { return 0 }
        // A decimal has a 128-bit mantissa, enough for 38 digits, and an exponent from -128 to 127.
        let power = min(exponent, 127)
        guard digits.count <= 38, power >= -128, exponent - power <= 38 - digits.count else { return nil }
        let zeros = String(repeating: "0", count: exponent - power)
        let text = (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self) + zeros + "e\(power)"
        guard let decimal = Decimal(string: text), decimal.isFinite else { return nil }
        return decimal
    }
}
