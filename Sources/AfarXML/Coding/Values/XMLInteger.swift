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
        // Up to 18 digits fit in 64 bits whatever they are.
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
                // The smallest number is no greatest number with a sign: the sum goes down from the start.
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
