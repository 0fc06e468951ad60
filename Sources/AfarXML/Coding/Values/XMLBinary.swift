import AfarCore
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

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46, 0x61...0x66: (byte | 0x20) - 0x57
        default: nil
        }
    }

    /// Two digits in upper case a byte, as XML Schema's canonical form is.
    static func hexadecimalText(_ data: Data) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        return String(decoding: data.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
