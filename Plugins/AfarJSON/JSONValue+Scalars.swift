import CJSONDocument
import Foundation

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

    /// An integer; one that is written with a fraction of zeros or with an exponent is one too.
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
