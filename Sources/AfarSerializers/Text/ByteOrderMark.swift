public import Foundation

/// The bytes of U+FEFF at the beginning of a text, which tell its encoding.
struct ByteOrderMark {
    let encoding: TextEncoding
    let bytes: [UInt8]

    /// What the first bytes of a text tell.
    enum Finding {
        case found(ByteOrderMark)
        case none
        /// More bytes are needed.
        case undecided
    }

    /// The longer before the shorter. What UTF-32's mark begins with could be UTF-16's and a NUL, but no text begins so.
    private static let all = [
        ByteOrderMark(encoding: .utf32LittleEndian, bytes: [0xFF, 0xFE, 0x00, 0x00]),
        ByteOrderMark(encoding: .utf32BigEndian, bytes: [0x00, 0x00, 0xFE, 0xFF]),
        ByteOrderMark(encoding: .utf8, bytes: [0xEF, 0xBB, 0xBF]),
        ByteOrderMark(encoding: .utf16BigEndian, bytes: [0xFE, 0xFF]),
        ByteOrderMark(encoding: .utf16LittleEndian, bytes: [0xFF, 0xFE]),
    ]

    /// Looks for a mark.
    ///
    /// - Parameters:
    ///   - encoding: The only encoding whose mark counts; nil for all.
    ///   - isWhole: Whether no bytes follow.
    static func find(
        in bytes: UnsafeBufferPointer<UInt8>, of encoding: TextEncoding?, isWhole: Bool
    ) -> Finding {
        if let first = bytes.first, ![0xFF, 0x00, 0xEF, 0xFE].contains(first) { return .none }
        for mark in all where encoding == nil || mark.encoding == encoding {
            if bytes.starts(with: mark.bytes) { return .found(mark) }
            if !isWhole, mark.bytes.starts(with: bytes) { return .undecided }
        }
        return .none
    }
}

extension TextEncoding {
    /// Returns the encoding of the byte-order mark at the beginning of a text, or nil if the text has no mark.
    ///
    /// - Parameter bytes: The text, or at least its first four bytes.
    public static func ofByteOrderMark(in bytes: Data) -> TextEncoding? {
        let finding = bytes.prefix(4).withUnsafeBytes { start in
            ByteOrderMark.find(in: start.bindMemory(to: UInt8.self), of: nil, isWhole: true)
        }
        if case .found(let mark) = finding { return mark.encoding }
        return nil
    }
}
