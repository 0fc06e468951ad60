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

    /// Reads what is no number in digits.
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
