import Foundation

/// The bytes of one value in a JSON text sequence, while they come. It knows whether they can be all, not whether they are
/// valid.
struct JSONRecord: Sendable {
    /// RS, which begins a record (RFC 7464, section 2.2).
    static let separator: UInt8 = 0x1E

    private(set) var bytes = Data()
    private var first: UInt8?
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    /// Whether there is nothing but white space.
    var isBlank: Bool { first == nil }

    /// Whether all brackets and quotation marks are closed.
    var isComplete: Bool { !isBlank && depth <= 0 && !isInString }

    /// Whether this is a number or a literal that ends without white space, so that its end may be missing.
    var mayBeTruncated: Bool {
        guard let first, let last = bytes.last, !last.isJSONWhiteSpace else { return false }
        return first != UInt8(ascii: "{") && first != UInt8(ascii: "[") && first != UInt8(ascii: "\"")
    }

    mutating func append(_ byte: UInt8) {
        bytes.append(byte)
        if first == nil, !byte.isJSONWhiteSpace { first = byte }
        if isEscaped {
            isEscaped = false
        } else if isInString {
            isEscaped = byte == UInt8(ascii: "\\")
            isInString = byte != UInt8(ascii: "\"")
        } else {
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            default: break
            }
        }
    }
}
