/// Where in a text something stands. Of a value that could not be decoded it is the `underlyingError` of the `DecodingError`.
public struct JSONLocation: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, counted from 1.
    public private(set) var line = 1
    /// The character in the line (a Unicode scalar), counted from 1.
    public private(set) var column = 1
    /// The byte in the text, which is UTF-8 without a byte-order mark; counted from 0.
    public private(set) var byteOffset = 0

    /// The location of a text's first byte.
    public init() {}

    /// The location of a byte.
    ///
    /// - Parameters:
    ///   - byteOffset: How many bytes of the text come before.
    ///   - text: The text in UTF-8.
    public init(of byteOffset: Int, in text: UnsafeRawBufferPointer) {
        self = JSONLocation().advanced(over: UnsafeRawBufferPointer(rebasing: text.prefix(max(0, byteOffset))))
    }

    /// The location behind bytes that begin here.
    public func advanced(over bytes: UnsafeRawBufferPointer) -> JSONLocation {
        var location = self
        location.byteOffset += bytes.count
        var characters = 0
        for byte in bytes {
            if byte == 0x0A {
                location.line += 1
                location.column = 1
                characters = 0
            } else if byte & 0xC0 != 0x80 {
                characters += 1
            }
        }
        location.column += characters
        return location
    }

    /// The line, the column and the byte.
    public var description: String { "line \(line), column \(column) (byte \(byteOffset))" }
}
