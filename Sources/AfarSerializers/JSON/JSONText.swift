import Foundation

/// JSON's own rules of text: it is UTF-8 (RFC 8259, section 8.1), and older texts show that they are UTF-16 or UTF-32 by
/// where their first bytes are NUL (RFC 4627, section 3).
enum JSONText {
    /// The encoding of a text without a byte-order mark.
    static func encoding(of bytes: Data) -> TextEncoding {
        let start = bytes.prefix(4).map { $0 == 0 }
        switch (start.count, start) {
        case (4, [true, true, true, false]): return .utf32BigEndian
        case (4, [false, true, true, true]): return .utf32LittleEndian
        case (2..., _) where start[0] && !start[1]: return .utf16BigEndian
        case (2..., _) where !start[0] && start[1]: return .utf16LittleEndian
        default: return .utf8
        }
    }
}
