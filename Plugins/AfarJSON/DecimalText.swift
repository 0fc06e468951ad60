import Foundation

/// A number as it is written, for what must not be rounded on the way through a `Double`.
struct DecimalText {
    private let isNegative: Bool
    /// Without zeros at either end; nothing for zero.
    private let digits: [UInt8]
    /// The number is the digits, times ten to the power of this.
    private let exponent: Int

    /// - Parameter number: A number by RFC 8259, section 6.
    init(_ number: UnsafeRawBufferPointer) {
        let mantissa = number.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        let written = String(decoding: number[mantissa.endIndex...].dropFirst(), as: UTF8.self)
        // An exponent that is no Int is beyond that of any number here, whatever its digits.
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
        // No integer of 128 bits has as many digits.
        guard (0...40).contains(exponent), digits.count <= 40 else { return nil }
        let text = digits + Array(repeating: UInt8(ascii: "0"), count: exponent)
        return T((isNegative ? "-" : "") + String(decoding: text, as: UTF8.self))
    }

    /// The number as a decimal; nil if it has more digits than that, or is too large or too small.
    var decimal: Decimal? {
        if digits.isEmpty { return 0 }
        // A decimal is a number of 128 bits, which all numbers of 38 digits fit in, times ten to the power of -128 to 127.
        let power = min(exponent, 127)
        guard digits.count <= 38, power >= -128, exponent - power <= 38 - digits.count else { return nil }
        let zeros = String(repeating: "0", count: exponent - power)
        let text = (isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self) + zeros + "e\(power)"
        guard let decimal = Decimal(string: text), decimal.isFinite else { return nil }
        return decimal
    }
}
