/// A number in digits, perhaps with a sign, a point and an exponent, and nothing else.
struct XMLNumber {
    private let text: UnsafeBufferPointer<UInt8>
    private let isNegative: Bool
    /// The digits as one number, while they fit.
    private var digits: UInt64 = 0
    private var digitCount = 0
    /// The power of ten that `digits` is multiplied with.
    private var exponent = 0

    /// Nil where the text is no such number.
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        self.text = text
        isNegative = text.first == UInt8(ascii: "-")
        var index = isNegative || text.first == UInt8(ascii: "+") ? 1 : 0
        let start = index
        var point: Int?
        while index < text.count {
            let value = text[index] &- UInt8(ascii: "0")
            if value < 10 {
                digits = digits &* 10 &+ UInt64(value)
                if digits > 0 { digitCount += 1 }
            } else if text[index] == UInt8(ascii: "."), point == nil {
                point = index
            } else {
                break
            }
            index += 1
        }
        guard index - start > (point == nil ? 0 : 1) else { return nil }
        if let point { exponent = point + 1 - index }
        guard index < text.count else { return }
        guard text[index] | 0x20 == UInt8(ascii: "e") else { return nil }
        guard let power = Int(xml: UnsafeBufferPointer(rebasing: text[(index + 1)...])) else { return nil }
        exponent = exponent.addingReportingOverflow(power).partialValue
    }

    /// The number, where it can be had exactly by one multiplication or division: its digits and the power of ten are
    /// both numbers that a `Double` holds.
    var double: Double? {
        guard digitCount <= 18, digits <= 1 << 53, exponent >= -22, exponent <= 22 else { return nil }
        let magnitude =
            exponent < 0 ? Double(digits) / Self.powersOfTen[-exponent] : Double(digits) * Self.powersOfTen[exponent]
        return isNegative ? -magnitude : magnitude
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
}

extension XMLNumber: CustomStringConvertible {
    /// The number as written.
    var description: String { String(decoding: text, as: UTF8.self) }
}
