import Foundation

/// Bytes as XML Schema writes them (XML Schema Part 2, sections 3.2.15 and 3.2.16).
enum XMLBinary {
    /// Reads base64, with white space anywhere.
    static func base64(_ text: UnsafeBufferPointer<UInt8>) -> Data? {
        Data(base64Encoded: Data(text.filter { !$0.isXMLSpace }))
    }

    /// Reads two hexadecimal digits a byte.
    static func hexadecimal(_ text: UnsafeBufferPointer<UInt8>) -> Data? {
        guard text.count % 2 == 0 else { return nil }
        var data = Data(capacity: text.count / 2)
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let high = digit(text[index]), let low = digit(text[index + 1]) else { return nil }
            data.append(high << 4 | low)
        }
        return data
    }

    /// Two digits in upper case a byte, as XML Schema's canonical form is.
    static func hexadecimalText(_ data: Data) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        return String(decoding: data.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func digit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
