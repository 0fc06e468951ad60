import AfarCore
import Foundation

/// A value that consists of a single piece of text in XML. Surrounding white space is ignored.
///
/// The formats are those of the XML Schema data types (XML Schema Part 2, section 3).
protocol XMLScalar: Codable, Sendable {
    /// A description of the expected text, which error messages include.
    static var expectation: String { get }

    /// Parses text without surrounding white space.
    init?(xml text: UnsafeBufferPointer<UInt8>)

    var xmlText: String { get }
}

extension Bool: XMLScalar {
    static var expectation: String { "true, false, 1 or 0" }

    init?(xml text: UnsafeBufferPointer<UInt8>) {
        switch text.count {
        case 1 where text[0] == UInt8(ascii: "1"): self = true
        case 1 where text[0] == UInt8(ascii: "0"): self = false
        case 4 where text.elementsEqual("true".utf8): self = true
        case 5 where text.elementsEqual("false".utf8): self = false
        default: return nil
        }
    }

    var xmlText: String { self ? "true" : "false" }
}

extension Decimal: XMLScalar {
    static var expectation: String { "a decimal number" }

    init?(xml text: UnsafeBufferPointer<UInt8>) {
        // Check the whole text first, because Foundation ignores trailing text that it can't parse.
        guard let digits = XMLNumber(text), let value = Decimal(string: digits.description), value.isFinite else {
            return nil
        }
        self = value
    }

    var xmlText: String { description }
}

extension UUID: XMLScalar {
    static var expectation: String { "a UUID" }

    init?(xml text: UnsafeBufferPointer<UInt8>) {
        self.init(uuidString: String(decoding: text, as: UTF8.self))
    }

    var xmlText: String { uuidString }
}

extension URL: XMLScalar {
    static var expectation: String { "a URL" }

    init?(xml text: UnsafeBufferPointer<UInt8>) {
        self.init(string: String(decoding: text, as: UTF8.self))
    }

    var xmlText: String { absoluteString }
}

// MARK: - Integers

extension Int: XMLScalar {}
extension Int8: XMLScalar {}
extension Int16: XMLScalar {}
extension Int32: XMLScalar {}
extension Int64: XMLScalar {}
extension Int128: XMLScalar {}
extension UInt: XMLScalar {}
extension UInt8: XMLScalar {}
extension UInt16: XMLScalar {}
extension UInt32: XMLScalar {}
extension UInt64: XMLScalar {}
extension UInt128: XMLScalar {}

extension XMLScalar where Self: FixedWidthInteger {
    static var expectation: String { "an integer from \(Self.min) to \(Self.max)" }

    init?(xml text: UnsafeBufferPointer<UInt8>) {
        guard let first = text.first else { return nil }
        let isNegative = first == UInt8(ascii: "-")
        let digits = UnsafeBufferPointer(rebasing: text[(isNegative || first == UInt8(ascii: "+") ? 1 : 0)...])
        guard !digits.isEmpty else { return nil }
        // Up to 18 digits always fit in 64 bits.
        if digits.count <= 18 {
            var sum: Int64 = 0
            for digit in digits {
                let value = digit &- UInt8(ascii: "0")
                guard value < 10 else { return nil }
                sum = sum &* 10 &+ Int64(value)
            }
            self.init(exactly: isNegative ? -sum : sum)
        } else {
            var sum: Self = 0
            for digit in digits {
                let value = digit &- UInt8(ascii: "0")
                guard value < 10 else { return nil }
                let product = sum.multipliedReportingOverflow(by: 10)
                // The absolute value of the minimum doesn't fit, so subtract.
                let next =
                    isNegative
                    ? product.partialValue.subtractingReportingOverflow(Self(value))
                    : product.partialValue.addingReportingOverflow(Self(value))
                guard !product.overflow, !next.overflow else { return nil }
                sum = next.partialValue
            }
            self = sum
        }
    }

    var xmlText: String { description }
}

// MARK: - Real numbers

extension Double: XMLScalar {
    init?(xml text: UnsafeBufferPointer<UInt8>) {
        if let number = XMLNumber(text) {
            guard let value = number.double ?? Double(number.description) else { return nil }
            self = value
        } else {
            self.init(xmlName: text)
        }
    }
}

extension Float: XMLScalar {
    init?(xml text: UnsafeBufferPointer<UInt8>) {
        if let number = XMLNumber(text) {
            self.init(number.description)
        } else {
            self.init(xmlName: text)
        }
    }
}

extension XMLScalar where Self: BinaryFloatingPoint & LosslessStringConvertible {
    static var expectation: String { "a number, INF, -INF or NaN" }

    /// Creates one of the special values, which have no digits.
    fileprivate init?(xmlName text: UnsafeBufferPointer<UInt8>) {
        switch String(decoding: text, as: UTF8.self) {
        case "INF", "+INF": self = .infinity
        case "-INF": self = -.infinity
        case "NaN": self = .nan
        default: return nil
        }
    }

    var xmlText: String {
        if isNaN { return "NaN" }
        if isInfinite { return self < 0 ? "-INF" : "INF" }
        return "\(self)"
    }
}

/// A number in decimal digits, optionally with a sign, a point and an exponent.
struct XMLNumber {
    private let text: UnsafeBufferPointer<UInt8>
    private let isNegative: Bool
    /// The digits as an integer. If there are too many digits, the value is wrong and isn't used.
    private var digits: UInt64 = 0
    private var digitCount = 0
    /// The power of ten by which to multiply `digits`.
    private var exponent = 0

    /// Returns `nil` if the text isn't a number in this format.
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

    /// The number, if a single multiplication or division yields it exactly. This requires that a `Double` can
    /// represent both the digits and the power of ten.
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
    /// The number as it was written.
    var description: String { String(decoding: text, as: UTF8.self) }
}

// MARK: - Bytes

/// Bytes in XML Schema format (XML Schema Part 2, sections 3.2.15 and 3.2.16).
enum XMLBinary {
    /// Parses Base64 with white space anywhere.
    static func base64(_ text: UnsafeBufferPointer<UInt8>) -> Data? {
        Data(base64Encoded: Data(text.filter { !$0.isXMLSpace }))
    }

    /// Parses two hexadecimal digits per byte.
    static func hexadecimal(_ text: UnsafeBufferPointer<UInt8>) -> Data? {
        guard text.count % 2 == 0 else { return nil }
        var data = Data(capacity: text.count / 2)
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let high = digit(text[index]), let low = digit(text[index + 1]) else { return nil }
            data.append(high << 4 | low)
        }
        return data
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46, 0x61...0x66: (byte | 0x20) - 0x57
        default: nil
        }
    }

    /// Returns two uppercase digits per byte, the canonical form in XML Schema.
    static func hexadecimalText(_ data: Data) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        return String(decoding: data.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
