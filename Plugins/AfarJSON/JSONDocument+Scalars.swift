import CJSONDocument
import Foundation

extension JSONDocument {
    func bool(at value: JSONValue) throws -> Bool {
        switch first(value.node) {
        case UInt8(ascii: "t"): return true
        case UInt8(ascii: "f"): return false
        default: throw mismatch(Bool.self, at: value)
        }
    }

    func string(at value: JSONValue) throws -> String {
        guard first(value.node) == UInt8(ascii: "\"") else { throw mismatch(String.self, at: value) }
        let bytes = bytes(value.node)
        guard nodes[Int(value.node)].extent & afar_json_is_escaped != 0 else {
            return String(decoding: bytes, as: UTF8.self)
        }
        return String(unsafeUninitializedCapacity: bytes.count) { out in
            afar_json_unescape(
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count,
                UnsafeMutableRawPointer(out.baseAddress)?.assumingMemoryBound(to: CChar.self))
        }
    }

    // MARK: Numbers

    func isNumber(_ node: UInt32) -> Bool {
        let first = first(node)
        return first.isASCIIDigit || first == UInt8(ascii: "-")
    }

    /// An integer; one that is written with a fraction of zeros or with an exponent is one too.
    func integer<T: FixedWidthInteger>(_ type: T.Type, at value: JSONValue) throws -> T {
        let extent = nodes[Int(value.node)].extent
        let isShort = extent & afar_json_is_integer != 0 && extent & afar_json_length <= 18
        if isShort, isNumber(value.node) {
            var bytes = bytes(value.node)[...]
            let isNegative = bytes.first == UInt8(ascii: "-")
            if isNegative { bytes = bytes.dropFirst() }
            let magnitude = bytes.reduce(into: Int64(0)) { $0 = $0 &* 10 &+ Int64($1 & 0x0F) }
            if let integer = T(exactly: isNegative ? 0 &- magnitude : magnitude) { return integer }
            throw unrepresentable(T.self, at: value)
        }
        return try longInteger(type, at: value)
    }

    private func longInteger<T: FixedWidthInteger>(_ type: T.Type, at value: JSONValue) throws -> T {
        guard isNumber(value.node) else { throw mismatch(T.self, at: value) }
        guard let integer = DecimalText(bytes(value.node)).integer(T.self) else {
            throw unrepresentable(T.self, at: value)
        }
        return integer
    }

    func double(at value: JSONValue) throws -> Double {
        try floatingPoint(at: value) { afar_json_double($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count) }
    }

    func float(at value: JSONValue) throws -> Float {
        try floatingPoint(at: value) { afar_json_float($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count) }
    }

    @inline(__always)
    private func floatingPoint<T: BinaryFloatingPoint>(
        at value: JSONValue, _ read: (UnsafeRawBufferPointer) -> T
    ) throws -> T {
        guard isNumber(value.node) else { return try nonConforming(at: value) }
        let number = read(bytes(value.node))
        guard number.isFinite else { throw unrepresentable(T.self, at: value) }
        return number
    }

    private func nonConforming<T: BinaryFloatingPoint>(at value: JSONValue) throws -> T {
        if case .convertFromString(let positive, let negative, let nan) = options.nonConformingFloatDecodingStrategy,
            first(value.node) == UInt8(ascii: "\"")
        {
            switch try string(at: value) {
            case positive: return .infinity
            case negative: return -.infinity
            case nan: return .nan
            default: break
            }
        }
        throw mismatch(T.self, at: value)
    }

    func decimal(at value: JSONValue) throws -> Decimal {
        guard isNumber(value.node) else { throw mismatch(Decimal.self, at: value) }
        guard let decimal = DecimalText(bytes(value.node)).decimal else {
            throw unrepresentable(Decimal.self, at: value)
        }
        return decimal
    }
}

extension UInt8 {
    var isASCIIDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}
